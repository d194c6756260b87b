"""Plain diffusers, in another process, draws bitwise what the run drew with the exported LoRA."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from diffusers import DiffusionPipeline, FlowMatchEulerDiscreteScheduler

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import (
    IN_ONE_PASS,
    NUM_SAMPLES,
    PROMPT,
    draw_with_adapter,
    load_family,
    pipeline_noise,
    rounding_of,
    sampling_of,
    with_random_lora,
)
from tests.engine.rank_processes import selected_cases
from tests.slow_params import slow_but
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, ModelFamily
from worker.engine.models.lora import lora_parameters

WITH_UNIPC = {ModelFamily.WAN, ModelFamily.WAN22}
QUICK = (ModelFamily.FLUX, ModelFamily.QWEN_IMAGE, ModelFamily.WAN)
"""Embedded guidance, true guidance of pictures, and clips."""


def export(family: ModelFamily, checkpoint: str, folder: Path) -> torch.Tensor:
    """Save a LoRA and a task for `plain_diffusers_user` in `folder`; returns the clean latents drawn by the adapter."""
    traits, path = FAMILY_TRAITS[family], checkpoint
    if family in WITH_UNIPC:
        pipeline, path = DiffusionPipeline.from_pretrained(checkpoint), str(folder / "euler")
        pipeline.scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
        pipeline.save_pretrained(path)
    model = with_random_lora(load_family(family, path))
    scale = 3.0 if traits.guidance is not GuidanceKind.NONE else 1.0
    clip = {"num_frames": 9} if traits.makes_clips else {}
    sampling = sampling_of(family, guidance_scale=scale, batched_cfg=family in IN_ONE_PASS, **clip)
    model.save_lora(str(folder), lora_parameters(model.transformer))
    call = {
        "prompt": PROMPT,
        "height": sampling.height,
        "width": sampling.width,
        "num_inference_steps": sampling.num_eval_denoising_steps,
        "num_videos_per_prompt" if traits.makes_clips else "num_images_per_prompt": NUM_SAMPLES,
        **model.pipeline_arguments(model._pipeline, sampling),
    }
    noise = pipeline_noise(model, sampling)
    task = {"path": path, "call": call, "noise": noise, "num_threads": torch.get_num_threads()}
    torch.save(task, folder / "task.pt")
    return draw_with_adapter(model, sampling).latents


@pytest.fixture(scope="module")
def drawn(
    request: pytest.FixtureRequest, checkpoint_of: CheckpointOf, tmp_path_factory: pytest.TempPathFactory
) -> dict[ModelFamily, tuple[torch.Tensor, torch.Tensor]]:
    """The clean latents of each family: drawn by the adapter, and by the user."""
    folder = tmp_path_factory.mktemp("exports")
    ours: dict[ModelFamily, torch.Tensor] = {}
    for family in selected_cases(request, "family"):
        (folder / family).mkdir()
        ours[family] = export(family, checkpoint_of(family), folder / family)
    command = [sys.executable, "-m", "tests.engine.models.plain_diffusers_user", str(folder)]
    subprocess.run(command, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, timeout=300)
    return {family: (latents, torch.load(folder / family / "drawn.pt")) for family, latents in ours.items()}


@pytest.mark.parametrize("family", slow_but(QUICK, FAMILY_TRAITS))
def test_a_user_of_the_exported_lora_draws_what_the_run_drew(
    drawn: dict[ModelFamily, tuple[torch.Tensor, torch.Tensor]], family: ModelFamily
) -> None:
    ours, theirs = drawn[family]
    torch.testing.assert_close(ours, theirs, rtol=0, atol=rounding_of(family))
