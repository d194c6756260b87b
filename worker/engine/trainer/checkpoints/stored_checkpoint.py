"""Reading a checkpoint's files: nothing of a file is used before its size and checksum were found to be right."""

import hashlib
import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import fsspec
import torch
from fsspec.implementations.local import LocalFileSystem
from safetensors import safe_open
from safetensors.torch import load_file

from worker.engine.errors import CheckpointDamagedError, CheckpointError
from worker.engine.sync.packing import pack
from worker.engine.trainer.checkpoints.manifest import MANIFEST, Manifest, decode
from worker.engine.types import PublishedShard

NUM_THREADS = 4
"""Files that a rank fetches and verifies at once: one core hashes 1.3 GB/s, a local disk reads several times that."""


@dataclass(frozen=True, slots=True)
class Part:
    """A contiguous part of a flattened tensor that lies in one file."""

    file: str
    first: int
    """The index in the tensor of the first element that the file holds."""
    start: int
    """The index in the tensor of the part's first element."""
    end: int
    """The index in the tensor after the part's last element."""


class StoredCheckpoint:
    """A checkpoint to read, as a context: files of an object store are copied to a temporary folder meanwhile."""

    def __init__(self, uri: str) -> None:
        """Read the manifest.

        Raises:
            CheckpointDamagedError: when there is none, or it is damaged.
            CheckpointError: when it is of another format.
        """
        self._uri = uri
        self._filesystem, self._source = fsspec.core.url_to_fs(uri)
        try:
            content = self._filesystem.cat_file(f"{self._source}/{MANIFEST}")
        except FileNotFoundError as error:
            raise CheckpointDamagedError(f"{uri} is not a complete checkpoint: it holds no {MANIFEST}") from error
        self.manifest: Manifest = decode(content, uri)
        self._parts: defaultdict[str, list[Part]] = defaultdict(list)
        for file, stored in self.manifest.files.items():
            for key, (first, numel) in stored.fragments.items():
                self._parts[key].append(Part(file, first, first, first + numel))
        self._copies = Path()
        """Where the files of an object store are copied to, while the context is entered."""
        self._verified: dict[str, Path] = {}
        self._open: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._copies = Path(tempfile.mkdtemp(prefix="tandem-checkpoint-"))
        return self

    def __exit__(self, *error: object) -> None:
        self._open.clear()
        shutil.rmtree(self._copies, ignore_errors=True)

    @property
    def keys(self) -> frozenset[str]:
        """`<quantity>/<parameter>` of everything stored."""
        return frozenset(self._parts)

    def parts(self, key: str, start: int, numel: int) -> Sequence[Part]:
        """Where elements `start` to `start + numel` of a flattened tensor lie, in order and without gaps.

        Raises:
            CheckpointError: when an element is not stored.
        """
        end = start + numel
        overlapping = (
            Part(part.file, part.first, max(part.start, start), min(part.end, end)) for part in self._parts[key]
        )
        found = sorted((part for part in overlapping if part.start < part.end), key=lambda part: part.start)
        position = start
        for part in found:
            if part.start != position:
                break
            position = part.end
        if position != end:
            raise CheckpointError(f"{self._uri} must hold all of `{key}`, got nothing for its element {position}")
        return found

    def verify(self, names: Iterable[str]) -> None:
        """Check files before they are read.

        Raises:
            CheckpointDamagedError: for a file that is missing, cut off or changed.
        """
        wanted = sorted(set(names))
        with ThreadPoolExecutor(max_workers=NUM_THREADS) as pool:
            self._verified |= zip(wanted, pool.map(self._verified_path, wanted), strict=True)

    def _verified_path(self, name: str) -> Path:
        stored, path = self.manifest.files[name], self._local_path(name)
        if not path.exists():
            raise CheckpointDamagedError(f"{self._uri} is damaged: its file {name} is missing")
        num_bytes = path.stat().st_size
        if num_bytes != stored.num_bytes:
            raise CheckpointDamagedError(
                f"{self._uri} is damaged: its file {name} must have {stored.num_bytes} bytes, got {num_bytes}"
            )
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 != stored.sha256:
            raise CheckpointDamagedError(
                f"{self._uri} is damaged: its file {name} must have sha256 {stored.sha256}, got {sha256}"
            )
        return path

    def read(self, key: str, part: Part) -> torch.Tensor:
        """(end - start,) a part of the tensor `key`, from a verified file."""
        if part.file not in self._open:
            self._open[part.file] = safe_open(self._verified[part.file], framework="pt")
        fragment = self._open[part.file].get_slice(key)
        values: torch.Tensor = fragment[part.start - part.first : part.end - part.first]
        return values

    def json(self, name: str) -> Any:
        """The content of a verified JSON file."""
        return json.loads(self._verified[name].read_bytes())

    def behaviour(self) -> tuple[PublishedShard, ...]:
        """The shards of the older version that the next batch had begun on, from verified files; none where there was
        no such version. Raises `CheckpointError` when a shard differs from what was published."""
        kept = self.manifest.behaviour
        if kept is None:
            return ()
        shards = [pack(load_file(self._verified[name]), kept.policy_version) for name in kept.files]
        for name, shard, sha256 in zip(kept.files, shards, kept.sha256, strict=True):
            if shard.sha256 != sha256:
                raise CheckpointError(f"{name} of {self._uri} must have fingerprint {sha256}, got {shard.sha256}")
        return tuple(shards)

    def _local_path(self, name: str) -> Path:
        """A file on this machine: itself on a local file system, elsewhere a copy, where there is anything to copy."""
        relative = f"{self.manifest.folder}/{name}" if self.manifest.folder else name
        if isinstance(self._filesystem, LocalFileSystem):
            return Path(self._source) / relative
        path = self._copies / name
        if self._filesystem.exists(f"{self._source}/{relative}"):
            self._filesystem.get_file(f"{self._source}/{relative}", str(path))
        return path
