"""The command line of converters: each turns one published, pickled file of a scorer into a folder that its reward
loads.

Invariant: the file is read with `weights_only`, so that no code in it runs, and never by a run.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, PreTrainedModel
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

Convert = Callable[[Any], PreTrainedModel]
"""From the content of the file to the network, whose configuration holds the size of its pictures."""


def num_layers(tensors: Mapping[str, torch.Tensor], prefix: str) -> int:
    """The number of layers of a tower, whose tensors are named `<prefix><layer>.…`."""
    return 1 + max(int(name[len(prefix) :].split(".")[0]) for name in tensors if name.startswith(prefix))


def convert_file(convert: Convert, *, scorer: str, files: str, tokenizer: str) -> None:
    """Convert the file that is named on the command line.

    Args:
        convert: converts the file's content.
        scorer: the reward's name.
        files: the names of the published files, for the help.
        tokenizer: hub id of the tokenizer that is used by default.
    """
    parser = argparse.ArgumentParser(description=f"Convert a published file for the reward {scorer}.")
    parser.add_argument("file", type=Path, help=files)
    parser.add_argument("folder", type=Path, help="below a folder of TANDEM_MODEL_ROOTS")
    parser.add_argument("--tokenizer", default=tokenizer, help="hub id or folder")
    arguments = parser.parse_args()
    network = convert(torch.load(arguments.file, map_location="cpu", weights_only=True))
    side = network.config.vision_config.image_size
    network.save_pretrained(arguments.folder)
    AutoTokenizer.from_pretrained(arguments.tokenizer).save_pretrained(arguments.folder)
    CLIPImageProcessorPil(size={"shortest_edge": side}, crop_size={"height": side, "width": side}).save_pretrained(
        arguments.folder
    )
    print(f"written to {arguments.folder}")
