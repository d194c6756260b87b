"""Rates of counters, from one reading to the next."""


class CounterRates:
    """Remembers counters by name. A counter that was reset has no rate until the next reading."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, float]] = {}

    def rate(self, name: str, at_seconds: float, count: float) -> float | None:
        """The increase per second since this counter's last value."""
        last = self._last.get(name)
        self._last[name] = (at_seconds, count)
        if last is None or at_seconds <= last[0] or count < last[1]:
            return None
        return (count - last[1]) / (at_seconds - last[0])
