"""A node's cache of the hub, laid out as its client does, that no network is asked for."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def cached_on_hub(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, *, hub_id: str = "org/name") -> str:
    """The hub id under which `cache` holds a copy of `folder`, from now on the only cache of an offline client."""
    stored = cache / f"models--{hub_id.replace('/', '--')}"
    shutil.copytree(folder, stored / "snapshots" / COMMIT)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return hub_id
