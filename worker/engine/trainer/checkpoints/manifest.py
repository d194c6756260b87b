"""The manifest of a checkpoint: which file holds which fragment, and the checksum of every file and of itself."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from worker.engine.errors import CheckpointDamagedError, CheckpointError

MANIFEST = "manifest.json"
"""The file that is written last: without it a checkpoint does not exist."""
FORMAT = 5
"""The version of the layout and of the names in it; any other is refused."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoredFile(_Entry):
    """One file of a checkpoint."""

    num_bytes: int
    sha256: str
    """The sha256 of the file's bytes."""
    fragments: dict[str, tuple[int, int]] = {}
    """The fragments that a safetensors file holds as flat tensors: `<quantity>/<parameter>` → (index of the first
    element in the flattened parameter, number of elements)."""


class StoredVersion(_Entry):
    """The older version that the next batch had begun on."""

    policy_version: int
    files: tuple[str, ...]
    """The files of its shards, in order."""
    sha256: tuple[str, ...]
    """The checksum of each shard's tensors, as it was published."""


class Manifest(_Entry):
    """What a checkpoint holds."""

    format: int = FORMAT
    world_size: int
    """The number of trainer ranks that wrote it."""
    zero_stage: int
    """The ZeRO stage that wrote it."""
    folder: str
    """The folder of its files, relative to the checkpoint; empty: the checkpoint itself."""
    optimizer_steps: int
    """DeepSpeed's count of optimizer steps, skipped ones included."""
    skipped_steps: int
    """DeepSpeed's count of steps that it skipped, for gradients that were not finite."""
    shapes: dict[str, tuple[int, ...]]
    """The shape of every trained parameter."""
    steps: dict[str, int]
    """The optimizer's step count of every parameter that was stepped already."""
    files: dict[str, StoredFile]
    """The files by name."""
    behaviour: StoredVersion | None
    client_state: dict[str, Any]
    """The caller's plain JSON values."""

    def encode(self) -> bytes:
        """The content of the manifest's file."""
        body = self.model_dump(mode="json")
        return json.dumps({"sha256": _checksum(body), "manifest": body}, indent=1).encode()


def decode(content: bytes, uri: str) -> Manifest:
    """Read a manifest's file.

    Raises:
        CheckpointDamagedError: when it is cut off or changed.
        CheckpointError: when it is of another format.
    """
    try:
        stored = json.loads(content)
        body, checksum = stored["manifest"], stored["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointDamagedError(f"{uri}/{MANIFEST} is damaged: {error}") from error
    if _checksum(body) != checksum:
        raise CheckpointDamagedError(f"{uri}/{MANIFEST} was changed after it was written: its sha256 differs")
    if body.get("format") != FORMAT:
        raise CheckpointError(f"`format` of {uri} must be {FORMAT}, got {body.get('format')}")
    try:
        return Manifest.model_validate(body)
    except ValidationError as error:
        raise CheckpointError(f"{uri}/{MANIFEST} is no manifest of format {FORMAT}: {error}") from error


def _checksum(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
