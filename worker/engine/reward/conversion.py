"""What the converters of published scorers share: each turns one pickled file into a folder that its reward loads.

The file is read as tensors alone, once, and never by a run.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, PreTrainedModel
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

Convert = Callable[[Any], PreTrainedModel]
"""What the file holds → the network, whose vision configuration tells the size of its pictures."""


def num_layers(tensors: Mapping[str, torch.Tensor], prefix: str) -> int:
    """Of a tower whose layers are numbered behind `prefix`."""
    return 1 + max(int(name[len(prefix) :].split(".")[0]) for name in tensors if name.startswith(prefix))


def convert_file(convert: Convert, *, scorer: str, files: str, tokenizer: str) -> None:
    """The command line of a converter.

    Args:
        convert: the scorer's own.
        scorer: the reward's name.
        files: what the published files are called.
        tokenizer: of the scorer's text, by hub id.
    """
    parser = argparse.ArgumentParser(description=f"Convert a published file for the reward {scorer}.")
    parser.add_argument("file", type=Path, help=files)
    parser.add_argument("folder", type=Path, help="below a folder of TANDEM_MODEL_ROOTS")
    parser.add_argument("--tokenizer", default=tokenizer, help="hub id or folder")
    asked = parser.parse_args()
    network = convert(torch.load(asked.file, map_location="cpu", weights_only=True))
    side = network.config.vision_config.image_size
    network.save_pretrained(asked.folder)
    AutoTokenizer.from_pretrained(asked.tokenizer).save_pretrained(asked.folder)
    CLIPImageProcessorPil(size={"shortest_edge": side}, crop_size={"height": side, "width": side}).save_pretrained(
        asked.folder
    )
    print(f"written to {asked.folder}")
