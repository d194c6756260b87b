"""Resizes of a live run: lanes are allocated here, and the driver carries the rest out (`worker.contracts.resizing`).

    request_resize ─► problems? ─► lanes allocated ─► `resize` command ─► driver ─► `runs.reports.resize_reports`

Invariants: a run has at most one resize under way, beside the lanes that the pool asks back within seconds; what is
allocated for one is allocated whole or not at all, in the transaction that sends the command; borrowed lanes may leave
at any time, so a run keeps a lane of its own in each role, and none of them trains.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.access import TO_CONTROL_RUNS, require_role
from accounts.models import User
from audit.record import record
from fleet.allocation.lane_loans import lent_names
from fleet.device_profiles import profile_name
from fleet.lane_demand import kind_for
from fleet.models import LaneKind
from fleet.selectors import devices_by_lane, grants_of, kinds_by_lane, pool_lanes
from fleet.services import LaneHolder, WantedLanes, allocate_more
from runs.attempts import attempts
from runs.legal_actions import legal_actions
from runs.models import RESIZE_REQUESTED, Attempt, Run, RunResize
from runs.resizing.resize_memory import memory_problems
from runs.run_log import give_command
from runs.stream import lock_stream
from runs.transitions import RunStateConflict
from worker.contracts.commands import CommandKind
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole, Placement
from worker.contracts.resizing import Resize, ResizeCause, RoleChange, resize_problems
from worker.contracts.run_spec import RunSpec

MAX_LANES = 4096
"""The most lanes of one resize, as of one role in a spec."""


class ResizeUnderWay(Exception):
    """Another resize of the run is under way; the message names it."""

    def __init__(self, resize: RunResize) -> None:
        self.resize = resize
        super().__init__(
            f"the run is being resized already, by {resize.pk} ({resize.cause}, {resize.state}): wait until it is done"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedResize:
    """What is asked for: lanes to add, ids of lanes to release, and lanes that get another role."""

    add: Sequence[WantedLanes] = ()
    release: Sequence[str] = ()
    change: Sequence[RoleChange] = ()
    within_seconds: float | None = None
    """Seconds in which lanes that leave may finish what they have under way; `None` for as long as that takes."""


@transaction.atomic
def request_resize(
    *, user: User | None, run: Run, wanted: WantedResize, cause: ResizeCause = ResizeCause.USER
) -> RunResize:
    """Allocate the lanes to add, and send the driver the command. `user` is None where Tandem itself resizes the run.

    Raises:
        RunStateConflict: where the run has no driver that works.
        ResizeUnderWay: while another resize is.
        ValidationError: by field (`add`, `release`, `change`), where the run cannot be resized so.
    """
    if user is not None:
        require_role(user, run.project, TO_CONTROL_RUNS)
    lock_stream(run.pk)
    current = Run.objects.select_related("project").get(pk=run.pk)
    attempt, possible = attempts.open_attempt(run.pk), legal_actions(current)
    if attempt is None or CommandKind.RESIZE not in possible:
        raise RunStateConflict(CommandKind.RESIZE, current.run_state, possible)
    under_way = RunResize.objects.filter(run=current, ended_at=None).first()
    if under_way is not None and wanted.within_seconds is None:
        raise ResizeUnderWay(under_way)
    resize = _checked(current, attempt, wanted, cause)
    row = RunResize.objects.create(
        run=current,
        attempt=attempt.number,
        cause=cause.value,
        requested_by=user,
        added=[grant.lane for grant in resize.add],
        state=RESIZE_REQUESTED,
    )
    give_command(
        current,
        CommandKind.RESIZE,
        giver=user,
        actor=cause.value,
        pk=row.pk,
        resize=resize.model_dump(mode="json"),
    )
    record(
        "run.resize",
        current,
        user=user,
        actor="" if user else cause.value,
        project_id=current.project_id,
        resize=str(row.pk),
        add=[f"{grant.lane} on {grant.node}" for grant in resize.add],
        release=list(wanted.release),
        change={change.lane: change.role.value for change in wanted.change},
    )
    return row


def _checked(run: Run, attempt: Attempt, wanted: WantedResize, cause: ResizeCause) -> Resize:
    """The resize with its lanes allocated. Raises `ValidationError`."""
    roles = {grant.lane: grant.role for grant in grants_of(run.pk, attempt.number)}
    borrowed = lent_names(run.pk, attempt.number)
    spec = attempt.concrete_spec
    _require(_kind_problems(run, attempt, wanted, spec), "change")
    grants = _allocated(run, attempt, wanted.add, spec) if wanted.add else ()
    if cause is ResizeCause.BORROW:
        grants = tuple(grant.model_copy(update={"is_borrowed": True}) for grant in grants)
    resize = Resize(
        add=grants,
        release=tuple(wanted.release),
        change=tuple(wanted.change),
        cause=cause,
        within_seconds=wanted.within_seconds,
    )
    field = "release" if wanted.release else "change" if wanted.change else "add"
    _require(_borrowing_problems(resize, roles, borrowed, spec.pipeline.placement), field)
    _require(resize_problems(resize, roles, spec.pipeline.placement), field)
    after, device_of = resize.roles_after(roles), devices_by_lane(run.pk, attempt.number)
    _require(memory_problems(spec, roles, after, device_of), "add" if wanted.add else field)
    return resize


def _borrowing_problems(
    resize: Resize, roles: Mapping[str, LaneRole], borrowed: Collection[str], placement: Placement
) -> Iterator[str]:
    """What would leave the run without a lane of its own in a role, or give a borrowed lane another."""
    for change in resize.change:
        if change.lane in borrowed:
            yield f"`{change.lane}` must keep its role, since it is borrowed and may be asked back: change another"
    own = {lane: role for lane, role in roles.items() if lane not in borrowed}
    leaving = tuple(lane for lane in resize.release if lane in own)
    changing = tuple(change for change in resize.change if change.lane in own)
    if leaving or changing:
        of_own = resize.model_copy(update={"release": leaving, "change": changing})
        yield from resize_problems(of_own, own, placement)


def _allocated(run: Run, attempt: Attempt, wanted: Sequence[WantedLanes], spec: RunSpec) -> tuple[LaneGrant, ...]:
    number = sum(more.number for more in wanted)
    if any(more.number < 1 for more in wanted) or number > MAX_LANES:
        raise ValidationError(
            {"add": f"`add` must hold 1 to {MAX_LANES} lanes, at least 1 of each entry, got {number}"}
        )
    holder = LaneHolder(run_id=run.pk, attempt=attempt.number, project_id=run.project_id, user_id=run.created_by_id)
    grants = allocate_more(holder=holder, pool=run.pool, wanted=wanted, rewards_on=spec.lanes.rewards_on)
    if grants is None:
        asked = ", ".join(f"{more.number} {more.role}{f' on {more.device}' if more.device else ''}" for more in wanted)
        raise ValidationError({"add": f"`add` must fit the free lanes of the pool, got {asked}: wait, or add fewer"})
    device_of = devices_by_lane(run.pk, attempt.number)
    return tuple(grant.model_copy(update={"profile": profile_name(device_of[grant.lane]) or ""}) for grant in grants)


def _kind_problems(run: Run, attempt: Attempt, wanted: WantedResize, spec: RunSpec) -> Iterator[str]:
    """Lanes whose new role needs another kind of lane than they are."""
    pool, kinds = pool_lanes(run.pool), kinds_by_lane(run.pk, attempt.number)
    for change in wanted.change:
        needed = _kind_for(change.role, pool, spec)
        if kinds.get(change.lane, needed) != needed:
            yield (
                f"`{change.lane}` must be a {needed.upper()} lane to become a {change.role} lane, got a "
                f"{kinds[change.lane].upper()} lane: change the role of another"
            )


def _kind_for(role: LaneRole, pool: Mapping[LaneKind, int], spec: RunSpec) -> LaneKind:
    return kind_for(role, pool, rewards_on=spec.lanes.rewards_on)


def _require(problems: Iterator[str], field: str) -> None:
    found = list(problems)
    if found:
        raise ValidationError({field: found})
