"""Plans that a run adopts while it works: what its driver gets for that, and what is kept of what it reports."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane
from fleet.selectors import devices_of
from fleet.services import release
from runs.attempts import attempts
from runs.attempts.bootstrap import trade_code
from runs.attempts.launch import launch
from runs.models import AttemptOutcome, PlanRevision, Run
from runs.planning.auto_placement import choose
from runs.queue.dispatch import start_attempt
from runs.reports.driver_reports import apply_event
from runs.selectors import plan_of, plan_steps
from worker.contracts.events import PlanEvent
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE
from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec

pytestmark = pytest.mark.django_db
AUTO = {"pipeline": {"placement": "auto"}, "lanes": {"num_rollout": 2, "num_trainer": 2, "num_reward": 1}}


@pytest.fixture
def auto_run(make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]) -> Run:
    ensure_local_lanes(num_cpu_lanes=6)
    return make_run(spec=make_spec(**AUTO))


def answer_of(run: Run, cluster: Any) -> Any:
    attempt = start_attempt(run)
    assert launch(run_id=run.pk, number=1, gateway=cluster)
    return trade_code(cluster.envs[attempt.submission_id][BOOTSTRAP_CODE_VARIABLE])


def adopted(roles: dict[str, LaneRole], batch: int = 3) -> PlanEvent:
    pipeline = {"placement": "disaggregated", "gap": True, "tsp": True, "tag": "greedy"}
    return PlanEvent.model_validate(
        {
            "seq": 1,
            "at": 0.0,
            "batch": batch,
            "reason": "training takes longer than planned",
            "pipeline": pipeline,
            "fragment_size": 2,
            "lanes": roles,
            "seconds_before": 12.0,
            "batch_seconds": 10.0,
            "bound_seconds": 9.0,
            "predicted_move_seconds": 60.0,
            "move_seconds": 66.0,
        }
    )


def roles_of(answer: Any, num_trainer: int) -> dict[str, LaneRole]:
    """The lanes with so many of those that generate or train, the last ones, as trainers."""
    names = [grant.lane for grant in answer.lanes if grant.role is not LaneRole.REWARD]
    roles = {lane: LaneRole.TRAINER if lane in names[-num_trainer:] else LaneRole.ROLLOUT for lane in names}
    return roles | {grant.lane: grant.role for grant in answer.lanes if grant.role is LaneRole.REWARD}


def test_the_driver_of_a_run_on_auto_gets_what_its_plan_was_made_from(auto_run: Run, cluster: Any) -> None:
    answer = answer_of(auto_run, cluster)
    assert answer.replan.asked.pipeline.placement is Placement.AUTO
    split = {grant.lane for grant in answer.lanes if grant.role is not LaneRole.REWARD}
    assert set(answer.replan.devices) == split
    assert set(answer.replan.devices.values()) == {"cpu"}


def test_a_run_whose_user_chose_placement_does_not_replan(
    make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], cluster: Any
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    assert answer_of(make_run(spec=make_spec()), cluster).replan is None


def test_a_reported_plan_is_appended_and_used_by_later_attempts(auto_run: Run, cluster: Any) -> None:
    answer = answer_of(auto_run, cluster)
    apply_event(auto_run.pk, 1, adopted(roles_of(answer, num_trainer=3)))
    first, second = PlanRevision.objects.filter(run=auto_run)
    assert (second.number, second.since_batch, second.attempt) == (2, 3, first.attempt)
    spec = RunSpec.model_validate(second.spec)
    assert (spec.lanes.num_rollout, spec.lanes.num_trainer) == (1, 3)
    assert spec.pipeline.tag is TrainerAssist.GREEDY
    assert len(second.plan["trainers"]) == 3
    assert second.spec["batch"] == first.spec["batch"] | {"fragment_size": 2}
    auto_run.refresh_from_db()
    assert auto_run.batch_algebra == spec.algebra


def test_the_run_page_shows_every_plan_with_its_promise(auto_run: Run, cluster: Any) -> None:
    answer = answer_of(auto_run, cluster)
    estimated = PlanRevision.objects.get(run=auto_run)
    for choice in estimated.plan["by_mode"].values():
        choice["is_simulated"] = False
    estimated.save()
    apply_event(auto_run.pk, 1, adopted(roles_of(answer, num_trainer=3)))
    owner = auto_run.project.users.get()
    first, second = plan_steps(owner, auto_run)
    assert first["promise"] is None
    assert (second["num_rollout"], second["num_trainer"], second["batch_seconds"]) == (1, 3, 10.0)
    assert second["promise"] == {"seconds_before": 12.0, "predicted_move_seconds": 60.0, "move_seconds": 66.0}
    newest = plan_of(owner, auto_run)
    assert newest is not None
    assert (newest["revision"], newest["mode"], list(newest["by_mode"])) == (2, "tag", ["tag"])
    assert newest["by_mode"]["tag"]["fragment_size"] == 2
    assert newest["by_mode"]["tag"]["is_simulated"]
    assert newest["by_mode"]["tag"]["bound_share"] == pytest.approx(0.9)
    assert newest["reason"] == "training takes longer than planned"


def test_a_plan_of_another_mode_shows_the_memory_that_the_first_plan_gave_for_it(auto_run: Run, cluster: Any) -> None:
    answer = answer_of(auto_run, cluster)
    first = PlanRevision.objects.get(run=auto_run)
    for number, mode in enumerate(first.plan["by_mode"]):
        first.plan["by_mode"][mode]["memory_bytes"] = {"trainer": float(number)}
    first.save()
    modes = list(first.plan["by_mode"])
    colocated = adopted(roles_of(answer, num_trainer=4), batch=6)
    to_colocated = colocated.model_copy(update={"pipeline": PipelineSpec(placement=Placement.COLOCATED)})
    for event in (adopted(roles_of(answer, num_trainer=3)), to_colocated, adopted(roles_of(answer, 3), batch=9)):
        apply_event(auto_run.pk, 1, event)
        newest = PlanRevision.objects.filter(run=auto_run).latest("number")
        (choice,) = newest.plan["by_mode"].values()
        assert choice["memory_bytes"] == {"trainer": float(modes.index(newest.plan["mode"]))}
        assert RunSpec.model_validate(newest.spec).pipeline == event.pipeline


def test_an_attempt_that_goes_on_by_the_newest_plan_has_made_no_promise_of_its_own(auto_run: Run, cluster: Any) -> None:
    answer = answer_of(auto_run, cluster)
    apply_event(auto_run.pk, 1, adopted(roles_of(answer, num_trainer=3)))
    attempts.close(auto_run.pk, 1, AttemptOutcome.LOST, detail="no heartbeat")
    auto_run.resume_from, auto_run.resume_batch = "a checkpoint", 7
    kept = choose(auto_run, Counter(devices_of(auto_run.pk, 1)))
    assert kept is not None
    attempts.mint(auto_run, 2, kept)
    *_, changed, resumed = plan_steps(auto_run.project.users.get(), auto_run)
    assert (resumed["num_trainer"], resumed["since_batch"]) == (changed["num_trainer"], 7) == (3, 7)
    assert changed["promise"] is not None and resumed["promise"] is None


def test_a_lane_that_a_plan_made_a_trainer_trains_in_later_attempts(auto_run: Run, cluster: Any) -> None:
    """The pool's first lane: in the next attempt it is `trainer-0`, which stands after the rollout lanes by name."""
    answer_of(auto_run, cluster)
    for attempt in (1, 2):
        lanes = Lane.objects.filter(run_id=auto_run.pk).exclude(role=LaneRole.REWARD).order_by("index")
        first, *others = [lane.name_in_run for lane in lanes]
        apply_event(
            auto_run.pk, attempt, adopted({first: LaneRole.TRAINER} | dict.fromkeys(others, LaneRole.ROLLOUT), attempt)
        )
        attempts.close(auto_run.pk, attempt, AttemptOutcome.LOST, detail="no heartbeat")
        release(run_id=auto_run.pk, attempt=attempt)
        Run.objects.filter(pk=auto_run.pk).update(resume_from="a checkpoint", resume_batch=attempt)
        auto_run.refresh_from_db()
        start_attempt(auto_run)
        assert [lane.role for lane in lanes.all()] == [LaneRole.TRAINER] + [LaneRole.ROLLOUT] * len(others)


def test_a_plan_of_a_run_without_one_changes_nothing(
    make_run: Callable[..., Run], make_spec: Callable[..., RunSpec], cluster: Any
) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    run = make_run(spec=make_spec())
    answer = answer_of(run, cluster)
    apply_event(run.pk, 1, adopted(roles_of(answer, num_trainer=1)))
    assert not PlanRevision.objects.exists()
