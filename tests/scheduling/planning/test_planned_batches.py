"""The batches that a plan promises are those of its simulation, cut where a run reports its versions."""

from collections import defaultdict
from functools import cache
from itertools import pairwise
from statistics import mean

import pytest

from worker.contracts.names import LaneRole, Placement, TrainerAssist
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec
from worker.scheduling.planning.candidate_simulation import SearchTooLongError
from worker.scheduling.planning.cost_estimates import lane_name, reward_lane_name
from worker.scheduling.planning.planned_batches import PlannedBatches, planned_batches
from worker.scheduling.planning.planner import Plan, plan, with_choice

NUM_LANES = 4


@cache
def planned(max_staleness: int) -> tuple[RunSpec, Plan]:
    asked = RunSpec.model_validate(
        {
            "prompts": {"inline": [f"a red square {number}" for number in range(8)]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 4, "group_size": 8, "micro_batch_size": 8, "fragment_size": 4},
            "pipeline": {"placement": "auto", "max_staleness": max_staleness},
            "lanes": {"num_rollout": 2, "num_trainer": 2, "num_reward": 1},
        }
    )
    made = plan(asked)
    return with_choice(asked, made.best), made


def promised(spec: RunSpec, made: Plan, trainers: tuple[int, ...] = (), **bounds: float) -> PlannedBatches:
    trainers = trainers or made.best.split_result.candidate.trainers
    roles = {
        lane_name(place): LaneRole.TRAINER if place in trainers else LaneRole.ROLLOUT for place in range(NUM_LANES)
    }
    costs = made.request.costs.cost_table(trainers)
    return planned_batches(spec, roles | {reward_lane_name(0): LaneRole.REWARD}, costs, **bounds)


def seconds_of_cycle(found: PlannedBatches) -> float:
    return mean(batch.seconds for batch in found.cycle)


def test_batches_on_policy_take_as_long_as_the_plan_promises() -> None:
    spec, made = planned(0)
    found = promised(spec, made)
    assert found.lead == ()
    assert seconds_of_cycle(found) == pytest.approx(made.best.split_result.batch_seconds, rel=1e-6)


def test_batches_ahead_take_about_as_long_as_promised_once_the_pipeline_is_full() -> None:
    spec, made = planned(1)
    found = promised(spec, made)
    assert len(found.lead) == 2 * spec.pipeline.max_staleness
    assert seconds_of_cycle(found) == pytest.approx(made.best.split_result.batch_seconds, rel=0.05)


@pytest.mark.parametrize("max_staleness", [0, 1])
def test_spans_tile_every_lane_from_a_batchs_beginning_to_its_end(max_staleness: int) -> None:
    found = promised(*planned(max_staleness))
    for batch in (*found.lead, *found.cycle):
        by_lane = defaultdict(list)
        for span in batch.spans:
            by_lane[span.lane].append(span)
        assert len(by_lane) == NUM_LANES + 1
        for spans in by_lane.values():
            assert spans[0].start == 0
            assert spans[-1].end == pytest.approx(batch.seconds)
            for before, after in pairwise(spans):
                assert after.start == pytest.approx(before.end, abs=1e-9)


def test_lending_by_search_ends_where_its_forecasts_take_too_long() -> None:
    spec, made = planned(0)
    searching = PipelineSpec(placement=Placement.DISAGGREGATED, tag=TrainerAssist.SEARCH)
    with pytest.raises(SearchTooLongError):
        promised(spec.model_copy(update={"pipeline": searching}), made, trainers=(0, 1), max_search_size=1.0)
