"""Where the embeddings of prompts lie on a node, and how much they may take of its disk, by its environment.

    lanes ─► `worker.engine.models.embedding_store` keeps to the bound
    node agent ─► reports it ─► the check before a start

Invariant: lanes and agent of a node inherit one environment, so that both say the same.
"""

import math
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

FOLDER_VARIABLE = "TANDEM_EMBEDDINGS"
SIZE_VARIABLE = "TANDEM_EMBEDDINGS_GIB"
SHARE_OF_FREE_DISK = 0.5
"""The store's bound where the environment names none, as a share of what the disk has free with the store empty."""
FILE_ENDING = ".safetensors"
"""Of the file of one prompt's embeddings."""
SECONDS_BETWEEN_COUNTS = 600.0
"""A store of 50,000 files takes a second to count, and nodes report every few seconds."""


def embeddings_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of the node's store, which may not be there yet."""
    cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(environment.get(FOLDER_VARIABLE) or cache / "tandem" / "embeddings")


def store_bound(given: str, *, emptied_bytes: float) -> float:
    """Bytes that the store may hold.

    Args:
        given: the value of `SIZE_VARIABLE`, in GiB; empty for a share of the disk.
        emptied_bytes: what the disk would have free with the store empty.

    Raises:
        ValueError: for a size that is no positive number; its text says what to do.
    """
    if not given:
        return SHARE_OF_FREE_DISK * emptied_bytes
    try:
        gib = float(given)
    except ValueError:
        gib = math.nan
    if not 0 < gib < math.inf:
        raise ValueError(
            f"`{SIZE_VARIABLE}` must be a number > 0, got {given}: leave it empty for half of what the disk has free"
        )
    return gib * 2**30


class EmbeddingRoom:
    """What embeddings may take on this node's disk. The disk is asked each time, stored files are counted seldom."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """`environment`: that of the node's lanes."""
        self._environment = environment
        self._counted_at = -math.inf
        self._stored_bytes = 0

    def num_bytes(self, now: float) -> int | None:
        """What the store is bounded to, as far as its disk has room, stored embeddings included.

        Args:
            now: the monotonic time in seconds.

        Returns:
            The bytes; `None` where folder or bound cannot be used, which a run's lanes say when they start.
        """
        folder = embeddings_folder(self._environment)
        try:
            if now - self._counted_at >= SECONDS_BETWEEN_COUNTS:
                self._counted_at, self._stored_bytes = now, _stored_bytes(folder)
            existing = next(one for one in (folder, *folder.parents) if one.exists())
            emptied = shutil.disk_usage(existing).free + self._stored_bytes
            bound = store_bound(self._environment.get(SIZE_VARIABLE, ""), emptied_bytes=emptied)
        except (OSError, ValueError):
            return None
        return int(min(emptied, bound))


def _stored_bytes(folder: Path) -> int:
    found = 0
    for file in folder.glob(f"*/??/*{FILE_ENDING}"):
        try:
            found += file.stat().st_size
        except FileNotFoundError:
            continue  # Evicted since it was listed.
    return found
