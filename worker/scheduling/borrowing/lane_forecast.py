"""What further lanes would gain a run: the seconds of its batches with 0, 1, 2, … more of them.

    spec, costs measured, idle lanes ─► PoolCosts of own and idle lanes (`run_costs`) ─► simulations ─► LaneForecast

The scheduler's own simulator predicts every number, from costs that the run has measured: a lane that it does not have
yet counts as its lanes of the same device do, in proportion to what the profiles expect. Invariants: equal questions
have equal answers, and the work of an answer is bounded by the fragments that it simulates, however large the run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from worker.contracts.base import Contract, Count
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.costs import parse_measured_costs
from worker.scheduling.planning.candidate_simulation import Candidate, SearchTooLongError
from worker.scheduling.planning.planner import PlanRequest, plan_request
from worker.scheduling.replanning.decision import predicted_seconds
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes

MAX_FRAGMENTS = 40_000
"""Fragments of all simulations of an answer, at most: two to four seconds of a core. A run whose every batch is larger
is simulated with none and with all lanes alone."""
_STEADY = 8
"""Up to so many lanes each number is simulated; beyond, numbers grow by a half, which hides no gain above a third of
what a lane more gives."""


class IdleLanes(Contract):
    """Idle lanes that could join the run in one role."""

    role: LaneRole
    """Rollout or reward."""
    device: str
    """The device as the pool names it."""
    profile: str = ""
    """The name of the device's profile; empty where it has none."""
    most: Count
    """How many could join."""


class BorrowQuestion(Contract):
    """A run, and the idle lanes that it may borrow."""

    spec: RunSpec
    """The spec that it works by, with placement resolved."""
    roles: dict[str, LaneRole]
    """The present role of each lane, by id."""
    profiles: dict[str, str] = {}
    """By id of a lane that generates or trains, the name of its device's profile. Empty where some device has none."""
    history: tuple[tuple[WorkCost, ...], ...] = ()
    """Costs that earlier runs of this workload have measured, by run, newest first."""
    measured: tuple[WorkCost, ...]
    """What the run has measured."""
    idle: tuple[IdleLanes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneForecast:
    """The seconds of a batch with more lanes of one role and device."""

    role: LaneRole
    device: str
    seconds: dict[int, float]
    """By the number of lanes that join; 0 stands for the run as it is. Numbers that were not simulated are left out."""


def forecasts(question: BorrowQuestion) -> tuple[LaneForecast, ...]:
    """A forecast for each entry of `idle`; none where lending by search takes too long to simulate. Raises `ValueError`
    for a spec that no plan can be made from."""
    return _forecasts(question.model_dump_json())


@lru_cache(maxsize=256)
def _forecasts(question_json: str) -> tuple[LaneForecast, ...]:
    """Cached, since rounds of lending ask the same until the run has measured another batch."""
    question = BorrowQuestion.model_validate_json(question_json)
    try:
        return tuple(_forecast(question, idle) for idle in question.idle)
    except SearchTooLongError:
        return ()


def _forecast(question: BorrowQuestion, idle: IdleLanes) -> LaneForecast:
    own = tuple(sorted(lane for lane, role in question.roles.items() if role is not LaneRole.REWARD))
    trainers = tuple(place for place, lane in enumerate(own) if question.roles[lane] is LaneRole.TRAINER)
    request = _request(question, own, trainers, idle)
    candidate = Candidate(
        pipeline=question.spec.pipeline, trainers=trainers, fragment_size=question.spec.algebra.fragment_size
    )
    budget = MAX_FRAGMENTS // len(question.idle)
    numbers = list(_numbers(idle.most))
    num_fragments = request.work.algebra.num_trajectories // candidate.fragment_size
    affordable = max(2, budget // (num_fragments * (4 if candidate.pipeline.max_staleness else 1)))
    if len(numbers) >= affordable:
        numbers = [*numbers[: affordable - 2], idle.most]
    each = budget // (len(numbers) + 1)
    return LaneForecast(
        role=idle.role,
        device=idle.device,
        seconds={
            number: predicted_seconds(_with_lanes(request, len(own), idle.role, number), candidate, max_fragments=each)
            for number in (0, *numbers)
        },
    )


def _numbers(most: int) -> Iterator[int]:
    number = 1
    while number < most:
        yield number
        number += max(1, number // 2 if number >= _STEADY else 1)
    yield most


def _request(question: BorrowQuestion, own: Sequence[str], trainers: Sequence[int], idle: IdleLanes) -> PlanRequest:
    """What would be planned for, on the run's lanes and, behind them, all idle lanes that are to generate."""
    rewards = tuple(sorted(lane for lane, role in question.roles.items() if role is LaneRole.REWARD))
    joining = [f"idle-{number}" for number in range(idle.most if idle.role is LaneRole.ROLLOUT else 0)]
    names = (*own, *joining)
    lanes = question.spec.lanes.model_copy(
        update={
            "num_rollout": len(names) - len(trainers),
            "num_trainer": len(trainers),
            "num_reward": max(1, len(rewards)),
        }
    )
    profiles = [question.profiles.get(lane, "") for lane in own] + [idle.profile] * len(joining)
    # If some lanes have no profile, all count as the planner's default: a partial list cannot be compared.
    devices = profiles if all(profiles) else []
    request = plan_request(
        question.spec.model_copy(update={"lanes": lanes}),
        devices,
        [parse_measured_costs(table) for table in question.history],
    )
    known = run_costs(
        request.costs,
        parse_measured_costs(question.measured),
        RunLanes(names=names, trainers=frozenset(trainers), rewards=rewards),
        kinds=request.devices,
    )
    return replace(request, costs=known.pool)


def _with_lanes(request: PlanRequest, num_own: int, role: LaneRole, number: int) -> PlanRequest:
    """The request with `number` of the idle lanes."""
    costs = request.costs
    if role is LaneRole.REWARD:
        return replace(request, costs=replace(costs, num_reward=costs.num_reward + number))
    kept = num_own + number
    return replace(request, costs=replace(costs, lanes=costs.lanes[:kept]), devices=request.devices[:kept])
