"""One malformed request, and those that come before it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """One request, as a test client makes it."""

    number: str
    method: str
    address: str
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    before: tuple["Malformed", ...] = ()
    """Requests that are sent first."""

    def __str__(self) -> str:
        shown = {name: text[:80] for name, text in self.headers.items() if name not in ("Authorization", "Cookie")}
        first = "".join(f"after {one}\n  " for one in self.before)
        return first + (
            f"request {self.number}: {self.method[:20]} {self.address[:300]} {shown or ''} "
            f"{self.content_type[:60]} {self.body[:600]!r}{'…' if len(self.body) > 600 else ''}"
        )
