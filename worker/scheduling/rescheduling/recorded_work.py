"""How long each piece of a run's work took, in the terms that another schedule of the same run has: what was generated,
scored or trained, never which call it was part of.

    action asked at, answered at ──► WorkRecorder ──► Piece's units: members, micro-batches, optimizer steps ──► seconds

The seconds count from the events that led to an action, so the driver's own time between the two is a part of them.
Invariant: a call's seconds are shared out over its units, and the shares add up to the call.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import (
    Accumulate,
    Commit,
    Fragment,
    FragmentKey,
    Generate,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    Switch,
)
from worker.scheduling.simulator.durations import Piece

Unit = Hashable
"""A unit of work under any schedule: one trajectory, one micro-batch of an epoch, one optimizer step, one version."""


@dataclass(frozen=True, slots=True)
class TimedPiece:
    """One piece of work with the seconds that it took."""

    lane: str
    """The lane's id, or `GANG`."""
    kind: CostKind
    piece: Piece
    num_units: int
    seconds: float

    @property
    def is_typical(self) -> bool:
        """Whether it says what such work costs: an evaluation takes another number of denoising steps."""
        return not isinstance(self.piece, Fragment) or self.piece.key.purpose is Purpose.TRAIN


def units_of(lane: str, kind: CostKind, piece: Piece) -> tuple[Unit, ...]:
    """The units that a piece consists of; none for padding, and for switches, of which no two schedules have the
    same."""
    match piece:
        case Fragment(key, members, _, draw):
            return tuple((key.purpose, key.batch, key.group, draw, member) for member in members)
        case Accumulate(batch=batch, epoch=epoch, micro_batches=micro_batches):
            return tuple((batch, epoch, micro_batch) for micro_batch in micro_batches)
        case Commit(batch, minibatch, epoch):
            return ((batch, minibatch, epoch),)
        case Snapshot(batch) | Publish(batch):
            return (batch,)
        case Pull(_, version):
            return ((lane, version),)
        case _:
            return ()


def timed_pieces(lane: str, action: Piece, seconds: float, *, equal_counts: bool) -> Iterator[TimedPiece]:
    """What one answered action measured; of a call of several fragments, each by its share of the members.

    Ranks that must take equally many micro-batches are slowed by each other, so theirs are the gang's.
    """
    match action:
        case Generate(fragments=fragments):
            total = sum(len(fragment.members) for fragment in fragments)
            for fragment in fragments:
                number = len(fragment.members)
                yield TimedPiece(lane, CostKind.GENERATE, fragment, number, seconds * number / total)
        case Score(fragment=fragment):
            yield TimedPiece(lane, CostKind.SCORE, fragment, len(fragment.members), seconds)
        case Accumulate(micro_batches=micro_batches, num_padding=num_padding):
            by = GANG if equal_counts else lane
            yield TimedPiece(by, CostKind.ACCUMULATE, action, len(micro_batches) + num_padding, seconds)
        case Pull():
            yield TimedPiece(lane, CostKind.PULL, action, 1, seconds)
        case Switch(to=to):
            kind = CostKind.LEND if to is LaneRole.ROLLOUT else CostKind.RECLAIM
            yield TimedPiece(lane, kind, action, 1, seconds)
        case Commit():
            yield TimedPiece(GANG, CostKind.COMMIT, action, 1, seconds)
        case Snapshot():
            yield TimedPiece(GANG, CostKind.SNAPSHOT, action, 1, seconds)
        case Publish():
            yield TimedPiece(GANG, CostKind.PUBLISH, action, 1, seconds)


def batch_of(piece: Piece) -> int | None:
    """The batch that a piece is trained work of; `None` for pulls, switches and evaluations."""
    match piece:
        case Fragment(FragmentKey(Purpose.TRAIN, batch)):
            return batch
        case Accumulate(batch=batch) | Commit(batch=batch) | Snapshot(batch=batch) | Publish(batch=batch):
            return batch
        case _:
            return None
