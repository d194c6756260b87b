"""Reads a run's schedule log into what another schedule of the same work needs.

    lines ──► stretches: the same lanes and switches throughout ──► the one with the most batches ──► Recording

A stretch ends where lanes come, leave or are lost, where the switches change, and where the run pauses: what happened
there is no part of the schedule. Invariant: every batch of a recording was begun and published within its stretch.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from worker.contracts.names import LaneRole
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Action,
    AdmissionClosed,
    Commit,
    Committed,
    EvaluationRequested,
    Event,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    LeaveRequested,
    Publish,
    Published,
    Pull,
    Pulled,
    Purpose,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switch,
    Switched,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.replay.schedule_log import Applied, Asked, Line, Revised, ScheduleStart
from worker.scheduling.rescheduling.recorded_work import TimedPiece, batch_of, timed_pieces

DrawKey = tuple[int, int, int]
"""Batch, group, draw."""


class NothingRecorded(ValueError):
    """The log holds no batch from begin to end; the message says what is missing."""


@dataclass(slots=True)
class Recording:
    """Successive batches of a run on the same lanes, with what each piece of their work took."""

    start: ScheduleStart
    """The settings in force: of the scheduler, with switches and fragment size as revised since."""
    lanes: dict[str, LaneRole]
    """The lanes' roles, in the order in which they joined."""
    is_from_start: bool
    """Whether the stretch begins with the scheduler itself, so that its first batch has none before it."""
    began_at: float
    """When the first lane joined, in seconds of the driver's clock; later in the run, when the stretch began."""
    published: dict[int, float] = field(default_factory=dict)
    """By batch: when its version was published."""
    begun: set[int] = field(default_factory=set)
    """Batches whose first fragment was begun in the stretch."""
    pieces: list[TimedPiece] = field(default_factory=list)
    evaluations: list[EvaluationRequested] = field(default_factory=list)
    holds: dict[int, float] = field(default_factory=dict)
    """By batch after whose snapshot a checkpoint was written: its seconds."""
    spread: dict[DrawKey, bool] = field(default_factory=dict)
    """Whether the draw of a group had spread."""

    @property
    def batches(self) -> range:
        """The batches that were begun and published here, in succession."""
        whole = sorted(self.begun & set(self.published))
        return range(whole[0], whole[-1] + 1) if whole else range(0)

    def last_batches(self, max_fragments: int) -> "Recording":
        """The same, with so many of its last whole batches as have at most `max_fragments` fragments; at least one."""
        batches, numbers = self.batches, dict[int, int]()
        for timed in self.pieces:
            if timed.kind is CostKind.GENERATE and (batch := batch_of(timed.piece)) is not None:
                numbers[batch] = numbers.get(batch, 0) + 1
        first, total = batches[-1], numbers.get(batches[-1], 0)
        while first > batches[0] and total + numbers.get(first - 1, 0) <= max_fragments:
            first -= 1
            total += numbers.get(first, 0)
        if first == batches[0]:
            return self
        began_at = self.published[first - 1]
        return replace(self, begun=set(range(first, batches[-1] + 1)), is_from_start=False, began_at=began_at)

    def version_before(self, batch: int) -> int:
        """The version published last before the batch was trained."""
        return self.start.policy_version + batch - self.start.first_batch


def read_recording(lines: Iterable[Line]) -> Recording:
    """The longest stretch of the log; of equally long ones, the last. Raises `NothingRecorded` where none holds a whole
    batch, and `ValueError` for a log whose first part is missing."""
    reader = _Reader()
    for line in lines:
        reader.read(line)
    found = max(reader.stretches, key=lambda stretch: len(stretch.batches), default=None)
    if found is None or not found.batches:
        raise NothingRecorded(
            "the schedule log holds no batch that was begun and published on the same lanes: "
            "a replay needs at least one"
        )
    return found


class _Reader:
    """Follows a log line by line."""

    def __init__(self) -> None:
        self.stretches: list[Recording] = []
        """The newest first, so that of equally long ones it is the last that `max` finds."""
        self._under_way: dict[str, tuple[Action, float]] = {}
        """By lane, by `GANG`, and by `_PUBLISHER`: the action under way, and when what led to it happened."""
        self._led_at = 0.0
        """When the scheduler was last told or asked something."""
        self._reserved: tuple[int, float] | None = None
        """The batch after whose snapshot the gang was reserved, and when."""
        self._snapshot_of: int | None = None

    @property
    def _current(self) -> Recording:
        if not self.stretches:
            raise NothingRecorded("the schedule log must begin with `start`: its first part is missing")
        return self.stretches[0]

    def read(self, line: Line) -> None:
        match line:
            case ScheduleStart():
                self._under_way.clear()
                self.stretches.insert(0, Recording(line, {}, is_from_start=True, began_at=-1.0))
            case Revised(pipeline, fragment_size):
                algebra = self._current.start.algebra.with_fragment_size(fragment_size)
                self._break(start=self._current.start.model_copy(update={"pipeline": pipeline, "algebra": algebra}))
            case Asked(at, actions):
                for action in actions:
                    self._asked(action)
                self._led_at = at
            case Applied(at, event):
                self._applied(event, at)
                self._led_at = at

    def _break(self, start: ScheduleStart | None = None) -> None:
        """Begin another stretch, unless nothing has been begun in the present one."""
        now = self._current
        if now.begun or now.published:
            fresh = Recording(now.start, dict(now.lanes), is_from_start=False, began_at=self._led_at)
            self.stretches.insert(0, fresh)
        if start is not None:
            self.stretches[0] = replace(self._current, start=start)

    # --- actions ----------------------------------------------------------------------------------------------------

    def _asked(self, action: Action) -> None:
        match action:
            case Generate(lane, fragments):
                self._begin(lane, action)
                batches = {one.key.batch for one in fragments if one.key.purpose is Purpose.TRAIN}
                self._current.begun |= batches - self._known_batches()
            case Pull(lane) | Switch(lane) | Score(lane) | Accumulate(lane):
                self._begin(lane, action)
            case Commit() | Snapshot():
                self._begin(GANG, action)
            case Publish():
                self._begin(_PUBLISHER, action)
            case _:
                pass

    def _begin(self, who: str, action: Action) -> None:
        self._under_way[who] = action, self._led_at

    def _known_batches(self) -> set[int]:
        """Batches that earlier stretches of this scheduler have begun."""
        known: set[int] = set()
        for stretch in self.stretches[1:]:
            if stretch.start.first_batch != self._current.start.first_batch:
                break
            known |= stretch.begun
        return known

    # --- events -----------------------------------------------------------------------------------------------------

    def _applied(self, event: Event, at: float) -> None:
        match event:
            case LaneJoined(lane, role):
                self._joined(lane, role, at)
            case LaneLost(lane):
                self._under_way.pop(lane, None)
                self._break()
                self._current.lanes.pop(lane, None)
            case LeaveRequested(lane):
                self._break()
                self._current.lanes.pop(lane, None)
            case AdmissionClosed():
                self._break()
            case EvaluationRequested():
                self._current.evaluations.append(event)
            case TrainerReserved():
                self._reserved = None if self._snapshot_of is None else (self._snapshot_of, at)
            case TrainerReleased():
                if self._reserved is not None:
                    batch, since = self._reserved
                    self._current.holds[batch] = at - since
                self._reserved = None
            case _:
                self._answered(event, at)

    def _joined(self, lane: str, role: LaneRole, at: float) -> None:
        if self._current.begun:
            self._break()
        if self._current.began_at < 0:
            self._current.began_at = at
        self._current.lanes[lane] = role

    def _answered(self, event: Event, at: float) -> None:
        match event:
            case Committed() | Snapshotted():
                who = GANG
            case Published():
                who = _PUBLISHER
            case Pulled(lane) | Switched(lane) | Generated(lane) | Scored(lane) | Accumulated(lane):
                who = lane
            case _:
                return
        if who not in self._under_way:
            return
        action, since = self._under_way.pop(who)
        now = self._current
        now.pieces += timed_pieces(who, action, at - since, equal_counts=now.start.equal_counts)
        match action, event:
            case Score(fragment=fragment), Scored(has_spread=has_spread):
                now.spread[fragment.key.batch, fragment.key.group, fragment.draw] = has_spread
            case Snapshot(batch), Snapshotted():
                self._snapshot_of = batch
            case Publish(batch), Published():
                now.published[batch] = at
                self._snapshot_of = None


_PUBLISHER = "publisher"
"""Stands for whoever publishes: it occupies no lane."""
