"""The store of embeddings on a node's disk: bounded, shared, and whole whatever is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from worker.engine.models import embedding_files
from worker.engine.models.embedding_store import EmbeddingStore, EmbeddingStoreError

EMBEDS = {"embeds": torch.zeros(1, 2, 128, dtype=torch.bfloat16), "mask": torch.ones(1, 3, dtype=torch.int64)}
TEN_FILES = 10 * len(embedding_files.packed(EMBEDS))


def key(number: int) -> str:
    return f"{number:064x}"


def store_of(folder: Path, *, max_bytes: float = 1e9) -> EmbeddingStore:
    folder.mkdir(exist_ok=True)
    return EmbeddingStore(folder, max_bytes)


def age(store: EmbeddingStore, number: int, seconds: float) -> None:
    """Make the embeddings of `number` last used so long ago."""
    file = store._file("encoder", key(number))
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - seconds))


def test_embeddings_are_read_as_they_were_kept_with_names_types_and_shapes(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    embeds = {
        "embeds": torch.randn(1, 5, 7).bfloat16(),
        "pooled": torch.randn(3, 4).T,
        "mask": torch.tensor([[True, False]]),
        "nothing": torch.zeros(1, 0),
    }
    store.keep("encoder", key(1), embeds)
    found = store.find("encoder", key(1))
    assert found is not None and found.keys() == embeds.keys()
    assert all(torch.equal(found[name], embeds[name]) and found[name].dtype is embeds[name].dtype for name in embeds)
    assert store.find("another encoder", key(1)) is None


def test_the_least_recently_used_are_evicted_and_what_is_mapped_stays_readable(tmp_path: Path) -> None:
    store = store_of(tmp_path, max_bytes=TEN_FILES)
    for number in range(5):
        store.keep("encoder", key(number), EMBEDS)
        age(store, number, 100 - number)
    mapped = store.find("encoder", key(1))
    store.find("encoder", key(0))  # Used last.
    for number in range(5, 13):
        store.keep("encoder", key(number), EMBEDS)
    assert store.find("encoder", key(1)) is None and store.find("encoder", key(0)) is not None
    assert mapped is not None and torch.equal(mapped["mask"], EMBEDS["mask"])
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.safetensors")) <= TEN_FILES


def test_what_a_live_run_has_pinned_is_never_evicted_and_a_run_that_does_not_fit_is_told_so(tmp_path: Path) -> None:
    store = store_of(tmp_path, max_bytes=TEN_FILES)
    pin = store.pin("encoder", [key(number) for number in range(30)])
    with pytest.raises(EmbeddingStoreError, match=r"`TANDEM_EMBEDDINGS_GIB` must hold .* 30 of .* raise it to 2"):
        for number in range(30):
            store.keep("encoder", key(number), EMBEDS)
    assert not store.missing("encoder", [key(number) for number in range(10)])
    del pin
    store.keep("encoder", key(30), EMBEDS)
    assert store.missing("encoder", [key(number) for number in range(10)]) == [key(0), key(1)]


def test_the_pins_of_a_killed_process_end_with_it(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    code = (
        "import sys; from pathlib import Path; from worker.engine.models.embedding_pins import Pins; "
        "pin = Pins(Path(sys.argv[1])).pin(['encoder/a', 'encoder/b']); print('pinned', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "pins")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "pinned\n"
    same = store._pins.pin(["encoder/b", "encoder/a"])
    assert store._pins.names() == {"encoder/a", "encoder/b"}
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert store._pins.names() == {"encoder/a", "encoder/b"}, "this process has pinned the same"
    del same
    assert store._pins.names() == set() and not list((tmp_path / "pins").iterdir())


@pytest.mark.parametrize("num_bytes", [0, 5, 200, -1], ids=["empty", "no header", "cut off", "changed"])
def test_a_damaged_file_counts_as_missing(tmp_path: Path, num_bytes: int) -> None:
    store = store_of(tmp_path)
    store.keep("encoder", key(1), {"embeds": torch.randn(1, 50)})
    file = store._file("encoder", key(1))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content if num_bytes < 0 else content[:num_bytes])
    assert store.find("encoder", key(1)) is None


def test_a_write_that_fails_leaves_nothing_and_what_a_killed_one_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(tmp_path)
    store.keep("encoder", key(1), EMBEDS)
    left = store._file("encoder", key(1)).with_suffix(embedding_files.UNFINISHED_ENDING)
    left.write_bytes(b"half")
    os.utime(left, (0, 0))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(EmbeddingStoreError, match=r"`TANDEM_EMBEDDINGS` must be on a disk with room .* larger disk"):
        store.keep("encoder", key(2), EMBEDS)
    assert [file.name for file in left.parent.iterdir() if file != left] == [store._file("encoder", key(1)).name]
    assert len(list(store._stored())) == 1 and not left.exists()


def test_the_environment_names_folder_and_size(tmp_path: Path) -> None:
    store = EmbeddingStore.of_node({"TANDEM_EMBEDDINGS": str(tmp_path / "a"), "TANDEM_EMBEDDINGS_GIB": "1.5"})
    assert (store.folder, store.max_bytes) == (tmp_path / "a", 1.5 * 2**30)
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert EmbeddingStore.of_node({"XDG_CACHE_HOME": str(tmp_path)}).folder == tmp_path / "tandem" / "embeddings"
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddingStoreError, match=r"`TANDEM_EMBEDDINGS` must be a folder that can be written, got .*"):
        EmbeddingStore.of_node({"TANDEM_EMBEDDINGS": str(tmp_path / "file" / "below")})
    for size in ("0", "much", "nan"):
        with pytest.raises(EmbeddingStoreError, match=f"`TANDEM_EMBEDDINGS_GIB` must be a number > 0, got {size}"):
            EmbeddingStore.of_node({"TANDEM_EMBEDDINGS": str(tmp_path), "TANDEM_EMBEDDINGS_GIB": size})
