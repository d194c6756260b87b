"""The command of a training script of diffusers becomes the beginning of a spec; what has no place in it is listed."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.imports.diffusers_arguments import import_diffusers
from catalog.imports.imported import Import, ImportRefused
from catalog.imports.training_arguments import read_arguments
from worker.contracts.run_spec import RunSpec

COMMAND = r"""
# From diffusers' README of DreamBooth with FLUX.1.
export MODEL_NAME="black-forest-labs/FLUX.1-dev"
export INSTANCE_DIR="dog"
accelerate launch --num_processes=2 train_dreambooth_lora_flux.py \
  --pretrained_model_name_or_path=$MODEL_NAME  \
  --instance_data_dir=${INSTANCE_DIR} \
  --output_dir="trained-flux-lora" \
  --mixed_precision="bf16" \
  --instance_prompt="a photo of sks dog" \
  --resolution=512 --train_batch_size=1 --guidance_scale 1 \
  --optimizer="prodigy" --learning_rate=1e-4 \
  --lr_scheduler="cosine" --lr_warmup_steps=0 \
  --max_train_steps=500 --rank=8 --lora_layers "attn.to_k,attn.to_q" \
  --validation_prompt="A photo of sks dog in a bucket" --num_validation_images=2 \
  --seed="0" --gradient_checkpointing --brand_new_option 1 2
"""
TO_COMPLETE = {"prompts": {"inline": ["a", "b", "c", "d", "e", "f", "g", "h"]}, "rewards": [{"name": "aesthetic"}]}


def completed(found: Import) -> RunSpec:
    return RunSpec.model_validate({**found.document, **TO_COMPLETE})


def test_a_command_becomes_a_spec_that_needs_prompts_and_rewards_alone() -> None:
    spec = completed(import_diffusers(COMMAND))
    assert (spec.base_model.path, spec.base_model.family) == ("black-forest-labs/FLUX.1-dev", "flux")
    assert (spec.base_model.dtype, spec.tuning, spec.seed) == ("bf16", "lora", 0)
    assert (spec.lora.rank, spec.lora.alpha, spec.lora.targets) == (8, 8.0, ("attn.to_k", "attn.to_q"))
    assert (spec.sampling.height, spec.sampling.width, spec.sampling.guidance_scale) == (512, 512, 1.0)
    assert (spec.optimizer.learning_rate, spec.batch.micro_batch_size) == (1e-4, 1)
    assert [prompt.text for prompt in spec.evaluation.prompts] == ["A photo of sks dog in a bucket"]
    assert spec.evaluation.num_samples_per_prompt == 2


def test_what_has_no_place_is_listed_with_its_reason() -> None:
    left = {one.source: (one.value, one.why) for one in import_diffusers(COMMAND).left_out}
    assert left.keys() == {
        *("instance_data_dir", "instance_prompt", "optimizer", "lr_scheduler", "max_train_steps", "brand_new_option")
    }
    assert left["instance_data_dir"][0] == "dog"
    assert "prompts" in left["instance_data_dir"][1]
    assert left["brand_new_option"] == ([1, 2], "no setting of a run corresponds to it")


def test_the_arguments_that_a_tracker_kept_are_read_as_the_command_is() -> None:
    settings, script = read_arguments(COMMAND)
    assert script == "train_dreambooth_lora_flux.py"
    for text in (json.dumps(settings), "\n".join(f"{name}: {json.dumps(value)}" for name, value in settings.items())):
        found = import_diffusers(text)
        assert found.document == import_diffusers(COMMAND).document
    hparams = "rank: 4\nlora_alpha: 16\nlearning_rate: 1e-4\nmax_train_samples: null\nscale_lr: false\n"
    found = import_diffusers(hparams + "pretrained_model_name_or_path: stabilityai/stable-diffusion-3.5-medium\n")
    assert found.left_out == []
    assert (found.document["lora"], found.document["optimizer"]) == (
        {"rank": 4, "alpha": 16},
        {"learning_rate": 1e-4},
    )


def test_options_at_their_defaults_are_not_told_of() -> None:
    """As a tracker keeps them, whether or not they were given."""
    kept = {
        **{
            "lr_scheduler": "constant",
            "lr_warmup_steps": 500,
            "lr_power": 1.0,
            "optimizer": "AdamW",
            "hub_token": None,
        },
        **{
            "train_text_encoder": False,
            "text_encoder_lr": 5e-6,
            "prodigy_decouple": True,
            "with_prior_preservation": False,
        },
        **{"prior_loss_weight": 1.0, "num_class_images": 100, "class_prompt": None, "center_crop": False},
    }
    (left,) = import_diffusers(json.dumps(kept)).left_out
    assert left.source == "pretrained_model_name_or_path"


def test_a_script_without_a_lora_trains_all_weights() -> None:
    command = "accelerate launch train_dreambooth_sd3.py --pretrained_model_name_or_path=stable-diffusion-3-medium"
    assert import_diffusers(command).document["tuning"] == "full"


def test_variables_in_each_other_are_not_put_together_without_end() -> None:
    doubled = " ".join(f"v{number + 1}=$v{number}$v{number}" for number in range(60))
    settings, _ = read_arguments(f"v0=long {doubled} train.py --name=$v60")
    assert len(settings["name"]) < 1000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- a\n- b", "neither a command"),
        ("just words", "neither a command"),
        ("train.py --prompt='a dog", "no command that can be read"),
        ("a: [", "line"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, why: str) -> None:
    with pytest.raises(ImportRefused, match=why):
        import_diffusers(text)


NAMES = st.sampled_from(
    ["rank", "resolution", "seed", "optimizer", "lora_layers", "validation_prompt", "new", "height"]
)
WORDS = (
    st.text(max_size=8) | st.integers() | st.floats() | st.booleans() | st.none() | st.lists(st.integers(), max_size=2)
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(NAMES, WORDS, max_size=6))
def test_values_of_any_kind_are_carried_as_json_or_left_out(values: dict[str, Any]) -> None:
    for text in (json.dumps(values), " ".join(f"--{name} {value}" for name, value in values.items())):
        with suppress(ImportRefused):
            found = import_diffusers(text)
            left = [(one.source, one.value, one.why) for one in found.left_out]
            json.dumps([found.document, left], allow_nan=False)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ImportRefused):
        import_diffusers(text)
        import_diffusers(f"train.py --rank {text}")
