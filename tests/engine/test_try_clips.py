"""A try of a video model: clips of the base model and, from the same seeds, of the LoRA."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.models.proofs import loaded, with_trained_lora
from worker.contracts.names import ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.contracts.tries import TryJob
from worker.engine import try_prompts
from worker.engine.models.lora import lora_parameters
from worker.tiny_models.registry import build_tiny_checkpoint


@pytest.mark.parametrize(("num_frames", "ending", "shape"), [(9, "webm", (9, 32, 32, 3)), (1, "png", (32, 32, 3))])
def test_clips_are_drawn_with_both_experts_adapters_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_frames: int, ending: str, shape: tuple[int, ...]
) -> None:
    path = str(build_tiny_checkpoint(ModelFamily.WAN22, tmp_path))
    model = with_trained_lora(loaded(ModelFamily.WAN22, path))
    model.save_lora(str(tmp_path), lora_parameters(model.transformer))
    job = TryJob(
        id="1",
        token="t",
        base_model_path=path,
        family=ModelFamily.WAN22,
        dtype="fp32",
        device="cpu",
        sampling=SamplingSpec(num_eval_denoising_steps=2, num_frames=num_frames, guidance_scale=2.0),
        adapter_sha256="",
        prompts=("a red square",),
        num_samples=1,
        seed=0,
    )
    monkeypatch.setattr(try_prompts, "see_only", lambda device: None)  # this process is not the job's alone
    lora_file = (tmp_path / try_prompts.WEIGHT_NAME).read_bytes()
    drawn = {str(name): sample for name, sample in try_prompts.draw(job, lora_file)}
    assert set(drawn) == {f"base-0-0.{ending}", f"lora-0-0.{ending}"}
    base, lora = drawn.values()
    assert base.shape == lora.shape == shape and base.dtype == np.uint8
    assert not np.array_equal(base, lora)
