"""Resumable checkpoints under any fsspec URL, either complete or not there at all.

```text
<uri>/state/…                        DeepSpeed: trainable weights, shadow weights, each rank's optimizer partition
<uri>/random-<rank>.pt               random states of one rank
<uri>/behaviour-<shard>.safetensors  the version that the next batch had begun on, where it is older than the weights
<uri>/complete.json                  written last; without it the checkpoint does not exist
```

On a local file system all ranks write into `<uri>.partial`, which is renamed when complete; elsewhere each rank writes
to a local folder and copies its files. On one rank, resuming is bitwise equal to not having stopped.
"""

import json
import math
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import torch
from deepspeed.accelerator import get_accelerator
from fsspec.implementations.local import LocalFileSystem
from safetensors.torch import load as load_tensors
from safetensors.torch import save_file

from worker.engine.errors import CheckpointError, NonFiniteError
from worker.engine.models.sharded_parameters import local_shard
from worker.engine.sync.finite import require_finite
from worker.engine.sync.packing import pack
from worker.engine.types import PublishedShard, PublishedVersion

TAG = "state"
"""DeepSpeed's name for a checkpoint in its folder, which becomes the folder `<uri>/state`."""
MARKER = "complete.json"
"""The file whose presence makes a checkpoint complete."""
BEHAVIOUR_PREFIX = "behaviour-"
"""The beginning of the file names of the older version's shards."""
FORMAT = 4
"""The version of the layout above and of the names in it; `load` refuses any other."""


def save(
    deepspeed_engine: Any,
    uri: str,
    client_state: dict[str, Any],
    rank: int,
    world_size: int,
    *,
    behaviour: PublishedVersion | None = None,
) -> int:
    """Write one checkpoint; a collective.

    Args:
        deepspeed_engine: whose module, optimizer and learning rate are written.
        uri: where the checkpoint is to lie.
        client_state: plain JSON values that are kept with it.
        rank: this process's index among the trainer ranks.
        world_size: the number of trainer ranks.
        behaviour: the version that the next batch has begun on, if it is older than the weights.

    Returns:
        The bytes that this rank wrote.

    Raises:
        NonFiniteError: on every rank, when a weight, master weight or moment of any rank is NaN or infinite, from which
            no run could recover.
    """
    _require_finite(deepspeed_engine)
    filesystem, target = fsspec.core.url_to_fs(uri)
    marker = {
        "format": FORMAT,
        "world_size": world_size,
        "zero_stage": deepspeed_engine.zero_optimization_stage(),
        "client_state": client_state,
    }
    with _staging(filesystem, target, rank) as folder:
        deepspeed_engine.save_checkpoint(str(folder), tag=TAG, save_latest=False, exclude_frozen_parameters=True)
        torch.save(capture_random_state(), folder / _random_file(rank))
        if behaviour is not None and rank == 0:
            marker["behaviour"] = _write_behaviour(behaviour, folder)
        own = _own_files(folder, rank, shared=isinstance(filesystem, LocalFileSystem))
        num_bytes = sum(file.stat().st_size for file in own)
        if not isinstance(filesystem, LocalFileSystem):
            for file in own:
                filesystem.put_file(str(file), f"{target}/{file.relative_to(folder)}")
        _barrier()
        if rank == 0:
            _complete(filesystem, folder, target, json.dumps(marker, indent=1))
    _barrier()
    return num_bytes


def load(deepspeed_engine: Any, uri: str, rank: int, world_size: int) -> dict[str, Any]:
    """Restore one checkpoint into `deepspeed_engine` and return its `client_state`; a collective.

    Raises:
        CheckpointError: when it is missing or incomplete, or of another world size or ZeRO stage.
    """
    filesystem, source = fsspec.core.url_to_fs(uri)
    marker = _read_marker(filesystem, source, uri)
    for name, wanted in (("world_size", world_size), ("zero_stage", deepspeed_engine.zero_optimization_stage())):
        if marker[name] != wanted:
            raise CheckpointError(
                f"`{name}` of {uri} must be {wanted}, got {marker[name]}: resume with the lanes it was written with"
            )
    with _local_copy(filesystem, source) as folder:
        # Not strict: in ZeRO 3 the module has the base's parameters too, which checkpoints leave out.
        loaded, _ = deepspeed_engine.load_checkpoint(str(folder), tag=TAG, load_module_strict=False)
        if loaded is None:
            raise CheckpointError(f"{uri} holds no DeepSpeed state: it was damaged after it was written")
        restore_random_state(torch.load(folder / _random_file(rank), weights_only=False))
    _barrier()
    client_state: dict[str, Any] = marker["client_state"]
    return client_state


def load_behaviour(uri: str) -> tuple[PublishedShard, ...]:
    """The shards of the older version kept in a checkpoint; none where the next batch had not begun on one.

    Raises:
        CheckpointError: when the checkpoint is incomplete, or a shard differs from what was published.
    """
    filesystem, source = fsspec.core.url_to_fs(uri)
    kept = _read_marker(filesystem, source, uri).get("behaviour")
    return (
        ()
        if kept is None
        else tuple(
            _read_shard(filesystem, f"{source}/{_behaviour_file(index)}", kept["policy_version"], sha256)
            for index, sha256 in enumerate(kept["sha256"])
        )
    )


def _require_finite(deepspeed_engine: Any) -> None:
    """Raise `NonFiniteError` on all ranks when one finds NaN or infinity: the others would wait for it forever."""
    optimizer = getattr(deepspeed_engine.optimizer, "optimizer", deepspeed_engine.optimizer)
    weights = {
        name: local_shard(parameter)
        for name, parameter in deepspeed_engine.module.named_parameters()
        if parameter.requires_grad
    }
    masters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    moments = [moment for state in optimizer.state.values() for moment in state.values() if torch.is_tensor(moment)]
    state = {f"tensor {index}": tensor for index, tensor in enumerate([*masters, *moments])}
    problem: NonFiniteError | None = None
    try:
        require_finite("weights", weights)
        require_finite("optimizer state", state)
    except NonFiniteError as error:
        problem = error
    is_anywhere = torch.tensor(float(problem is not None), device=next(iter(weights.values())).device)
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(is_anywhere)
    if problem is not None:
        raise problem
    if is_anywhere:
        raise NonFiniteError("weights", "another trainer rank", math.nan)


def _write_behaviour(behaviour: PublishedVersion, folder: Path) -> dict[str, Any]:
    """Write a file per shard; returns the marker's entry, with the checksums in shard order."""
    checksums = []
    for index, shard in enumerate(behaviour.shards()):
        save_file(shard.tensors, folder / _behaviour_file(index))
        checksums.append(shard.sha256)
    return {"policy_version": behaviour.policy_version, "sha256": checksums}


def _read_shard(filesystem: Any, path: str, policy_version: int, sha256: str) -> PublishedShard:
    shard = pack(load_tensors(filesystem.cat_file(path)), policy_version)
    if shard.sha256 != sha256:
        raise CheckpointError(
            f"{path} must have checksum {sha256}, got {shard.sha256}: it was damaged after it was written"
        )
    return shard


def _behaviour_file(index: int) -> str:
    return f"{BEHAVIOUR_PREFIX}{index:05d}.safetensors"


@contextmanager
def _staging(filesystem: Any, target: str, rank: int) -> Iterator[Path]:
    """A folder to write into: on a local file system one for all ranks, beside the target; elsewhere one per rank."""
    if not isinstance(filesystem, LocalFileSystem):
        with tempfile.TemporaryDirectory(prefix="tandem-checkpoint-") as folder:
            yield Path(folder)
        return
    partial = Path(f"{target}.partial")
    if rank == 0:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    _barrier()
    yield partial


def _complete(filesystem: Any, folder: Path, target: str, marker: str) -> None:
    """Write the marker and put the checkpoint in the place of an earlier one; called when all ranks have written."""
    if not isinstance(filesystem, LocalFileSystem):
        filesystem.pipe_file(f"{target}/{MARKER}", marker.encode())
        return
    (folder / MARKER).write_text(marker)
    if Path(target).exists():
        shutil.rmtree(target)
    folder.rename(target)


def _own_files(folder: Path, rank: int, *, shared: bool) -> list[Path]:
    """The files that this rank wrote: all of a folder of its own, those with its prefixes in a shared one."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    if not shared:
        return files
    # DeepSpeed writes partitions by rank; what is not partitioned comes from rank 0.
    prefixes = {f"zero_pp_rank_{rank}_", _random_file(rank)}
    if rank == 0:
        prefixes |= {"mp_rank_00_model", BEHAVIOUR_PREFIX}
    return [file for file in files if any(file.name.startswith(prefix) for prefix in prefixes)]


def _read_marker(filesystem: Any, source: str, uri: str) -> dict[str, Any]:
    try:
        content = filesystem.cat_file(f"{source}/{MARKER}")
    except FileNotFoundError as error:
        raise CheckpointError(f"{uri} is not a complete checkpoint: it holds no {MARKER}") from error
    marker: dict[str, Any] = json.loads(content)
    if marker.get("format") != FORMAT:
        raise CheckpointError(f"`format` of {uri} must be {FORMAT}, got {marker.get('format')}")
    return marker


@contextmanager
def _local_copy(filesystem: Any, source: str) -> Iterator[Path]:
    """The checkpoint's folder itself on a local file system, elsewhere a temporary copy."""
    if isinstance(filesystem, LocalFileSystem):
        yield Path(source)
        return
    with tempfile.TemporaryDirectory(prefix="tandem-checkpoint-") as folder:
        filesystem.get(f"{source}/", folder, recursive=True)
        yield Path(folder)


def _random_file(rank: int) -> str:
    return f"random-{rank:04d}.pt"


def _barrier() -> None:
    torch.distributed.barrier()


def capture_random_state() -> dict[str, Any]:
    """The states of this process's random number generators: torch's (CPU and accelerator), numpy's and Python's."""
    return {
        "torch": torch.get_rng_state(),
        "accelerator": get_accelerator().get_rng_state(),
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
    }


def restore_random_state(states: dict[str, Any]) -> None:
    torch.set_rng_state(states["torch"])
    get_accelerator().set_rng_state(states["accelerator"])
    np.random.set_state(states["numpy"])
    random.setstate(states["python"])
