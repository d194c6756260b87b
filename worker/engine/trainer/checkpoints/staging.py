"""Where a checkpoint is written, so that its URI always leads to a complete one, or to none.

```text
local     <uri>.partial/…                  all ranks write and fsync their files; then the manifest
          <uri>        ─► <uri>.replaced   an earlier checkpoint of the same URI
          <uri>.partial ─► <uri>           both renamed, the folder above fsynced, `<uri>.replaced` deleted
elsewhere <uri>/<random name>/…            an object store has no renames: files under a name that no manifest holds,
          <uri>/manifest.json              replaced by one request; then the files of an earlier checkpoint are deleted
```

A crash at any point leaves the earlier checkpoint, as `<uri>` or as `<uri>.replaced`.
"""

import os
import secrets
import shutil
from pathlib import Path
from typing import Any, Protocol

import fsspec
from fsspec.implementations.local import LocalFileSystem

from worker.contracts.checkpoint_names import REPLACED
from worker.engine.trainer.checkpoints.agreement import gather
from worker.engine.trainer.checkpoints.manifest import MANIFEST

PARTIAL = ".partial"
"""The ending of the folder that a local checkpoint is written in."""


class Staging(Protocol):
    """A checkpoint that is being written."""

    folder: str
    """The folder of its files, relative to the checkpoint; empty: the checkpoint itself."""

    def open(self) -> None:
        """Prepare to write; called on rank 0 before any file is written."""

    def write(self, name: str, content: bytes) -> None:
        """Write one file; when this returns it outlives a crash of the machine, as far as the storage grants that."""

    def commit(self, manifest: bytes) -> None:
        """Put the checkpoint in its place; called on rank 0 when all ranks have written."""

    def discard(self) -> None:
        """Delete what was written; called on rank 0 after a failure."""


def staging_of(uri: str) -> Staging:
    """A staging of the checkpoint at `uri`; a collective."""
    filesystem, target = fsspec.core.url_to_fs(uri)
    if isinstance(filesystem, LocalFileSystem):
        return _LocalStaging(Path(target))
    return _RemoteStaging(filesystem, target, folder=gather(secrets.token_hex(8))[0])


class _LocalStaging:
    folder = ""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._partial = target.with_name(target.name + PARTIAL)

    def open(self) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)

    def write(self, name: str, content: bytes) -> None:
        with (self._partial / name).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def commit(self, manifest: bytes) -> None:
        self.write(MANIFEST, manifest)
        _fsync_folder(self._partial)
        replaced = self._target.with_name(self._target.name + REPLACED)
        if self._target.exists():
            shutil.rmtree(replaced, ignore_errors=True)
            self._target.rename(replaced)
        self._partial.rename(self._target)
        _fsync_folder(self._target.parent)
        shutil.rmtree(replaced, ignore_errors=True)

    def discard(self) -> None:
        shutil.rmtree(self._partial, ignore_errors=True)


class _RemoteStaging:
    def __init__(self, filesystem: Any, target: str, folder: str) -> None:
        self._filesystem = filesystem
        self._target = target
        self.folder = folder

    def open(self) -> None:
        """Nothing to prepare: object stores have no folders."""

    def write(self, name: str, content: bytes) -> None:
        self._filesystem.pipe_file(f"{self._target}/{self.folder}/{name}", content)

    def commit(self, manifest: bytes) -> None:
        self._filesystem.pipe_file(f"{self._target}/{MANIFEST}", manifest)
        kept = (f"{self._target}/{MANIFEST}", f"{self._target}/{self.folder}/")
        for path in self._filesystem.find(self._target):
            if not path.startswith(kept):
                self._filesystem.rm_file(path)

    def discard(self) -> None:
        if self._filesystem.exists(f"{self._target}/{self.folder}"):
            self._filesystem.rm(f"{self._target}/{self.folder}", recursive=True)


def _fsync_folder(folder: Path) -> None:
    """Make renames in `folder` outlive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
