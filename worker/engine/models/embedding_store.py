"""The embeddings of prompts on the disk of a node, shared by its lanes and by the runs that come later.

```text
<folder>/<encoder>/<first byte of key>/<rest of key>.safetensors      least recently used ones are evicted
<folder>/<encoder>/claims/<number>                                    who encodes
<folder>/pins/<digest>                                                what live runs may still read
```

`encoder` stands for all that decides the bits of an embedding beside the text (`encoder_identity`), `key` for the text.
Invariant: any number of processes may read, write and evict at once; a file that was evicted while it is mapped stays
readable. Prompts that a live run has pinned are never evicted.
"""

import errno
import math
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from worker.contracts.embedding_room import (
    FILE_ENDING,
    FOLDER_VARIABLE,
    SIZE_VARIABLE,
    embeddings_folder,
    store_bound,
)
from worker.engine.errors import EngineError
from worker.engine.models import embedding_files
from worker.engine.models.embedding_pins import Pin, Pins, claim

SHARE_KEPT = 0.9
"""The share of the bound that is left after an eviction, so that not every new file begins one."""
BYTES_BETWEEN_SCANS = 2**30
"""How much this process writes before it looks again at what others have written."""
UNFINISHED_SECONDS = 3600.0
"""How old a file must be that was never finished: its writer was killed."""


class EmbeddingStoreError(EngineError):
    """The store cannot hold the embeddings of a run."""


@dataclass(frozen=True, slots=True)
class _Stored:
    used_at: float
    num_bytes: int
    file: Path
    name: str


class EmbeddingStore:
    """The store in one folder. Every method may be called by several processes at once."""

    def __init__(self, folder: Path, max_bytes: float) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._pins = Pins(folder / "pins")
        self._num_bytes = 0.0
        """At the last scan, and what this process has written since."""
        self._since_scan = math.inf

    @classmethod
    def of_node(cls, environment: Mapping[str, str] = os.environ) -> "EmbeddingStore":
        """The store that the environment names.

        Raises:
            EmbeddingStoreError: for a size that is no positive number, or a folder that cannot be written.
        """
        folder = embeddings_folder(environment)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise EmbeddingStoreError(
                f"`{FOLDER_VARIABLE}` must be a folder that can be written, got {folder}: {error.strerror}"
            ) from error
        store = cls(folder, math.inf)
        store.max_bytes = store._bound(environment.get(SIZE_VARIABLE, ""))
        return store

    def find(self, encoder: str, key: str) -> dict[str, torch.Tensor] | None:
        """The embeddings of a prompt, mapped from the disk; `None` where they are not stored."""
        file = self._file(encoder, key)
        embeds = embedding_files.read(file)
        if embeds is not None:
            # It may have been evicted since, which the mapping outlives.
            with suppress(FileNotFoundError):
                os.utime(file)
        return embeds

    def missing(self, encoder: str, keys: Collection[str]) -> list[str]:
        """Those of `keys` that are not stored, in order."""
        return [key for key in keys if not self._file(encoder, key).exists()]

    def keep(self, encoder: str, key: str, embeds: Mapping[str, torch.Tensor]) -> None:
        """Store the embeddings of a prompt, and evict others where they would not fit.

        Raises:
            EmbeddingStoreError: when what live runs need fills the store, or its disk is full.
        """
        file = self._file(encoder, key)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = embedding_files.packed(embeds)
        self._make_room(len(content))
        try:
            embedding_files.write(file, content)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise EmbeddingStoreError(
                f"`{FOLDER_VARIABLE}` must be on a disk with room for the run's embeddings, got {self.folder}: "
                f"{error.strerror}; name a larger disk"
            ) from error
        self._num_bytes += len(content)
        self._since_scan += len(content)

    def claim(self, encoder: str, number: int, *, waits: bool) -> AbstractContextManager[bool]:
        """The claim to encode the part `number` of the prompts of `encoder`, see `embedding_pins.claim`."""
        folder = self.folder / encoder / "claims"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return claim(folder / str(number), waits=waits)

    def pin(self, encoder: str, keys: Collection[str]) -> Pin:
        """Keep these embeddings, stored already or later, until the returned object is deleted."""
        return self._pins.pin(_name(encoder, key) for key in keys)

    def _make_room(self, num_bytes: int) -> None:
        if self._since_scan > BYTES_BETWEEN_SCANS:
            self._num_bytes, self._since_scan = sum(stored.num_bytes for stored in self._stored()), 0.0
        if self._num_bytes + num_bytes <= self.max_bytes:
            return
        pinned = self._pins.names()
        stored = sorted(self._stored(), key=lambda each: each.used_at)
        self._num_bytes, self._since_scan = sum(each.num_bytes for each in stored), 0.0
        for each in stored:
            if self._num_bytes + num_bytes <= SHARE_KEPT * self.max_bytes:
                return
            if each.name not in pinned:
                each.file.unlink(missing_ok=True)
                self._num_bytes -= each.num_bytes
        if self._num_bytes + num_bytes > self.max_bytes:
            raise EmbeddingStoreError(
                f"`{SIZE_VARIABLE}` must hold the embeddings of all prompts of the node's runs, {len(pinned)} of "
                f"some {num_bytes / 2**20:.2g} MiB, got {self.max_bytes / 2**30:.3g}: raise it to "
                f"{math.ceil(len(pinned) * num_bytes / 2**30) + 1}, name a larger disk in `{FOLDER_VARIABLE}`, or "
                "train on fewer prompts"
            )

    def _bound(self, given: str) -> float:
        """The bytes that `SIZE_VARIABLE` gives."""
        own = 0 if given else sum(stored.num_bytes for stored in self._stored())
        try:
            return store_bound(given, emptied_bytes=shutil.disk_usage(self.folder).free + own)
        except ValueError as error:
            raise EmbeddingStoreError(str(error)) from error

    def _stored(self) -> Iterator[_Stored]:
        """All files of embeddings; files that were never finished are removed."""
        for file in self.folder.glob("*/??/*"):
            try:
                seen = file.stat()
            except FileNotFoundError:
                continue
            if file.suffix == FILE_ENDING:
                name = _name(file.parent.parent.name, file.parent.name + file.stem)
                yield _Stored(seen.st_mtime, seen.st_size, file, name)
            elif file.suffix == embedding_files.UNFINISHED_ENDING and time.time() - seen.st_mtime > UNFINISHED_SECONDS:
                file.unlink(missing_ok=True)

    def _file(self, encoder: str, key: str) -> Path:
        return self.folder / encoder / key[:2] / f"{key[2:]}{FILE_ENDING}"


def _name(encoder: str, key: str) -> str:
    """How a pin names embeddings."""
    return f"{encoder}/{key}"
