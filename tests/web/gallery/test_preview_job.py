"""The preview's job against the real web, with the shipped model: what a user sees when trying a LoRA."""

import hashlib
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from accounts.models import User
from fleet.lane_layout import ensure_local_lanes
from gallery import preview_jobs, previews, storage
from gallery.models import PreviewState
from runs.models import Run
from tests.web.fake_cluster import FakeCluster
from worker.contracts.ingest import BOOTSTRAP_CODE_VARIABLE, PUBLIC_URL_VARIABLE

PATH = "adapters/final/pytorch_lora_weights.safetensors"
MODEL = Path(__file__).resolve().parents[3] / "deploy" / "models" / "shapes"


@pytest.fixture(scope="module")
def lora(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A LoRA that changes every picture."""
    import torch
    from diffusers import FluxPipeline
    from peft import LoraConfig, get_peft_model_state_dict

    pipeline = FluxPipeline.from_pretrained(MODEL)
    torch.manual_seed(0)
    pipeline.transformer.add_adapter(
        LoraConfig(r=4, target_modules=["attn.to_q", "attn.to_v"], init_lora_weights=False)
    )
    folder = tmp_path_factory.mktemp("lora")
    layers = get_peft_model_state_dict(pipeline.transformer)
    pipeline.save_lora_weights(folder, transformer_lora_layers=layers)
    return (folder / "pytorch_lora_weights.safetensors").read_bytes()


@pytest.mark.django_db(transaction=True)
def test_the_job_draws_each_prompt_with_and_without_the_lora(
    lora: bytes,
    run: Run,
    alice: User,
    put: Callable[..., Any],
    report: Callable[..., None],
    adapter_event: Callable[..., dict[str, Any]],
    live_server: Any,
    preview_cluster: FakeCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from worker.engine import preview as preview_job

    put(PATH, lora, is_valid=False)
    report(adapter_event(PATH, sha256=hashlib.sha256(lora).hexdigest(), num_bytes=len(lora)))
    preview = previews.request_preview(
        user=alice, run=run, prompts=["a red square", "a blue circle"], num_samples=1, seed=3
    )

    ensure_local_lanes(num_cpu_lanes=1)
    assert preview_jobs.launch(preview_id=preview.pk, gateway=preview_cluster)
    env = dict(preview_cluster.envs[preview_jobs.job_name(preview.pk)])
    for name, value in (env | {PUBLIC_URL_VARIABLE: live_server.url}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(preview_job, "see_only", lambda device: None)  # this process is not the job's alone
    assert preview_job.main() == 0
    preview.refresh_from_db()
    assert previews.current_state(preview) == (PreviewState.DONE, "")
    pictures = {previews.image_name(image): _pixels(image.storage_key) for image in preview.images.all()}
    assert set(pictures) == {"base-0-0.png", "base-1-0.png", "lora-0-0.png", "lora-1-0.png"}
    assert pictures["base-0-0.png"].shape == (32, 32, 3)
    assert not np.array_equal(pictures["base-0-0.png"], pictures["lora-0-0.png"])
    assert BOOTSTRAP_CODE_VARIABLE not in os.environ


def _pixels(key: str) -> Any:
    return np.asarray(Image.open(BytesIO(storage.open_to_read(key).read())))
