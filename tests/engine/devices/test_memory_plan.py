"""What a lane reports of the plan when its device has no memory left."""

from collections.abc import Callable

import pytest

from worker.contracts.run_spec import RunSpec
from worker.engine.devices import smaller_calls
from worker.engine.devices.smaller_calls import MemoryPlan
from worker.engine.reward.networks import memory_plan
from worker.engine.reward.scored_run import ScoredRun
from worker.scheduling.planning.memory import MemoryRole

FLUX = {"path": "black-forest-labs/FLUX.1-dev", "family": "flux", "dtype": "bf16"}


def test_the_plans_figures_are_those_of_one_gpu_of_the_lane(
    make_spec: Callable[..., RunSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPUs of a lane divide its passes, and are ranks that divide the optimizer's state."""
    monkeypatch.setattr(smaller_calls, "_capacity_bytes", lambda: 80e9)
    spec = make_spec(
        base_model=FLUX,
        tuning="full",
        lanes={"num_trainer": 2},
        sampling={"height": 1024, "width": 1024},
        batch={"micro_batch_size": 8},
        deepspeed={"config": "zero1", "gradient_checkpointing": 0},
    )
    alone, of_four = (
        MemoryPlan(spec, MemoryRole.TRAINER, num_gpus=number).shortage("train", "", "").planned_bytes
        for number in (1, 4)
    )
    assert alone["activations"] > 0
    assert of_four["activations"] == pytest.approx(alone["activations"] / 4)
    assert of_four["optimizer"] == pytest.approx(alone["optimizer"] / 4)
    assert of_four["weights"] == alone["weights"], "ZeRO 1 keeps them whole on each rank"


@pytest.mark.parametrize("context_parallel", ["ulysses", "off"])
def test_a_lane_that_computes_on_its_first_gpu_has_the_figures_of_one(
    make_spec: Callable[..., RunSpec], monkeypatch: pytest.MonkeyPatch, context_parallel: str
) -> None:
    monkeypatch.setattr(smaller_calls, "_capacity_bytes", lambda: 80e9)
    spec = make_spec(base_model=FLUX, performance={"context_parallel": context_parallel})
    alone, of_four = (
        MemoryPlan(spec, MemoryRole.ROLLOUT, num_gpus=number).shortage("generate", "", "").planned_bytes
        for number in (1, 4)
    )
    assert (of_four["activations"] < alone["activations"]) == (context_parallel == "ulysses")


def test_a_scorer_that_shares_a_card_of_a_wide_lane_has_that_lanes_figures(
    make_spec: Callable[..., RunSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smaller_calls, "_capacity_bytes", lambda: 80e9)
    spec = make_spec(base_model=FLUX, rewards=[{"name": "pick_score"}], lanes={"rewards_on": "shared_gpu"})
    of_scorer, of_lane, of_one = (
        plan.shortage("score", "", "").planned_bytes
        for plan in (
            memory_plan(ScoredRun(spec, num_gpus=4)),
            MemoryPlan(spec, MemoryRole.ROLLOUT, num_gpus=4),
            memory_plan(ScoredRun(spec)),
        )
    )
    assert of_scorer == of_lane and of_lane["scorers"] > 0
    assert of_one["activations"] == pytest.approx(4 * of_lane["activations"])
