"""Automatic placement: settled when lanes are given, by costs measured on the same work, and kept with the attempt."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from fleet.lane_layout import ensure_local_lanes
from fleet.selectors import grants_of
from fleet.services import allocate, release
from runs.attempts import attempts
from runs.attempts.bootstrap import trade_code
from runs.attempts.launch import launch
from runs.models import Attempt, AttemptOutcome, PlanRevision, Run
from runs.planning.auto_placement import choose, hypothetical_plan
from runs.planning.cost_history import MIN_BATCHES, measured_costs, record_costs, workload_of
from runs.queue.dispatch import dispatch_waiting, start_attempt
from runs.selectors import plan_of
from runs.wait_reasons import why_waiting
from tests.web.lane_holders import held_by
from worker.contracts.events import CostsEvent, WorkCost
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import Placement, RewardDevice
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
MakeSpec = Callable[..., RunSpec]
SPLIT = {"num_prompts_per_batch": 3, "group_size": 2, "fragment_size": 1}
AUTO = {"pipeline": {"placement": "auto"}, "lanes": {"num_rollout": 2, "num_trainer": 1, "num_reward": 1}}


@pytest.fixture
def auto_run(make_run: Callable[..., Run], make_spec: MakeSpec) -> Run:
    ensure_local_lanes(num_cpu_lanes=6)
    return make_run(spec=make_spec(**AUTO))


def costs(lane_seconds: dict[str, float], num_batches: int = MIN_BATCHES) -> CostsEvent:
    kinds = {"rollout-0": "generate", "gang": "accumulate", "reward-0": "score"}
    work_costs = [
        WorkCost(lane=lane, kind=kinds[lane], per_call=0, per_unit=seconds, observed_units=(2, 2))
        for lane, seconds in lane_seconds.items()
    ]
    return CostsEvent(seq=1, at=0.0, batch=num_batches, costs=tuple(work_costs))


def test_the_attempt_uses_the_planners_choice_and_the_run_keeps_what_was_asked(auto_run: Run) -> None:
    assert dispatch_waiting() == [auto_run.pk]
    attempt = Attempt.objects.get(run=auto_run)
    concrete = attempt.concrete_spec
    assert concrete.pipeline.placement is not Placement.AUTO
    assert concrete.lanes.num_rollout + concrete.lanes.num_trainer == 3
    auto_run.refresh_from_db()
    assert auto_run.run_spec.pipeline.placement is Placement.AUTO
    assert auto_run.batch_algebra == concrete.algebra
    roles = [grant.role.value for grant in grants_of(auto_run.pk, 1)]
    assert roles.count("trainer") == concrete.granted_lanes.num_trainer
    assert roles.count("rollout") == concrete.granted_lanes.num_rollout


def test_the_driver_gets_the_concrete_spec(auto_run: Run, cluster: Any) -> None:
    attempt = start_attempt(auto_run)
    assert launch(run_id=auto_run.pk, number=1, gateway=cluster)
    answer = trade_code(cluster.envs[attempt.submission_id][BOOTSTRAP_CODE_VARIABLE])
    assert answer.spec == attempt.concrete_spec
    assert answer.spec.pipeline.placement is not Placement.AUTO


def test_the_plan_says_what_else_there_was(auto_run: Run) -> None:
    start_attempt(auto_run)
    revision = PlanRevision.objects.get(run=auto_run)
    assert (revision.attempt.number, revision.number, revision.since_batch) == (1, 1, 0)
    assert revision.reason == "3 × cpu: the only choice among the free lanes (6 × cpu)"
    made = revision.plan
    best = made["by_mode"][made["mode"]]
    assert best["samples_per_second"] == max(mode["samples_per_second"] for mode in made["by_mode"].values())
    assert 0 < best["bound_share"] <= 1
    assert "colocated" in made["by_mode"]
    assert {point["num_trainer"] for point in made["curves"]["gap"]} <= {1, 2}
    assert (made["devices"], made["costs"]) == (["cpu"], "profile")


def test_a_spec_that_says_how_to_place_needs_no_plan(make_run: Callable[..., Run], make_spec: MakeSpec) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(spec=make_spec(pipeline={"placement": "colocated"}))
    attempt = start_attempt(run)
    assert not PlanRevision.objects.exists()
    assert attempt.concrete_spec == run.run_spec.scoring_on(RewardDevice.CPU), "its lanes have no GPU to share"


def test_costs_measured_on_the_same_work_replace_the_profile(
    auto_run: Run, make_run: Callable[..., Run], make_spec: MakeSpec
) -> None:
    earlier = make_run(spec=make_spec())
    allocate(holder=held_by(earlier.pk, 1), wanted=earlier.run_spec.granted_lanes)
    slow_training = costs({"rollout-0": 0.001, "gang": 5.0, "reward-0": 0.001})
    record_costs(earlier.pk, 1, slow_training)
    chosen = choose(auto_run, {"cpu": 3})
    assert chosen is not None
    assert chosen.plan is not None
    assert (chosen.plan["costs"], chosen.plan["num_batches_measured"]) == ("measured", MIN_BATCHES)
    assert chosen.spec.granted_lanes.num_trainer >= 2, "training was seen to be slow: it gets most lanes"
    elsewhere = choose(auto_run, {"NVIDIA H100 80GB HBM3": 3})
    assert elsewhere is not None
    assert elsewhere.plan is not None
    assert elsewhere.plan["costs"] == "profile"


def test_costs_of_other_work_or_of_too_few_batches_are_not_used(
    make_run: Callable[..., Run], make_spec: MakeSpec
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    earlier = make_run(spec=make_spec())
    allocate(holder=held_by(earlier.pk, 1), wanted=earlier.run_spec.granted_lanes)
    record_costs(earlier.pk, 1, costs({"rollout-0": 1.0}, num_batches=MIN_BATCHES - 1))
    assert not measured_costs(make_spec(), ["cpu"]).tables
    record_costs(earlier.pk, 1, costs({"rollout-0": 2.0}))
    found = measured_costs(make_spec(seed=7, lanes={"num_rollout": 5}, batch=SPLIT), ["cpu", "cpu"])
    assert [known.cost.per_unit for table in found.tables for known in table.values()] == [2.0]
    larger = make_spec(sampling={"height": 64, "width": 64})
    assert workload_of(larger) != workload_of(make_spec())
    assert not measured_costs(larger, ["cpu"]).tables


@pytest.mark.parametrize(
    "changes",
    [
        {"tuning": "full"},
        {"base_model": {"dtype": "bf16"}},
        {"deepspeed": {"config": "zero1"}},
        {"deepspeed": {"config": "zero1_cpuoffload"}},
        {"deepspeed": {"gradient_checkpointing": 1}},
        {"deepspeed": {"offload_idle_states": True}},
        {"performance": {"compilation": "inductor"}},
        {"performance": {"attention": "_native_efficient"}},
        {"pipeline": {"deterministic": True}},
        {"lora": {"rank": 64}},
        {"ema": {"decay": 0.9}},
        {"lanes": {"rewards_on": "own_gpu"}},
        {"algorithm": {"kl_coefficient": 0.1}},
        {"algorithm": {"name": "diffusion_nft"}},
        {"algorithm": {"name": "diffusion_dpo"}},
        {"algorithm": {"name": "reward_flow", "num_gradient_steps": 3}},
        {"batch": {"num_prompts_per_batch": 1, "micro_batch_size": 1}},
    ],
    ids=str,
)
def test_runs_whose_work_costs_otherwise_share_no_costs(make_spec: MakeSpec, changes: dict[str, Any]) -> None:
    assert workload_of(make_spec(**changes)) != workload_of(make_spec())


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 3},
        {"num_batches": 7},
        {"lanes": {"num_rollout": 5}},
        {"optimizer": {"learning_rate": 1e-5}},
        {"pipeline": {"placement": "auto"}},
        {"algorithm": {"clip_range": 0.1}},
        {"ema": {"every_num_optimizer_steps": 3}},
    ],
    ids=str,
)
def test_runs_whose_work_costs_the_same_share_them(make_spec: MakeSpec, changes: dict[str, Any]) -> None:
    assert workload_of(make_spec(**changes)) == workload_of(make_spec())


def test_full_runs_share_costs_whatever_their_lora_section_says(make_spec: MakeSpec) -> None:
    full = {"tuning": "full"}
    assert workload_of(make_spec(**full, lora={"rank": 64})) == workload_of(make_spec(**full))


def test_a_plan_names_the_model_that_stands_in_for_an_unknown_one(make_spec: MakeSpec) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    known, unknown = (
        hypothetical_plan(make_spec()),
        hypothetical_plan(make_spec(base_model={"path": "somebody/unheard-of"})),
    )
    assert (known["stand_in_profile"], unknown["stand_in_profile"]) == (None, "flux.1-12b")


def test_an_attempt_that_goes_on_from_a_checkpoint_keeps_its_choice(auto_run: Run) -> None:
    first = start_attempt(auto_run)
    attempts.close(auto_run.pk, 1, AttemptOutcome.LOST, detail="gone")
    release(run_id=auto_run.pk, attempt=1)
    Run.objects.filter(pk=auto_run.pk).update(resume_from="file:///c", resume_batch=2)
    earlier = costs({"rollout-0": 0.001, "gang": 5.0})
    record_costs(auto_run.pk, 1, earlier)
    auto_run.refresh_from_db()
    second = start_attempt(auto_run)
    before, after = PlanRevision.objects.filter(run=auto_run)
    assert (after.spec, after.plan, after.attempt) == (before.spec, before.plan, second)
    assert (after.number, after.since_batch, after.reason) == (2, 2, "goes on from batch 2 as before")
    assert first.concrete_spec == second.concrete_spec


def test_a_run_that_cannot_be_planned_fails_with_the_planners_reason_and_blocks_nobody(
    auto_run: Run, make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("`devices` must hold `flux`, got cpu: take devices with more memory")

    monkeypatch.setattr("runs.planning.plan_cache.plan", refuse)
    younger = make_run()
    assert dispatch_waiting() == [younger.pk]
    auto_run.refresh_from_db()
    assert auto_run.state == "failed"
    assert auto_run.failure is not None
    assert auto_run.failure["reason"].startswith("`devices` must hold `flux`")
    assert why_waiting([auto_run]) == {}


def test_lanes_that_changed_hands_while_planning_leave_nothing_behind(
    auto_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned_meanwhile(run: Run, free: Any) -> Any:
        """Choose, while another run takes lanes until too few are left."""
        chosen = choose(run, free)
        allocate(holder=held_by(uuid.uuid4(), 1), wanted=LaneSpec(num_rollout=1, num_trainer=1, num_reward=1))
        return chosen

    monkeypatch.setattr("runs.queue.dispatch.choose", planned_meanwhile)
    assert dispatch_waiting() == []
    auto_run.refresh_from_db()
    assert (auto_run.state, auto_run.attempt) == ("queued", 0)
    assert not PlanRevision.objects.exists()


def test_members_read_the_plan_of_the_newest_attempt(auto_run: Run, make_run: Callable[..., Run]) -> None:
    owner = auto_run.project.users.get()
    assert plan_of(owner, auto_run) is None
    start_attempt(auto_run)
    newest = plan_of(owner, auto_run)
    assert newest is not None
    assert (newest["attempt"], newest["revision"], newest["since_batch"]) == (1, 1, 0)
