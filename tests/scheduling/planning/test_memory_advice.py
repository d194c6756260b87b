"""Who starts a run that cannot fit is told so, with numbers and with a way out that does fit."""

from typing import Any

import pytest

from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.profiles.hardware import H100, L40S


def spec(path: str = "Qwen/Qwen-Image", **sections: Any) -> RunSpec:
    base: dict[str, Any] = {
        "base_model": {"path": path, "dtype": "bf16"},
        "prompts": {"inline": ["a cat", "a dog"]},
        "rewards": [{"name": "colorfulness"}],
        "lora": {"rank": 64},
        "sampling": {"height": 512, "width": 512},
        "batch": {"num_prompts_per_batch": 2, "micro_batch_size": 2, "fragment_size": 1},
        "lanes": {"num_rollout": 4, "num_trainer": 4},
    }
    for name, section in sections.items():
        base[name] = {**base.get(name, {}), **section} if isinstance(section, dict) else section
    return RunSpec.model_validate(base)


def test_a_run_that_fits_is_not_warned_about() -> None:
    assert memory_warnings(spec(), [H100, H100]) == []


@pytest.mark.parametrize(
    ("sections", "way_out"),
    [
        ({"deepspeed": {"gradient_checkpointing": 0}}, "It would fit with `deepspeed.gradient_checkpointing: 1`."),
        ({"batch": {"micro_batch_size": 16}}, "`deepspeed.gradient_checkpointing: 1`, `batch.micro_batch_size: 1`."),
    ],
)
def test_a_trainer_lane_that_does_not_fit_is_told_with_a_way_out(sections: dict[str, Any], way_out: str) -> None:
    (warning,) = memory_warnings(spec(**sections), [H100, L40S])
    assert warning.startswith("A trainer lane is predicted to need ")
    assert "and l40s has 48.3 (weights 40.8, " in warning
    assert warning.endswith(way_out)


def test_a_rollout_lane_that_does_not_fit_is_told_too() -> None:
    rollout, _ = memory_warnings(spec(batch={"fragment_size": 8}, sampling={"height": 2048, "width": 2048}), [L40S])
    assert rollout.startswith("A rollout lane is predicted to need ") and "batch.fragment_size" in rollout


def test_nothing_is_said_of_models_or_pools_that_nobody_described() -> None:
    crowded: dict[str, Any] = {"batch": {"micro_batch_size": 16}}
    assert memory_warnings(spec("somebody/unheard-of", **crowded), [L40S]) == []
    assert memory_warnings(spec(**crowded), []) == []


FULL: dict[str, Any] = {"tuning": "full", "deepspeed": {"config": "zero2"}}


def test_all_weights_that_do_not_fit_are_told_with_what_the_hosts_would_hold() -> None:
    (warning,) = memory_warnings(spec(**FULL), [H100])
    # Of 20.4 billion weights: 40.8 GB, a fourth of 12 bytes each, gradients.
    assert "and h100 has 85.5 (optimizer 61.2, weights 40.8, gradients 21.2)" in warning
    assert "`deepspeed.config: zero3_cpuoffload`" in warning or "`deepspeed.config: zero3`" in warning
    assert memory_warnings(spec(**FULL, lanes={"num_rollout": 4, "num_trainer": 16}), [H100]) == []


def test_all_weights_that_fit_nowhere_are_told_of_lora() -> None:
    huge = spec(**FULL, sampling={"height": 4096, "width": 4096})
    assert any(warning.endswith("or train a LoRA (`tuning: lora`).") for warning in memory_warnings(huge, [L40S]))
