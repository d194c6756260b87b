"""How much of a simulated run's work falls into a stretch of its time.

    Simulator ── each piece of work: kind, units, from, until ──► WorkPieces ──► trajectories generated, batches trained

Invariant: a piece that begins before the stretch, or ends after it, counts in proportion.
"""

from collections import Counter

from worker.contracts.spans import SpanKind
from worker.scheduling.timeline.span_recorder import Work

_Piece = tuple[Work, float, float]
"""The work, and the virtual times of its beginning and of its end."""


class WorkPieces:
    """The generation and training of one simulated run."""

    def __init__(self) -> None:
        self._generated: list[_Piece] = []
        self._trained: list[_Piece] = []

    def add(self, kind: SpanKind, work: Work, start: float, end: float) -> None:
        """Take in a piece of work; only generation and training count."""
        if kind is SpanKind.GENERATE or kind is SpanKind.LENT_GENERATE:
            self._generated.append((work, start, end))
        elif kind is SpanKind.TRAIN and work.num_units:
            self._trained.append((work, start, end))

    def num_generated(self, start: float, end: float) -> float:
        """The number of trajectories generated between `start` and `end`."""
        return sum(_units_inside(piece, start, end) for piece in self._generated)

    def batches_trained(self, start: float, end: float, num_complete: int) -> float:
        """The number of batches trained between `start` and `end`, by micro-batches, padding included.

        `num_complete`: batches that are trained as a whole; of later ones not all pieces are known, and they are taken
        to hold as many micro-batches as the largest of these, or as are known if these trained on no group.
        """
        num_units = Counter[int]()
        for work, _, _ in self._trained:
            assert work.batch is not None
            num_units[work.batch] += work.num_units
        most = max(num_units[batch] for batch in range(num_complete)) or max(num_units.values(), default=0)
        trained = 0.0
        for piece in self._trained:
            batch = piece[0].batch
            assert batch is not None
            trained += _units_inside(piece, start, end) / (num_units[batch] if batch < num_complete else most)
        return trained

    def mean_staleness(self, batches: range) -> float:
        """Batches by which a trained sample is behind, on average. Batch b is trained on version b, so a sample of
        version v is b − v behind."""
        behind = [
            (work.batch - work.policy_version, work.num_samples)
            for work, _, _ in self._generated
            if work.batch is not None and work.policy_version is not None and work.batch in batches
        ]
        return sum(versions * number for versions, number in behind) / sum(number for _, number in behind)


def _units_inside(piece: _Piece, start: float, end: float) -> float:
    """The units of a piece that fall between `start` and `end`, if they are evenly spread over it."""
    work, begins, ends = piece
    inside = min(ends, end) - max(begins, start)
    return work.num_units * inside / (ends - begins) if inside > 0 else 0.0
