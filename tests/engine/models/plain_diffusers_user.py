"""A user of exported LoRAs, as a process of its own that knows diffusers and nothing of this project:
`python -m tests.engine.models.plain_diffusers_user FOLDER`.

Draws what each `FOLDER/<name>/task.pt` says in the pipeline as published, with the file beside it, and leaves the
clean latents as `drawn.pt` there.
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
        seen: list[torch.Tensor] = []

        def look(_: Any, __: int, ___: Any, tensors: dict[str, Any], seen: list[torch.Tensor] = seen) -> dict[str, Any]:
            seen.append(tensors["latents"].clone())
            return tensors

        pipeline(**task["call"], latents=task["noise"], output_type="pil", callback_on_step_end=look)
        torch.save(seen[-1], file.parent / "drawn.pt")
    assert not any(name.startswith("worker") for name in sys.modules), "a plain user has no engine"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
