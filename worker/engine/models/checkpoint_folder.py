"""The folder that a base model's transformers are read from: the one that a run names, or the node's copy of a hub id.

Wherever Tandem reads weights itself, streamed to a device or into shards, it looks here.
"""

from pathlib import Path

from huggingface_hub import snapshot_download

INDEX = "model_index.json"
"""diffusers' list of a pipeline's components."""
_FILES = (INDEX, "transformer*/*.json", "transformer*/*.safetensors")
"""Configs, indexes and weights; a repository may hold pickled copies of the weights beside them."""


def checkpoint_folder(path: str) -> Path:
    """The folder of the checkpoint at `path`, a folder in diffusers layout or a hub id.

    What the node's cache lacks of a hub id's transformers is downloaded: by the first of its lanes, the others wait for
    that. Where the hub cannot be reached, the folder is the cached one, which may lack files.

    Raises:
        OSError: from the hub's client, where it has no such repository and the cache has none either.
    """
    folder = Path(path)
    return folder if folder.is_dir() else Path(snapshot_download(path, allow_patterns=list(_FILES)))
