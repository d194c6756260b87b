"""When a run asks how it should go on: after its first batch, ever more rarely, and whenever it is not as predicted.

Invariant: each change of the trainer gang doubles the distance to the next question, so a run of n batches changes it
at most about log2 n times.
"""

from collections.abc import Mapping

LATE = 1.1
"""Measured ÷ predicted seconds of a batch from which on a run asks anew. Promises hold within 3 %, and single batches
vary by several per cent."""
_NUM_LATE = 2
"""Batches whose mean is compared: one alone may have waited for an evaluation or a checkpoint."""


class Cadence:
    """The batches after which to ask, counted from those that are complete."""

    def __init__(self) -> None:
        self._next = 1
        self.num_moves = 0
        """Changes of the trainer gang so far."""
        self._not_before = 0
        self._promised: float | None = None
        self._ends: list[tuple[int, float]] = []
        """(Batches complete, seconds of the executor's clock) of the batches since the last change, the newest
        last."""
        self._roles: Mapping[str, object] = {}

    def restart(self, batch: int) -> None:
        """The run begins, or begins again, after `batch` complete batches."""
        self._next = batch + 1
        self._ends.clear()

    def completed(self, batch: int, at: float) -> None:
        """`batch` batches are complete since `at`."""
        self._ends = [*self._ends[-_NUM_LATE:], (batch, at)]

    def is_due(self, roles: Mapping[str, object]) -> bool:
        """Whether to ask now. `roles`: the role of each lane; other lanes than those last asked about are a reason."""
        if not self._ends or self._ends[-1][0] < self._not_before:
            return False
        return self._ends[-1][0] >= self._next or self._is_late() or (bool(self._roles) and self._roles != roles)

    def _is_late(self) -> bool:
        if self._promised is None or len(self._ends) <= _NUM_LATE:
            return False
        (first, since), (last, until) = self._ends[0], self._ends[-1]
        return (until - since) / (last - first) > LATE * self._promised

    def asked(self, roles: Mapping[str, object]) -> None:
        """The run asks now."""
        batch = self._ends[-1][0]
        self._roles = dict(roles)
        self._next = batch + max(1, batch)

    def changed(self, batch: int, promised_seconds: float, *, moves_trainers: bool) -> None:
        """The run works by another plan, which promises so many seconds a batch, after `batch` complete batches."""
        self._promised = promised_seconds
        self._ends.clear()
        if moves_trainers:
            self.num_moves += 1
            self._not_before = batch + 2**self.num_moves
            self._next = max(self._next, self._not_before)
        self._roles = {}
