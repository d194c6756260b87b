"""Algorithms that train on other things than stored transitions, on real Ray: nothing in the control path minds."""

from collections.abc import Callable
from typing import Any

import pytest
from safetensors.torch import load

from tests.engine.driving import LANE_RESOURCES, Driven, grants
from worker.contracts.run_spec import RunSpec

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]


def spec_of(make_spec: Callable[..., RunSpec], algorithm: dict[str, Any], **sections: Any) -> RunSpec:
    spec = make_spec(
        num_batches=3, rewards=[{"name": "shape_match"}], evaluation={"every_num_batches": None}, **sections
    )
    return RunSpec.model_validate(spec.model_dump() | {"algorithm": algorithm})


@pytest.mark.parametrize(
    ("algorithm", "sections"),
    [
        (
            {"name": "diffusion_nft", "num_noise_levels": 2},
            {"ema": {"decay": 0.5, "every_num_optimizer_steps": 1}, "pipeline": {"max_staleness": 1}},
        ),
        ({"name": "diffusion_dpo", "num_noise_levels": 2}, {"batch": {"fragment_size": 2}}),
        ({"name": "reward_flow", "num_gradient_steps": 2}, {"pipeline": {"placement": "colocated"}}),
        (
            {"name": "diffusion_nft", "num_noise_levels": 3},
            {
                "ema": {"decay": 0.5, "every_num_optimizer_steps": 1},
                "pipeline": {"max_staleness": 1},
                "lanes": {"num_rollout": 1, "num_trainer": 2},
                "deepspeed": {"config": "zero2"},
            },
        ),
        (
            {"name": "diffusion_dpo", "num_noise_levels": 3},
            {"lanes": {"num_rollout": 1, "num_trainer": 2}, "deepspeed": {"config": "zero1"}},
        ),
        (
            {"name": "reward_flow", "num_gradient_steps": 2, "kl_coefficient": 0.1},
            {
                "pipeline": {"placement": "colocated"},
                "lanes": {"num_rollout": 0, "num_trainer": 2},
                "deepspeed": {"config": "zero3"},
            },
        ),
    ],
    ids=[
        "diffusion_nft",
        "diffusion_dpo",
        "reward_flow",
        "diffusion_nft-two-ranks",
        "diffusion_dpo-two-ranks",
        "reward_flow-two-ranks",
    ],
)
def test_a_whole_run_completes_without_a_gate(
    drive: Callable[..., Driven],
    make_spec: Callable[..., RunSpec],
    algorithm: dict[str, Any],
    sections: dict[str, Any],
) -> None:
    spec = spec_of(make_spec, algorithm, **sections)
    lanes = [grant.model_copy(update={"resources": (LANE_RESOURCES[grant.lane],)}) for grant in grants(spec)]
    driven = drive(spec, lanes=lanes)
    assert driven.finish() == 0
    ingest = driven.ingest
    assert driven.states() == ["running", "completed"]
    assert driven.reported_batches() == {1, 2, 3}
    assert ingest.of_type("gate") == []
    losses = [event["values"] for event in ingest.of_type("metrics") if "policy/loss" in event["values"]]
    assert len(losses) == 3 and not any("policy/ratio_mean" in values for values in losses)
    final = next(event for event in ingest.of_type("adapter") if event["final"])
    assert load(ingest.artifacts[final["artifact"]])
