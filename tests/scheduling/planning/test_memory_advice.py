"""A run whose lanes do not fit in memory is warned of, with numbers and a change that makes it fit."""

from dataclasses import replace
from typing import Any

import pytest

from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.memory import MemoryRole
from worker.scheduling.planning.memory_advice import memory_warnings, tightest_lanes
from worker.scheduling.profiles.hardware import GB, H100, L40S


def spec(path: str = "Qwen/Qwen-Image", **sections: Any) -> RunSpec:
    base: dict[str, Any] = {
        "base_model": {"path": path, "dtype": "bf16"},
        "prompts": {"inline": ["a cat", "a dog"]},
        "rewards": [{"name": "colorfulness"}],
        "lora": {"rank": 64},
        "sampling": {"height": 512, "width": 512},
        "batch": {"num_prompts_per_batch": 2, "group_size": 64, "micro_batch_size": 2, "fragment_size": 1},
        "lanes": {"num_rollout": 4, "num_trainer": 4},
    }
    for name, section in sections.items():
        base[name] = {**base.get(name, {}), **section} if isinstance(section, dict) else section
    return RunSpec.model_validate(base)


def test_a_run_that_fits_is_not_warned_about() -> None:
    assert memory_warnings(spec(), [H100, H100]) == []


@pytest.mark.parametrize(
    ("sections", "remedy"),
    [
        ({"deepspeed": {"gradient_checkpointing": 0}}, "It would fit with `deepspeed.gradient_checkpointing: empty`."),
        ({"batch": {"micro_batch_size": 32}}, "It would fit with `batch.micro_batch_size: 1`."),
    ],
)
def test_a_trainer_lane_that_does_not_fit_is_warned_of_with_a_remedy(sections: dict[str, Any], remedy: str) -> None:
    (warning,) = memory_warnings(spec("black-forest-labs/FLUX.1-dev", **sections), [H100, L40S])
    assert warning.startswith("A trainer lane is predicted to need ")
    assert "and l40s has 48.3 (" in warning and "weights 23.8" in warning
    assert warning.endswith(remedy)


def test_each_role_is_judged_by_its_own_devices() -> None:
    """Its trainer lanes need 54 GB there, its rollout lanes 31."""
    uneven = spec("black-forest-labs/FLUX.1-dev", deepspeed={"gradient_checkpointing": 0})
    assert memory_warnings(uneven, [H100], [L40S]) == []
    (warning,) = memory_warnings(uneven, [L40S], [H100])
    assert warning.startswith("A trainer lane") and "l40s has" in warning


def test_of_several_devices_the_tightest_is_named_which_need_not_be_the_smallest() -> None:
    four = L40S.in_lane_of(4)
    clip = clips(sampling={"height": 720, "width": 1280, "num_frames": 81}, deepspeed={"gradient_checkpointing": 1})
    tightest = {role: device for role, (device, _) in tightest_lanes(clip, [four, H100]).items()}
    assert tightest[MemoryRole.TRAINER] is H100
    warnings = memory_warnings(clip, [replace(four, memory_bytes=16 * GB)])
    assert any("GB on each GPU, and each of 4 × l40s has 16.0 (" in warning for warning in warnings)


def test_a_rollout_lane_that_does_not_fit_is_warned_of_too() -> None:
    rollout, _ = memory_warnings(spec(batch={"fragment_size": 8}, sampling={"height": 2048, "width": 2048}), [L40S])
    assert rollout.startswith("A rollout lane is predicted to need ") and "batch.fragment_size" in rollout


def test_there_is_no_warning_for_models_or_pools_without_a_profile() -> None:
    crowded: dict[str, Any] = {"batch": {"micro_batch_size": 16}}
    assert memory_warnings(spec("somebody/unheard-of", **crowded), [L40S]) == []
    assert memory_warnings(spec(**crowded), []) == []


FULL: dict[str, Any] = {"tuning": "full", "deepspeed": {"config": "zero2"}}


def test_full_tuning_that_does_not_fit_is_warned_of_with_the_hosts_bytes() -> None:
    (warning,) = memory_warnings(spec(**FULL), [H100])
    # 20.4 billion weights: 2 bytes each; 12 bytes of optimizer state each, on 4 ranks; gradients on 4 ranks in a
    # bucket.
    assert "and h100 has 85.5 (optimizer 61.2, weights 40.8, gradients 21.2)" in warning
    assert "`deepspeed.config: zero3_cpuoffload`" in warning or "`deepspeed.config: zero3`" in warning
    assert memory_warnings(spec(**FULL, lanes={"num_rollout": 4, "num_trainer": 16}), [H100]) == []


def test_where_full_tuning_never_fits_lora_is_proposed() -> None:
    huge = spec(**FULL, sampling={"height": 4096, "width": 4096})
    assert any(warning.endswith("or train a LoRA (`tuning: lora`).") for warning in memory_warnings(huge, [L40S]))


def clips(**sections: Any) -> RunSpec:
    return spec(
        "Wan-AI/Wan2.1-T2V-1.3B",
        base_model={"family": "wan"},
        **{"sampling": {"height": 720, "width": 1280, "num_frames": 33}, "lora": {"rank": 16}, **sections},
    )


def test_a_lane_that_only_decoding_is_too_much_for_is_told_of_tiles() -> None:
    smaller = replace(L40S, memory_bytes=24 * GB)
    rollout, *_ = memory_warnings(clips(), [smaller])
    assert "(decoder 19." in rollout
    assert rollout.endswith("It would fit with `sampling.vae_tiling: enabled`, which changes samples slightly.")
    tiled = clips(sampling={"height": 720, "width": 1280, "num_frames": 33, "vae_tiling": "enabled"})
    assert not any("rollout" in warning for warning in memory_warnings(tiled, [smaller]))


def test_tiles_are_not_proposed_where_the_policy_is_what_is_too_large() -> None:
    for warning in memory_warnings(clips(), [replace(L40S, memory_bytes=4 * GB)]):
        assert "vae_tiling" not in warning
