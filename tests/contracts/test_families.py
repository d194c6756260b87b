"""What a model family cannot draw is refused before any weights are read."""

from typing import Any

import pytest

from worker.contracts.families import FAMILY_TRAITS, decodes_in_tiles
from worker.contracts.names import ModelFamily
from worker.contracts.run_spec import RunSpec


def spec(family: str, **sampling: Any) -> RunSpec:
    return RunSpec.model_validate(
        {
            "base_model": {"family": family},
            "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
            "rewards": [{"name": "colorfulness"}],
            "sampling": sampling,
        }
    )


def test_every_family_has_traits() -> None:
    assert set(FAMILY_TRAITS) == set(ModelFamily)


@pytest.mark.parametrize(
    ("family", "sampling", "message"),
    [
        ("qwen_image", {"num_frames": 5}, "`sampling.num_frames` must be 1 for qwen_image, got 5"),
        ("wan", {"num_frames": 8}, "a multiple of 4 plus 1 for wan, got 8: take 5 or 9"),
        ("sd3", {"guidance_scale": 0.5}, "`sampling.guidance_scale` must be ≥ 1 for sd3, got 0.5"),
        ("z_image", {"train_guidance_scale": 0.0}, "`sampling.train_guidance_scale` must be ≥ 1 for z_image, got 0.0"),
        (
            "wan",
            {"guidance_scale": 4.0, "guidance_scale_2": 3.0},
            "`sampling.guidance_scale_2` must be empty for wan, got 3.0: it has no second transformer",
        ),
        (
            "wan22",
            {"guidance_scale": 1.0, "guidance_scale_2": 3.0},
            "`sampling.guidance_scale` must be > 1 where `guidance_scale_2` is given, got 1.0",
        ),
        ("flux", {"negative_prompt": "blurred"}, "`sampling.negative_prompt` must be empty for flux, got 'blurred'"),
    ],
)
def test_what_a_family_cannot_generate_is_refused(family: str, sampling: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec(family, **sampling)


def test_training_uses_the_guidance_of_sampling_unless_the_spec_says_otherwise() -> None:
    assert spec("sd3", guidance_scale=4.5).sampling.training_guidance == 4.5
    assert spec("sd3", guidance_scale=4.5, train_guidance_scale=1.0).sampling.training_guidance == 1.0


def test_the_low_noise_expert_has_a_scale_of_its_own_until_training_names_one_for_both() -> None:
    both = {"guidance_scale": 4.0, "guidance_scale_2": 3.0}
    sampled = spec("wan22", **both).sampling
    assert (sampled.training_guidance, sampled.training_guidance_2) == (4.0, 3.0) and sampled.trains_as_it_samples
    trained = spec("wan22", **both, train_guidance_scale=4.0).sampling
    assert (trained.training_guidance, trained.training_guidance_2) == (4.0, None)
    assert not trained.trains_as_it_samples


def test_decoding_in_tiles_is_the_users_choice_and_by_default_hunyuan_videos_alone() -> None:
    for family in ModelFamily:
        by_setting = {
            setting: decodes_in_tiles(family, spec(family.value, vae_tiling=setting).sampling)
            for setting in ("auto", "enabled", "disabled")
        }
        assert by_setting == {"auto": family is ModelFamily.HUNYUAN_VIDEO, "enabled": True, "disabled": False}
        assert decodes_in_tiles(family, spec(family.value).sampling) is by_setting["auto"]
