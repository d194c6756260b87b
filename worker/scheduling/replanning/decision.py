"""Re-planning: whether a run should go on otherwise, from the costs that it has measured.

    PoolCosts measured (`run_costs`) ─┬─► simulate the present way of working ─► seconds of a batch now  ┐
                                      └─► planner, modes that can be reached ──► seconds of a batch then ┴─► Decision

A run on `auto` can change, between two batches, which lanes train, how trainer lanes are lent, `gap`, and where the
request has several, the size of fragments; while no batch is open, also placement and staleness, within what the user
has agreed to, on which open work and the lanes' processes depend. `tsp` and what micro-batches hold stay as they are.
Invariants: equal inputs give equal decisions, in whatever order lanes are listed; a change is decided only where what
it saves over the remaining batches outweighs what it costs by a margin; lanes have memory for what they are to do.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import Candidate, simulate_candidate
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.mode_limits import ModeLimits, Split
from worker.scheduling.planning.modes import PlanningMode
from worker.scheduling.planning.planner import PlanRequest, make_plan

MIN_GAIN = 0.02
"""The share of a batch's seconds that a change of the trainer lanes must save. Simulations of two ways of working on
the same costs are compared to well within 1 %, so 2 % is no chance, and what is left undone is below the 3 % aimed
at. Each change doubles it for the next one: at staleness 1 batches take turns in being short and long, so a few of
them do not tell two ways of working apart that are nearly as good, and a run must not go back and forth between
them."""
MIN_SWITCH_GAIN = 0.01
"""The same for lending, `gap` and fragments alone, which change at no cost. It doubles for the fragments too: what
sizes cost that the run has not tried is inferred."""
GAIN_OVER_MOVE = 2.0
"""What a change must save over the remaining batches, in multiples of the seconds that it takes: the prediction may be
half wrong."""
NUM_ERRORS = 2.0
"""Standard errors of the prediction that a gain must exceed: chance gains as much once in forty questions."""
FAR_SLOWER = 1.5
"""Seconds of a lane ÷ those of its kind from which on it is named. Lanes that share a machine differ by less."""
_NUM_BATCHES = 12
"""Batches of a simulation at staleness 1, as many as for the finalists of a plan; at staleness 0 all are alike."""
_MAX_FRAGMENTS = 20_000
"""Fragments of those batches, at most: one to two seconds of a core for each way of working. Large pools have so many
that two batches, which may be a long and a short one, tell as much."""

_SECONDS = itemgetter(0)
"""The seconds of a batch, which are first wherever ways of working are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A run between two batches."""

    request: PlanRequest
    """What the run may do on its lanes, with the costs measured so far and the fragment sizes that it may take."""
    present: Candidate
    """How it works now."""
    can_lend: bool
    """Whether the trainer lanes hold what they need to generate; otherwise only a new gang can be lent, of the same
    lanes or of others."""
    batches_left: int
    """Batches that would be trained after a change."""
    move_seconds: float
    """Seconds for which training would stand still for other trainer lanes."""
    num_changes: int = 0
    """Changes of the trainer lanes or of the fragment size so far."""
    relative_error: float = 0.0
    """The relative standard error of the predicted seconds, from that of the costs."""
    speeds: tuple[float, ...] = ()
    """[lane]: its seconds ÷ those of its kind; empty where all are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How the run goes on."""

    candidate: Candidate
    """How it works from the next batch on: the present way where nothing changes."""
    release: tuple[int, ...] = ()
    """Indices of lanes that are given back."""
    seconds_before: float
    """Predicted seconds of a batch if nothing changes."""
    batch_seconds: float
    """Predicted seconds of a batch as decided."""
    is_change: bool
    drains: bool
    """Whether no batch may be open at the change: another placement or staleness."""
    renews_gang: bool
    """Whether the trainer gang is replaced: lanes join it or leave it, or all of them are loaded to be lent."""
    slow: tuple[int, ...]
    """Indices of lanes that are far slower than their kind."""


def decide(situation: Situation) -> Decision:
    """How the run goes on."""
    present = situation.present
    before = predicted_seconds(situation.request, present)
    slow = tuple(lane for lane, speed in enumerate(situation.speeds) if speed >= FAR_SLOWER)
    own = [*_switched(situation, before), *_planned_in(situation, _own_mode(present.pipeline), before, MIN_SWITCH_GAIN)]
    undrained = _best(situation, before, own)
    drained = _best(situation, before, [*own, *_planned_elsewhere(situation, before, undrained[0])])
    # A run that lets slow lanes go may be faster as it is than with them in another placement.
    ways = [
        (*_released(situation, chosen, slow, seconds), chosen)
        for seconds, chosen in dict.fromkeys((undrained, drained))
    ]
    seconds, release, chosen = min(ways, key=_SECONDS)
    return Decision(
        candidate=chosen,
        release=release,
        seconds_before=before,
        batch_seconds=seconds,
        is_change=chosen != present or bool(release),
        drains=_drains(situation, chosen),
        renews_gang=_renews_gang(situation, chosen) or any(lane in chosen.trainers for lane in release),
        slow=slow,
    )


def _best(situation: Situation, before: float, options: Sequence[tuple[float, Candidate]]) -> tuple[float, Candidate]:
    """The fastest option that is worth its cost; of ways that are as fast as each other, the one that moves nothing."""
    worth = [entry for entry in options if _is_worth_it(situation, before, *entry)]
    best = min(worth, key=_SECONDS, default=(before, situation.present))
    near = [
        entry
        for entry in worth
        if entry[0] <= best[0] * (1 + MIN_SWITCH_GAIN) and not _renews_gang(situation, entry[1])
    ]
    return min(near, key=_SECONDS, default=best)


def predicted_seconds(request: PlanRequest, candidate: Candidate, *, max_fragments: int = _MAX_FRAGMENTS) -> float:
    """Seconds of a batch by simulation of at most `max_fragments` fragments, or of as few batches as tell."""
    num_fragments = request.work.algebra.num_trajectories // candidate.fragment_size
    num_ahead = min(_NUM_BATCHES, max(2, 2 * (max_fragments // (2 * num_fragments))))
    costs, in_order = _in_order(request, candidate)
    result = simulate_candidate(
        request.work,
        costs,
        in_order,
        advantage_std=request.advantage_std,
        num_batches=num_ahead if candidate.pipeline.max_staleness else 1,
        with_shares=False,
    )
    return result.batch_seconds


def _in_order(request: PlanRequest, candidate: Candidate) -> tuple[PoolCosts, Candidate]:
    """Costs and candidate with the lanes listed kind by kind, as in the simulations of a plan: the listing decides who
    is first at moments that are exactly equal, as those of a run never are."""
    kind_of = LaneKinds.of(request.costs, candidate.fragment_size, request.devices).of_lane
    trains = set(candidate.trainers)
    order = sorted(range(len(kind_of)), key=lambda lane: (kind_of[lane], lane not in trains))
    trainers = tuple(place for place, lane in enumerate(order) if lane in trains)
    lanes = tuple(request.costs.lanes[lane] for lane in order)
    return replace(request.costs, lanes=lanes), replace(candidate, trainers=trainers)


def _other_modes(situation: Situation) -> Iterator[PlanningMode]:
    """Those of another placement or staleness that the user has agreed to. What a deterministic run learns must not
    depend on what it measures, so its staleness stays."""
    present, wanted = situation.present.pipeline, situation.request.wanted
    ways = [(Placement.COLOCATED, 0)]
    ways += [(Placement.DISAGGREGATED, staleness) for staleness in range(wanted.max_staleness + 1)]
    for placement, staleness in ways:
        is_other = (placement, staleness) != (present.placement, present.max_staleness)
        if is_other and (staleness == present.max_staleness or not wanted.deterministic):
            yield _mode(present, placement, staleness)


def _mode(present: PipelineSpec, placement: Placement, max_staleness: int) -> PlanningMode:
    """What a run with these switches can change to in this placement and with this staleness, with every way to
    lend."""
    is_colocated = placement is Placement.COLOCATED
    return PlanningMode(
        name=f"{placement}, staleness {max_staleness}",
        placement=placement,
        tsp=present.tsp,
        tags=(TrainerAssist.OFF,) if is_colocated else tuple(TrainerAssist),
        max_staleness=max_staleness,
    )


def _own_mode(pipeline: PipelineSpec) -> PlanningMode:
    """What a run with these switches can change to while batches are open."""
    return _mode(pipeline, pipeline.placement, pipeline.max_staleness)


def _switched(situation: Situation, before: float) -> Iterator[tuple[float, Candidate]]:
    """The present split with lending, `gap` and fragments otherwise, where limits leave it a chance; lending by search,
    which takes long to simulate, is left to the planner."""
    request, present = situation.request, situation.present
    limits = request.limits()
    for pipeline in _own_mode(present.pipeline).settings(request.wanted):
        if pipeline.tag is TrainerAssist.SEARCH:
            continue
        for size in request.fragment_sizes:
            candidate = replace(present, pipeline=pipeline, fragment_size=size)
            if candidate != present and _is_worth_it(situation, before, _limit(limits, candidate), candidate):
                yield predicted_seconds(request, candidate), candidate


def _limit(limits: ModeLimits, candidate: Candidate) -> float:
    """Seconds of a batch that the candidate does not beat; infinite where lanes lack memory for it."""
    split = Split(limits.kinds.numbers_of(candidate.trainers), candidate.fragment_size)
    return limits.limit(_own_mode(candidate.pipeline), split, lends=candidate.pipeline.trainers_generate)


def _planned_elsewhere(situation: Situation, before: float, fastest: float) -> Iterator[tuple[float, Candidate]]:
    """As `_planned_in`, of each other placement and staleness that gains over `fastest`, the seconds of a batch that
    the run reaches without being drained."""
    least_gain = max((before - fastest) / before + MIN_GAIN, MIN_GAIN * 2**situation.num_changes)
    for mode in _other_modes(situation):
        yield from _planned_in(situation, mode, before, least_gain)


def _planned_in(
    situation: Situation, mode: PlanningMode, before: float, least_gain: float
) -> Iterator[tuple[float, Candidate]]:
    """The best split by the planner, with as few lanes moved as possible, where it saves more than `least_gain`, a
    share of `before`; limits often tell that none does."""
    request, present = situation.request, situation.present
    if before - request.limits().least_seconds(mode) <= least_gain * before:
        return
    try:
        best = make_plan(request, modes=[mode], only_best=True).best.split_result
    except ValueError:
        # What the planner counts as too little memory for any split is the run's own way of working so far.
        return
    kinds = LaneKinds.of(request.costs, best.candidate.fragment_size, request.devices)
    trainers = nearest_trainers(kinds.of_lane, best.candidate.trainers, present.trainers)
    candidate = replace(best.candidate, trainers=trainers)
    seconds = predicted_seconds(request, candidate)
    if before - seconds > least_gain * before:
        yield seconds, candidate


def nearest_trainers(kind_of: Sequence[int], chosen: Sequence[int], present: Sequence[int]) -> tuple[int, ...]:
    """As many lanes of each kind as `chosen` has, those that train already first. `kind_of`: [lane], its kind."""
    num_wanted = [0] * (max(kind_of) + 1)
    for lane in chosen:
        num_wanted[kind_of[lane]] += 1
    found = []
    for lane in sorted(range(len(kind_of)), key=lambda lane: (lane not in present, lane)):
        if num_wanted[kind_of[lane]]:
            num_wanted[kind_of[lane]] -= 1
            found.append(lane)
    return tuple(sorted(found))


def is_drained_for(before: PipelineSpec, after: PipelineSpec) -> bool:
    """Whether no batch may be open when a run with the switches `before` begins to work by those `after`."""
    return (before.placement, before.max_staleness) != (after.placement, after.max_staleness)


def _drains(situation: Situation, candidate: Candidate) -> bool:
    return is_drained_for(situation.present.pipeline, candidate.pipeline)


def _renews_gang(situation: Situation, candidate: Candidate) -> bool:
    """Whether only another gang works so: of other lanes, loaded to be lent, or for another placement or staleness."""
    if _drains(situation, candidate):
        return True
    is_lent_first = candidate.pipeline.trainers_generate and not situation.can_lend
    return is_lent_first or set(candidate.trainers) != set(situation.present.trainers)


def _is_worth_it(situation: Situation, before: float, seconds: float, candidate: Candidate) -> bool:
    gain, moves = before - seconds, _renews_gang(situation, candidate)
    margin = MIN_GAIN if moves else MIN_SWITCH_GAIN
    if moves or candidate.fragment_size != situation.present.fragment_size:
        margin *= 2**situation.num_changes
    least = max(margin, NUM_ERRORS * situation.relative_error)
    cost = GAIN_OVER_MOVE * situation.move_seconds if moves else 0.0
    # Batches overlap no more until the change, and the first after it has none to overlap with.
    cost += GAIN_OVER_MOVE * before if _drains(situation, candidate) else 0.0
    return gain > least * before and gain * situation.batches_left > cost


def _released(
    situation: Situation, chosen: Candidate, slow: Sequence[int], seconds: float
) -> tuple[float, tuple[int, ...]]:
    """(Seconds of a batch without them, of the slow lanes those without which it is shorter). They are tried from the
    slowest on, since without one the next may be needed."""
    release: tuple[int, ...] = ()
    kind_of = LaneKinds.of(situation.request.costs, chosen.fragment_size, situation.request.devices).of_lane
    for lane in sorted(slow, key=lambda lane: (-situation.speeds[lane], kind_of[lane], lane in chosen.trainers)):
        without = (*release, lane)
        found = _seconds_without(situation.request, chosen, without)
        moves = lane in chosen.trainers
        cost = GAIN_OVER_MOVE * situation.move_seconds if moves else 0.0
        gain = seconds - found
        if (
            gain > max(MIN_GAIN, NUM_ERRORS * situation.relative_error) * seconds
            and gain * situation.batches_left > cost
        ):
            release, seconds = without, found
    return seconds, release


def _seconds_without(request: PlanRequest, candidate: Candidate, lanes: Sequence[int]) -> float:
    """Seconds of a batch without some lanes; infinite where none would train or none generate, or where fewer trainer
    lanes lack memory for the state that they divide among them."""
    kept = [lane for lane in range(len(request.costs.lanes)) if lane not in lanes]
    trainers = tuple(place for place, lane in enumerate(kept) if lane in candidate.trainers)
    if not trainers or (len(trainers) == len(kept) and candidate.pipeline.placement is not Placement.COLOCATED):
        return math.inf
    costs = replace(request.costs, lanes=tuple(request.costs.lanes[lane] for lane in kept))
    devices = tuple(request.devices[lane] for lane in kept)
    request, without = replace(request, costs=costs, devices=devices), replace(candidate, trainers=trainers)
    if len(trainers) < len(candidate.trainers) and math.isinf(_limit(request.limits(), without)):
        return math.inf
    return predicted_seconds(request, without)
