"""Loads a checkpoint: every rank verifies and reads the fragments that it holds, whoever wrote them.

A damaged checkpoint is passed over for the next of those given, with a warning that names the file.
"""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch

from worker.engine.errors import CheckpointDamagedError, CheckpointError, listing
from worker.engine.trainer.checkpoints.agreement import together
from worker.engine.trainer.checkpoints.random_state import restore_random_state
from worker.engine.trainer.checkpoints.saving import random_file
from worker.engine.trainer.checkpoints.stored_checkpoint import StoredCheckpoint
from worker.engine.trainer.checkpoints.training_state import TrainingState
from worker.engine.trainer.zero.optimizer_state import MOMENTS
from worker.engine.types import PublishedShard

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredState:
    """What a checkpoint kept besides the training state."""

    uri: str
    """The checkpoint that was loaded."""
    client_state: dict[str, Any]
    """The caller's values, as they were saved."""
    behaviour: tuple[PublishedShard, ...]
    """On rank 0, the shards of the older version that the next batch had begun on; empty where there was none."""


def load(state: TrainingState, uris: Sequence[str], rank: int) -> RestoredState:
    """Replace `state` by the first checkpoint of `uris` that is not damaged; a collective.

    Raises:
        CheckpointDamagedError: when all are damaged or missing; the training state is as before.
        CheckpointError: when one was written for other parameters, or in another format; likewise.
    """
    problems: list[str] = []
    for uri in uris:
        try:
            client_state, behaviour = _load(state, uri, rank)
        except CheckpointDamagedError as error:
            if rank == 0:
                logger.warning("a checkpoint is passed over for the one before: %s", error)
            problems.append(str(error))
            continue
        return RestoredState(uri=uri, client_state=client_state, behaviour=behaviour)
    raise CheckpointDamagedError(
        problems[0] if len(problems) == 1 else f"no checkpoint can be loaded: {'; '.join(problems)}"
    )


def _load(state: TrainingState, uri: str, rank: int) -> tuple[dict[str, Any], tuple[PublishedShard, ...]]:
    """Load one checkpoint. Raises `CheckpointError` on all ranks when one finds it damaged or of other parameters,
    before anything is changed."""
    with ExitStack() as stack:
        stored, behaviour = together(lambda: _verified(state, stack, uri, rank))
        together(lambda: _apply(state, stored))
        state.optimizer.apply_masters()
        if random_file(rank) in stored.manifest.files:
            # A rank that the checkpoint knows nothing of keeps its own: a copy would draw what another rank draws.
            restore_random_state(stored.json(random_file(rank)))
        return stored.manifest.client_state, behaviour


def _verified(
    state: TrainingState, stack: ExitStack, uri: str, rank: int
) -> tuple[StoredCheckpoint, tuple[PublishedShard, ...]]:
    """The checkpoint, of which all that this rank needs is known to be there and right, and on rank 0 the older
    version stored with it."""
    stored = stack.enter_context(StoredCheckpoint(uri))
    _check_contents(state, stored, uri)
    files = {
        part.file
        for key, start, numel in state.needed(stored.manifest.steps)
        for part in stored.parts(key, start, numel)
    }
    if random_file(rank) in stored.manifest.files:
        files.add(random_file(rank))
    if rank == 0 and stored.manifest.behaviour is not None:
        files |= set(stored.manifest.behaviour.files)
    stored.verify(files)
    return stored, stored.behaviour() if rank == 0 else ()


def _check_contents(state: TrainingState, stored: StoredCheckpoint, uri: str) -> None:
    """Raise `CheckpointError` unless the checkpoint is of the same parameters and averages."""
    ours, theirs = state.shapes, stored.manifest.shapes
    if differing := {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)}:
        raise CheckpointError(
            f"{uri} must hold the parameters that this run trains, in the same shapes; these differ: "
            f"{listing(differing, 5)}"
        )
    quantities = {key.partition("/")[0] for key in stored.keys} - set(MOMENTS)
    if quantities != state.quantities:
        raise CheckpointError(
            f"{uri} must hold {listing(state.quantities)} of each parameter, got {listing(quantities)}: `ema` and "
            "`algorithm` must be as when it was written"
        )


@torch.no_grad()
def _apply(state: TrainingState, stored: StoredCheckpoint) -> None:
    """Write the stored fragments into the training state."""
    manifest = stored.manifest
    state.set_counters(optimizer_steps=manifest.optimizer_steps, skipped_steps=manifest.skipped_steps)
    state.optimizer.release_gathered()
    state.optimizer.set_steps(manifest.steps)
    for key, fragment in state.fragments():
        if key not in stored.keys:
            # A moment of a parameter that was not stepped yet.
            fragment.values.zero_()
            continue
        for part in stored.parts(key, fragment.start, fragment.values.numel()):
            values = fragment.values[part.start - fragment.start : part.end - fragment.start]
            values.copy_(stored.read(key, part))
