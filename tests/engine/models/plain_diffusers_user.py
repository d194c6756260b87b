"""A user of exported LoRAs: a process of its own that imports diffusers and nothing of this project,
`python -m tests.engine.models.plain_diffusers_user FOLDER`.

For each `FOLDER/<name>/task.pt` it calls the published pipeline with the LoRA file beside the task, and saves the clean
latents there as `drawn.pt`.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from diffusers import DiffusionPipeline

LORA_FILE = "pytorch_lora_weights.safetensors"


def main(folder: Path) -> None:
    for file in sorted(folder.glob("*/task.pt")):
        task = torch.load(file, weights_only=True)
        torch.set_num_threads(task["num_threads"])
        pipeline = DiffusionPipeline.from_pretrained(task["path"])
        pipeline.set_progress_bar_config(disable=True)
        pipeline.load_lora_weights(str(file.parent), weight_name=LORA_FILE)
        if getattr(pipeline, "transformer_2", None) is not None:
            pipeline.transformer_2.load_lora_adapter(file.parent, weight_name=LORA_FILE, prefix="transformer_2")
        steps: list[torch.Tensor] = []

        def record(
            _: Any, __: int, ___: Any, tensors: dict[str, Any], to: list[torch.Tensor] = steps
        ) -> dict[str, Any]:
            to.append(tensors["latents"].clone())
            return tensors

        pipeline(**task["call"], latents=task["noise"], output_type="pil", callback_on_step_end=record)
        torch.save(steps[-1], file.parent / "drawn.pt")
    assert not any(name.startswith("worker") for name in sys.modules), "a user of diffusers does not have this project"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
