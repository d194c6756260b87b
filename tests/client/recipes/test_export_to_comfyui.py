"""Export to ComfyUI: a LoRA that diffusers could load goes in, one with its strength comes out."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from accounts.models import User
from runs.models import Run
from tandem import TandemError
from tandem.synchronous.client import Client
from tests.client.recipes.pages import read_page
from tests.client.recipes.reader import Reader
from tests.web.gallery.conftest import LORA_PATH
from worker.contracts.adapter_files import AdapterFile, listing_sha256

pytestmark = pytest.mark.django_db
LAYER = "transformer.transformer_blocks.0.attn.to_q"


@pytest.fixture
def trained_run(run: Run, put: Callable[..., Any], report: Callable[..., None], adapter_event: Any) -> Run:
    """`my_run` with a LoRA of rank 2 and alpha 8, as the engine's export stores it."""
    Run.objects.filter(pk=run.pk).update(name="my_run")
    settings = {"transformer.r": 2, "transformer.lora_alpha": 8.0}
    factors = {f"{LAYER}.lora_A.weight": np.ones((2, 3), "f4"), f"{LAYER}.lora_B.weight": np.ones((4, 2), "f4")}
    lora = save(factors, metadata={"format": "pt", "lora_adapter_metadata": json.dumps(settings)})
    put(LORA_PATH, lora, is_valid=False)
    report(adapter_event(LORA_PATH, sha256=hashlib.sha256(lora).hexdigest(), num_bytes=len(lora)))
    return run


def test_the_file_for_comfyui_has_each_layers_alpha(
    trained_run: Run, reader_as: Callable[..., Reader], alice: User
) -> None:
    page, reader = read_page("export_to_comfyui"), reader_as(alice)
    reader.fill_in(page)
    for block in page.pasted:
        reader.paste(block)
        file = reader.folder / "ComfyUI" / "models" / "loras" / "my_run-v2.safetensors"
        stored = load_file(file)
        assert stored.pop(f"{LAYER}.alpha") == 8
        assert {name: each.shape for name, each in stored.items()} == {
            f"{LAYER}.lora_A.weight": (2, 3),
            f"{LAYER}.lora_B.weight": (4, 2),
        }
        file.unlink()


def test_whole_models_are_not_loras(
    run: Run, report: Callable[..., None], adapter_event: Any, client: Client, tmp_path: Path
) -> None:
    digest = hashlib.sha256(b"{}").hexdigest()
    names = ("config.json", "model.safetensors")
    files = tuple(AdapterFile(path=f"transformer/{name}", sha256=digest, num_bytes=2) for name in names)
    listed = {"sha256": listing_sha256(files), "num_bytes": 4, "files": [file.model_dump() for file in files]}
    report(adapter_event("adapters/final", **listed))
    with pytest.raises(TandemError, match="trained all weights: ComfyUI loads LoRAs"):
        client.runs.get(str(run.pk)).download_for_comfyui(tmp_path)
