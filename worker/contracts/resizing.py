"""Resizing a run: the lanes that join, leave or change their role while it works, and what the driver reports of it.

    web: lanes allocated ─► `resize` command ─► driver: `lanes` events with a `ResizeReport` ─► web: lanes freed
    driver: roles of the run's own lanes ─────► driver: the same events

Invariant: `resize_problems` is asked before anything changes, by the web that sends a resize and by the driver that
carries it out; they know the run's lanes by the same ids.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum

from worker.contracts.base import Contract, Duration, Index, LaneId, ShortText, Text
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole, Placement


class ResizeCause(StrEnum):
    """Who asked for a resize."""

    USER = "user"
    """A user, on the run page or over REST."""
    PLAN = "plan"
    """The run itself: a new plan moves lanes between roles."""
    DRAIN = "drain"
    """An admin: the lane's node takes no more work."""
    BORROW = "borrow"
    """The pool: idle lanes join for as long as nobody else needs them."""
    RECLAIM = "reclaim"
    """The pool: another run is entitled to the lanes."""
    IDLE = "idle"
    """The pool: the lanes have done nothing for longer than its policy allows."""


class RoleChange(Contract):
    """A lane of the run that gets another role."""

    lane: LaneId
    """The lane's id."""
    role: LaneRole
    """What it does from then on."""


class Resize(Contract):
    """The lanes that a resize adds, releases and gives another role."""

    add: tuple[LaneGrant, ...] = ()
    """Lanes that join; the pool has allocated them to the run."""
    release: tuple[str, ...] = ()
    """Ids of lanes that leave the run."""
    change: tuple[RoleChange, ...] = ()
    """Lanes that get another role. A plan of the run's own may name trainer lanes that stay trainer lanes: the gang is
    then replaced by one of processes that are loaded for the plan's switches."""
    cause: ResizeCause = ResizeCause.USER
    """Who asked for it."""
    within_seconds: Duration | None = None
    """Seconds after which rollout and reward lanes that leave are let go in any case: what one has under way by then is
    dropped, and others do it again from the same seeds. Empty: each lane finishes what it has under way."""

    def roles_after(self, roles: Mapping[str, LaneRole]) -> dict[str, LaneRole]:
        """The run's lanes and their roles once the resize is done; `roles` are those before it."""
        after = {lane: role for lane, role in roles.items() if lane not in self.release}
        after.update((change.lane, change.role) for change in self.change)
        after.update((grant.lane, grant.role) for grant in self.add)
        return after


def resize_problems(resize: Resize, roles: Mapping[str, LaneRole], placement: Placement) -> Iterator[str]:
    """Why a run with the lanes `roles` (role by id) cannot be resized so, each as a sentence for the user."""
    named = [*resize.release, *(change.lane for change in resize.change)]
    if not named and not resize.add:
        yield "a resize must name at least one lane to add, to release or to change, got none"
    for lane, count in Counter(named).items():
        if lane not in roles:
            yield f"`{lane}` must be a lane of the run ({', '.join(roles)}): release or change one of these"
        if count > 1:
            yield f"`{lane}` must be named once, got {count} times: release it or change its role"
    for grant in resize.add:
        if grant.lane in roles:
            yield f"`{grant.lane}` must be new to the run, got a lane that it has"
    for change in resize.change:
        is_reloaded = resize.cause is ResizeCause.PLAN and change.role is LaneRole.TRAINER
        if roles.get(change.lane) is change.role and not is_reloaded:
            yield f"`{change.lane}` must get another role than its own, got {change.role}: leave it out"
    if resize.within_seconds is not None:
        yield from _notice_problems(resize, roles)
    yield from _missing_roles(Counter(resize.roles_after(roles).values()), placement)


def _notice_problems(resize: Resize, roles: Mapping[str, LaneRole]) -> Iterator[str]:
    """What a resize with `within_seconds` cannot hold."""
    if resize.add or resize.change:
        yield "a resize with `within_seconds` must only release lanes, got others too: send two"
    for lane in resize.release:
        if roles.get(lane) is LaneRole.TRAINER:
            yield f"`{lane}` must not train to leave within seconds: release it without `within_seconds`"


def roles_of(placement: Placement) -> tuple[LaneRole, ...]:
    """The roles of a run's lanes, each of which at least one lane must have: the trainer lanes of a colocated run
    generate."""
    return tuple(role for role in LaneRole if role is not LaneRole.ROLLOUT or placement is not Placement.COLOCATED)


def _missing_roles(after: Counter[LaneRole], placement: Placement) -> Iterator[str]:
    """The roles of which a run has too few or too many lanes."""
    is_colocated = placement is Placement.COLOCATED
    if is_colocated and after[LaneRole.ROLLOUT]:
        yield (
            f"a colocated run must keep 0 rollout lanes, got {after[LaneRole.ROLLOUT]}: "
            "its trainer lanes generate, so add trainer lanes"
        )
    for role in roles_of(placement):
        if not after[role]:
            yield f"the run must keep at least 1 {role} lane, got 0: release or change fewer"


class ResizeState(StrEnum):
    """How far a resize is."""

    ACCEPTED = "accepted"
    """It is under way."""
    DONE = "done"
    """Every lane is where it was to be."""
    FAILED = "failed"
    """It was refused or came to nothing in part or whole; the reason and each lane's step say which."""


class LaneStep(StrEnum):
    """How far a lane of a resize is."""

    WAITING = "waiting"
    """For the end of a batch, or for other lanes of the trainer gang."""
    STARTING = "starting"
    """Its process starts and loads the model."""
    LEAVING = "leaving"
    """It finishes what it has begun and takes no more."""
    JOINED = "joined"
    """It works in its role."""
    KEPT = "kept"
    """It goes on in the role that it had."""
    RELEASED = "released"
    """The driver has let go of it."""
    GIVEN_UP = "given_up"
    """It could not be started, and the driver has let go of it."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing more happens to the lane in this resize."""
        return self in (LaneStep.JOINED, LaneStep.KEPT, LaneStep.RELEASED, LaneStep.GIVEN_UP)

    @property
    def has_let_go(self) -> bool:
        """Whether the run does not have the lane any more, so that the pool may give it to others."""
        return self in (LaneStep.RELEASED, LaneStep.GIVEN_UP)


class LaneProgress(Contract):
    """How far one lane of a resize is."""

    lane: LaneId
    """The lane's id."""
    role: LaneRole | None
    """Its role once the resize is done; null for a lane that leaves."""
    step: LaneStep
    """How far it is."""
    detail: Text = ""
    """Why it could not be started, in one sentence."""
    num_dropped: Index = 0
    """Fragments that it had under way when its seconds were over, and that others do again."""


class TrainerChangeSeconds(Contract):
    """What it took to replace the trainer gang, in seconds of the driver's clock; training stood still meanwhile."""

    checkpoint: Duration
    """From the end of the batch until its checkpoint was written and all lanes concerned were free."""
    start: Duration
    """From then until the new processes had loaded the model."""
    restore: Duration
    """Reading the checkpoint."""

    @property
    def total(self) -> float:
        return self.checkpoint + self.start + self.restore


class ResizeReport(Contract):
    """How far a resize is, as `lanes` events carry it; a later report replaces it."""

    id: ShortText
    """The id of the command that asked for it, or one of the driver's own."""
    cause: ResizeCause
    """Who asked for it."""
    state: ResizeState
    """How far it is."""
    reason: Text = ""
    """Why it failed, in one sentence."""
    lanes: tuple[LaneProgress, ...] = ()
    """The lanes that it names."""
    trainer_seconds: TrainerChangeSeconds | None = None
    """What replacing the trainer gang took; null before that, and where the gang stays as it is."""
