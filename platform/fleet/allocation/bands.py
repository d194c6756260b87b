"""A forecast time as a band: the earliest, the likely and the latest. Pure.

Invariant: a band is known whole. What is unknown has none (`None`); nothing stands in for it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from statistics import median


class Outlook(StrEnum):
    """Which of its times a forecast is read at; what is simulated, is simulated once for each."""

    EARLIEST = "earliest"
    LIKELY = "likely"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Band:
    """Seconds, from now or of a duration."""

    earliest: float
    likely: float
    latest: float

    def __post_init__(self) -> None:
        if not 0 <= self.earliest <= self.likely <= self.latest < float("inf"):
            raise ValueError(
                f"a band must rise from `earliest` ≥ 0 over `likely` to a finite `latest`, got {self.earliest}, "
                f"{self.likely} and {self.latest}"
            )

    def at(self, outlook: Outlook) -> float:
        return {
            Outlook.EARLIEST: self.earliest,
            Outlook.LIKELY: self.likely,
            Outlook.LATEST: self.latest,
        }[outlook]

    def __add__(self, other: "Band") -> "Band":
        return Band(self.earliest + other.earliest, self.likely + other.likely, self.latest + other.latest)


def spanning(bands: Iterable[Band]) -> Band | None:
    """From the earliest to the latest of several forecasts, likely at their median; `None` for none."""
    known = list(bands)
    if not known:
        return None
    return Band(
        min(band.earliest for band in known),
        median(band.likely for band in known),
        max(band.latest for band in known),
    )
