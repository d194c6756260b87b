"""The `deepspeed` section: a named configuration and checked overrides."""

from typing import Any

import pytest
from pydantic import ValidationError

from worker.contracts.deepspeed import OVERRIDABLE, DeepSpeedSpec, ZeroConfig

BUCKET = "zero_optimization.reduce_bucket_size"


@pytest.mark.parametrize(
    ("config", "stage"),
    [("zero0", 0), ("zero1_cpuoffload", 1), ("zero2", 2), ("zero3", 3), ("zero3_cpuoffload", 3)],
)
def test_the_stage_follows_from_the_configurations_name(config: str, stage: int) -> None:
    spec = DeepSpeedSpec.model_validate({"config": config})
    assert (spec.config.value, spec.zero_stage) == (config, stage)
    assert DeepSpeedSpec.model_validate(spec.model_dump(mode="json")) == spec


def test_overrides_may_be_lines_or_a_mapping_of_any_depth() -> None:
    lines = DeepSpeedSpec(overrides=(f"{BUCKET}=5000",))
    for given in ({BUCKET: 5000}, {"zero_optimization": {"reduce_bucket_size": 5000}}):
        assert DeepSpeedSpec.model_validate({"overrides": given}) == lines
    assert lines.overriding == {BUCKET: 5000}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"config": "zero4"}, "should be 'zero0', 'zero1'"),
        ({"zero_stage": 2}, "zero_stage\n.*not permitted"),
        ({"overrides": ["gradient_clipping=1"]}, "must not set `gradient_clipping`.*follows from `optimizer.max_grad"),
        ({"overrides": {"zero_optimization": {"stage": 2}}}, "must not set `zero_optimization.stage`"),
        ({"overrides": {"bf16": {"enabled": True}}}, "must not set `bf16.enabled`.*follows from `base_model.dtype`"),
        ({"overrides": ["bucket=1"]}, "must name one of .*, got 'bucket'"),
        ({"overrides": [f"{BUCKET}=-1"]}, "a whole number ≥ 0"),
        ({"overrides": [BUCKET]}, "a whole number ≥ 0"),
        ({"overrides": {BUCKET: True}}, "a whole number ≥ 0"),
        ({"overrides": ["wall_clock_breakdown=1"]}, "true or false"),
        ({"overrides": [f"{BUCKET}=1", f"{BUCKET}=2"]}, "must name each path once"),
        ({"overrides": ["zero_optimization.sub_group_size=1"]}, r"must fit `deepspeed.config` \(zero0\)"),
        ({"overrides": ["zero_optimization.offload_param.pin_memory=true"]}, "has no such setting"),
    ],
)
def test_what_tandem_sets_itself_or_does_not_know_is_refused_in_plain_words(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        DeepSpeedSpec.model_validate(settings)


def test_every_overridable_path_can_be_overridden_somewhere() -> None:
    for path, kind in OVERRIDABLE.items():
        line = f"{path}=true" if kind is bool else f"{path}=7"
        assert DeepSpeedSpec(config=ZeroConfig.ZERO3_CPUOFFLOAD, overrides=(line,)).overriding[path] in (True, 7)
