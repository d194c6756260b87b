"""Writes a checkpoint: every rank its fragments and random states, rank 0 the older version and the manifest."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from safetensors.torch import save as to_safetensors

from worker.engine.errors import CheckpointUnwrittenError, NonFiniteError
from worker.engine.trainer.checkpoints.agreement import gather, together
from worker.engine.trainer.checkpoints.manifest import Manifest, StoredFile, StoredVersion
from worker.engine.trainer.checkpoints.random_state import capture_random_state, encode
from worker.engine.trainer.checkpoints.staging import Staging, staging_of
from worker.engine.trainer.checkpoints.training_state import TrainingState
from worker.engine.trainer.zero.fragments import Fragment
from worker.engine.types import PublishedVersion

T = TypeVar("T")

FILE_BYTES = 2**28
"""Bytes of fragments after which a rank begins another file: while a file is written its content is in host memory
twice, as copies of the fragments and in the file's format."""


@dataclass(slots=True)
class _Written:
    """What one rank has written."""

    files: dict[str, StoredFile] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    """The optimizer's step counts of the parameters that the rank holds anything of."""
    behaviour: StoredVersion | None = None


def save(
    state: TrainingState,
    uri: str,
    client_state: dict[str, Any],
    rank: int,
    world_size: int,
    *,
    behaviour: PublishedVersion | None = None,
) -> int:
    """Write one checkpoint; a collective.

    Args:
        state: what is written.
        uri: where the checkpoint is to lie.
        client_state: plain JSON values that are kept with it.
        rank: this process's index among the trainer ranks.
        world_size: the number of trainer ranks.
        behaviour: the version that the next batch has begun on, if it is older than the weights.

    Returns:
        The bytes of the files that this rank wrote, without the manifest.

    Raises:
        NonFiniteError: on every rank, when a weight, master weight or moment of any rank is NaN or infinite, from which
            no run could recover.
        CheckpointUnwrittenError: on every rank, when the storage did not take what one of them wrote; an earlier
            checkpoint at `uri` stays as it is.
        CheckpointError: when another rank met an error of any other kind, likewise.
    """
    _require_finite(state)
    staging, is_first = staging_of(uri), rank == 0
    try:
        _stored(uri, staging.open if is_first else _nothing)
        written = _stored(uri, lambda: _write(state, staging, rank, world_size, behaviour if is_first else None))
        manifest = _manifest(state, staging.folder, gather(written), client_state)
        _stored(uri, (lambda: staging.commit(manifest.encode())) if is_first else _nothing)
    except Exception:
        if is_first:
            staging.discard()
        raise
    return sum(file.num_bytes for file in written.files.values())


def _write(
    state: TrainingState, staging: Staging, rank: int, world_size: int, behaviour: PublishedVersion | None
) -> _Written:
    written = _Written(steps=state.optimizer.steps)
    shares = ((key, fragment.share(rank, world_size)) for key, fragment in state.fragments())
    for index, content in enumerate(_chunks((key, share) for key, share in shares if share.values.numel())):
        copies = {key: fragment.values.to("cpu").contiguous() for key, fragment in content.items()}
        stored = {key: (fragment.start, fragment.values.numel()) for key, fragment in content.items()}
        _add(staging, written, f"rank-{rank:05d}-{index:03d}.safetensors", to_safetensors(copies), stored)
    _add(staging, written, random_file(rank), encode(capture_random_state()))
    if behaviour is not None:
        written.behaviour = _write_version(staging, written, behaviour)
    return written


def _stored(uri: str, action: Callable[[], T]) -> T:
    """As `together`, and what the storage does not take is a `CheckpointUnwrittenError`."""

    def write() -> T:
        try:
            return action()
        except OSError as error:
            raise CheckpointUnwrittenError(f"{uri} could not be written: {error}") from error

    return together(write)


def _nothing() -> None:
    """What ranks other than 0 have to do while it alone opens or commits."""


def _manifest(state: TrainingState, folder: str, written: Sequence[_Written], client_state: dict[str, Any]) -> Manifest:
    """The manifest of what all ranks have written, in rank order."""
    return Manifest(
        world_size=len(written),
        zero_stage=state.zero_stage,
        folder=folder,
        **state.counters,
        shapes=state.shapes,
        steps={name: count for each in written for name, count in each.steps.items()},
        files={name: file for each in written for name, file in each.files.items()},
        behaviour=written[0].behaviour,
        client_state=client_state,
    )


def _chunks(fragments: Iterable[tuple[str, Fragment]]) -> Iterator[dict[str, Fragment]]:
    """The fragments in dicts of at least `FILE_BYTES`; the last one may hold fewer, and none is empty."""
    chunk: dict[str, Fragment] = {}
    num_bytes = 0
    for key, fragment in fragments:
        chunk[key] = fragment
        num_bytes += fragment.values.nbytes
        if num_bytes >= FILE_BYTES:
            yield chunk
            chunk, num_bytes = {}, 0
    if chunk:
        yield chunk


def _write_version(staging: Staging, written: _Written, version: PublishedVersion) -> StoredVersion:
    """Write a file for each shard of a version."""
    names, checksums = [], []
    for index, shard in enumerate(version.shards()):
        names.append(f"behaviour-{index:05d}.safetensors")
        checksums.append(shard.sha256)
        _add(staging, written, names[-1], to_safetensors(shard.tensors))
    return StoredVersion(policy_version=version.policy_version, files=tuple(names), sha256=tuple(checksums))


def _add(
    staging: Staging,
    written: _Written,
    name: str,
    content: bytes,
    fragments: dict[str, tuple[int, int]] | None = None,
) -> None:
    with ThreadPoolExecutor(max_workers=1) as pool:
        # Hashing takes about as long as writing, and leaves the interpreter free meanwhile.
        hashed = pool.submit(hashlib.sha256, content)
        staging.write(name, content)
    written.files[name] = StoredFile(
        num_bytes=len(content), sha256=hashed.result().hexdigest(), fragments=fragments or {}
    )


def random_file(rank: int) -> str:
    """The name of the file of a rank's random states."""
    return f"random-{rank:05d}.json"


def _require_finite(state: TrainingState) -> None:
    """Raise `NonFiniteError` on all ranks when one finds NaN or infinity: the others would wait for it forever."""
    problem: NonFiniteError | None = None
    try:
        state.require_finite()
    except NonFiniteError as error:
        problem = error
    is_anywhere = any(gather(problem is not None))
    if problem is not None:
        raise problem
    if is_anywhere:
        raise NonFiniteError("weights", "another trainer rank", math.nan)
