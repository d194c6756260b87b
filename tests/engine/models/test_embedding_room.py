"""How much embeddings may take of a node's disk, by its environment: the same for lanes and for whoever reports it."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from worker.contracts.embedding_room import SECONDS_BETWEEN_COUNTS, EmbeddingRoom
from worker.engine.models.embedding_store import EmbeddingStore

GIB = 2**30


@pytest.fixture(autouse=True)
def disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with 100 GiB free."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * GIB))


def stored(folder: Path, name: str, num_bytes: int) -> None:
    file = folder / "encoder" / "ab" / f"{name}.safetensors"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as written:
        written.truncate(num_bytes)  # Sparse: it takes no disk.


@pytest.mark.parametrize(
    ("given", "gib"), [("", 60), ("30", 30), ("500", 120)], ids=["half", "given", "the whole disk"]
)
def test_room_is_the_bound_as_far_as_the_disk_with_an_empty_store_has_it(tmp_path: Path, given: str, gib: int) -> None:
    stored(tmp_path, "one", 20 * GIB)
    environment = {"TANDEM_EMBEDDINGS": str(tmp_path), "TANDEM_EMBEDDINGS_GIB": given}
    room = EmbeddingRoom(environment).num_bytes(0.0)
    assert room == gib * GIB
    assert room == min(EmbeddingStore.of_node(environment).max_bytes, 120 * GIB), "lanes keep to the same"


def test_a_folder_that_is_not_there_yet_has_the_room_of_its_disk(tmp_path: Path) -> None:
    assert EmbeddingRoom({"TANDEM_EMBEDDINGS": str(tmp_path / "a" / "b")}).num_bytes(0.0) == 50 * GIB
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("given", ["0", "much", "nan"])
def test_a_bound_that_no_lane_would_take_is_no_room(tmp_path: Path, given: str) -> None:
    assert EmbeddingRoom({"TANDEM_EMBEDDINGS": str(tmp_path), "TANDEM_EMBEDDINGS_GIB": given}).num_bytes(0.0) is None


def test_what_is_stored_is_counted_again_after_a_while(tmp_path: Path) -> None:
    room = EmbeddingRoom({"TANDEM_EMBEDDINGS": str(tmp_path)})
    assert room.num_bytes(0.0) == 50 * GIB
    stored(tmp_path, "one", 20 * GIB)
    assert room.num_bytes(SECONDS_BETWEEN_COUNTS - 1) == 50 * GIB
    assert room.num_bytes(SECONDS_BETWEEN_COUNTS) == 60 * GIB
