"""What decides the bits of an embedding beside the text: the name under which a node's store keeps it."""

import hashlib
import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import torch
from huggingface_hub import hf_hub_download

from worker.contracts.sections import BaseModelSpec
from worker.engine.devices.selection import device_kind
from worker.engine.models.checkpoint_folder import INDEX

_FORMAT = 1
"""Raised where embeddings of the same name would be other ones, or stored otherwise."""
_LIBRARIES = ("torch", "diffusers", "transformers", "tokenizers")
_PARTS = ("text_encoder*", "tokenizer*")
"""The components of a checkpoint that prompts pass through."""
MAX_DIGITS = 32
"""Of the digest, which names a folder: two of a million have the same with a probability below 1e-26."""


def encoder_identity(
    spec: BaseModelSpec, base_model_path: str, *, device: torch.device, max_sequence_length: int | None
) -> str:
    """A digest of checkpoint, precision, longest prompt, kind of device and versions of the libraries."""
    known = {
        "format": _FORMAT,
        "family": spec.family,
        "dtype": spec.dtype,
        "max_sequence_length": max_sequence_length,
        "device": device_kind(device),
        "machine": os.uname().machine,
        "libraries": {name: version(name) for name in _LIBRARIES},
        "checkpoint": _checkpoint(base_model_path),
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:MAX_DIGITS]


def _checkpoint(path: str) -> list[str]:
    folder = Path(path)
    if folder.is_dir():
        return [str(folder.resolve()), *_files(folder)]
    # A hub id: the folder of the cache is named by the commit, which stands for every file.
    return [path, Path(hf_hub_download(path, INDEX)).parent.name]


def _files(folder: Path) -> Iterator[str]:
    """Every file that prompts pass through, with its size and the time of its last change, which nothing can set."""
    for part in (INDEX, *_PARTS):
        for found in sorted(folder.glob(part)):
            for file in sorted(found.rglob("*")) if found.is_dir() else [found]:
                seen = file.stat()
                yield f"{file.relative_to(folder)} {seen.st_size} {seen.st_ctime_ns}"
