"""A question of a run's driver, how it should go on, and the answer: plain JSON, so that another process can answer it.

    ReplanQuestion ─► PlanRequest of the first plan, on the present lanes ─► `run_costs` ─► `decide` ─► ReplanAnswer
                      (groups without spread as measured)

Invariant: lanes are named by their ids on both sides, and equal questions have equal answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from worker.contracts.base import Contract, Count, Index
from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.replanning import ReplanBasis
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import parse_measured_costs
from worker.scheduling.planning.candidate_simulation import Candidate
from worker.scheduling.planning.planner import PlanRequest, plan_request
from worker.scheduling.replanning.decision import Decision, Situation, decide
from worker.scheduling.replanning.move_seconds import move_seconds
from worker.scheduling.replanning.reasons import reason_of
from worker.scheduling.replanning.run_costs import run_costs
from worker.scheduling.replanning.run_lanes import RunLanes


class ReplanQuestion(Contract):
    """A run between two batches, as its driver knows it."""

    basis: ReplanBasis
    """The input of the run's first plan."""
    roles: dict[str, LaneRole]
    """The present role of each lane, by id."""
    joined: dict[str, str] = {}
    """By id of a lane that has joined since the first plan: the name of its device's profile, where it has one."""
    pipeline: PipelineSpec
    """The present switches."""
    fragment_size: Count
    """Trajectories of a fragment at present."""
    can_lend: bool
    """Whether the trainer lanes hold what they need to generate."""
    measured: tuple[WorkCost, ...]
    """What the run has measured."""
    share_without_spread: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The measured share of draws of groups without spread: what is skipped in training or drawn again for it."""
    batches_left: Index
    """Batches that would be trained after a change."""
    num_changes: Index = 0
    """Changes of the trainer lanes or of the fragment size so far."""


class ReplanAnswer(Contract):
    """How the run should go on."""

    is_change: bool
    """Whether anything changes."""
    roles: dict[str, LaneRole]
    """The lanes that the run keeps, and their roles."""
    drains: bool
    """Whether no batch may be open at the change: another placement or staleness."""
    renews_gang: bool
    """Whether the trainer gang is replaced: lanes join it or leave it, or all of them are loaded to be lent."""
    pipeline: PipelineSpec
    """The switches."""
    fragment_size: Count
    """Trajectories of a fragment in batches to come."""
    seconds_before: float
    """Predicted seconds of a batch if nothing changes."""
    batch_seconds: float
    """Predicted seconds of a batch as decided."""
    bound_seconds: float
    """Seconds of a batch that no schedule beats."""
    move_seconds: float
    """Predicted seconds for which training stands still; 0 where the trainer gang stays."""
    slow: dict[str, float] = {}
    """By id of a lane that is far slower than its kind: its seconds ÷ those of its kind."""
    reason: str
    """What changes, why, and what it is predicted to gain; without a change, why there is none."""


def answer(question: ReplanQuestion) -> ReplanAnswer:
    """The answer. Raises `ValueError` for a basis that no plan can be made from."""
    names = tuple(sorted(lane for lane, role in question.roles.items() if role is not LaneRole.REWARD))
    rewards = tuple(sorted(lane for lane, role in question.roles.items() if role is LaneRole.REWARD))
    trainers = tuple(place for place, lane in enumerate(names) if question.roles[lane] is LaneRole.TRAINER)
    request = _request(question, names, len(rewards))
    measured = parse_measured_costs(question.measured)
    known = run_costs(
        request.costs,
        measured,
        RunLanes(names=names, trainers=frozenset(trainers), rewards=rewards),
        kinds=request.devices,
    )
    speeds = _speeds_of_known(question, names, known.speeds)
    situation = Situation(
        request=replace(request, costs=known.pool),
        present=Candidate(pipeline=question.pipeline, trainers=trainers, fragment_size=question.fragment_size),
        can_lend=question.can_lend,
        batches_left=question.batches_left,
        move_seconds=move_seconds(request.work, measured),
        num_changes=question.num_changes,
        relative_error=known.relative_error,
        speeds=speeds,
    )
    decision = decide(situation)
    roles = _roles_after(question.roles, names, decision)
    return ReplanAnswer(
        is_change=decision.is_change,
        roles=roles,
        drains=decision.drains,
        renews_gang=decision.renews_gang,
        pipeline=decision.candidate.pipeline,
        fragment_size=decision.candidate.fragment_size,
        seconds_before=decision.seconds_before,
        batch_seconds=decision.batch_seconds,
        bound_seconds=situation.request.bound_seconds(request.wanted.max_staleness),
        move_seconds=situation.move_seconds if decision.renews_gang else 0.0,
        slow={names[lane]: speeds[lane] for lane in decision.slow},
        reason=reason_of(situation, decision, names),
    )


def _request(question: ReplanQuestion, names: Sequence[str], num_reward: int) -> PlanRequest:
    """That of the first plan, on the lanes that the run has now. A lane that has joined since without a profile counts
    as the first one's kind until it is measured. In a deterministic run the fragment size stays, because samples depend
    on it."""
    basis = question.basis
    num_trainer = sum(role is LaneRole.TRAINER for role in question.roles.values())
    lanes = basis.asked.lanes.model_copy(
        update={"num_rollout": len(names) - num_trainer, "num_trainer": num_trainer, "num_reward": num_reward}
    )
    batch = basis.asked.batch
    if basis.asked.pipeline.deterministic:
        batch = batch.model_copy(update={"fragment_size": question.fragment_size})
    spec = basis.asked.model_copy(update={"lanes": lanes, "batch": batch})
    known = _profiles(question)
    devices = [known.get(lane, next(iter(known.values()))) for lane in names] if known else []
    request = plan_request(spec, devices, [parse_measured_costs(table) for table in basis.history])
    algebra = request.work.algebra
    # Elsewhere groups without spread are work like others, and batches with them need not be simulated one by one.
    share = question.share_without_spread if algebra.filter_groups or algebra.max_resamples else 0.0
    return replace(request, work=replace(request.work, share_without_spread=share))


def _profiles(question: ReplanQuestion) -> Mapping[str, str]:
    """By lane: its device's profile. If some lanes had none at first, all count as the planner's default, as in the
    first plan."""
    return question.basis.devices | question.joined if question.basis.devices else {}


def _speeds_of_known(question: ReplanQuestion, names: Sequence[str], speeds: Sequence[float]) -> tuple[float, ...]:
    """[lane]: its seconds ÷ those of its kind; 1 for a lane that has joined without a profile, of which nobody can say
    how fast it should be."""
    known = _profiles(question)
    return tuple(speed if lane in known or not known else 1.0 for lane, speed in zip(names, speeds, strict=True))


def _roles_after(roles: Mapping[str, LaneRole], names: Sequence[str], decision: Decision) -> dict[str, LaneRole]:
    after: dict[str, LaneRole] = {lane: role for lane, role in roles.items() if role is LaneRole.REWARD}
    for place, lane in enumerate(names):
        if place not in decision.release:
            after[lane] = LaneRole.TRAINER if place in decision.candidate.trainers else LaneRole.ROLLOUT
    return after
