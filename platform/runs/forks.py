"""Forks: a run that begins from a checkpoint of another and goes on with settings of its own.

    checkpoint chosen ─► settings fit it ─► held from being removed ─► run queued ─► its first attempt restores it

Invariant: a fork counts on from the checkpoint's batch, and until it has a checkpoint of its own, its parent's files
stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.db.models import F, Q, QuerySet

from runs.checkpoint_files import hold
from runs.models import Run
from runs.stream import lock_stream
from worker.contracts.algorithms import ALGORITHM_SPECS
from worker.contracts.ingest import RunOrigin
from worker.contracts.names import Tuning
from worker.contracts.run_spec import RunSpec
from worker.contracts.shown_values import cut, shown
from worker.contracts.states import END_STATES, RunState

_SAME_WEIGHTS = ("base_model.path", "base_model.family", "base_model.dtype", "tuning")
"""Settings that say which weights are trained, and beside which others they make sense."""
_SAME_LORA = ("lora.rank", "lora.alpha", "lora.targets")


class ForkNeedsFiles(Exception):
    """The run cannot be deleted: a fork would lose what it begins from. 409."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkPoint:
    """A checkpoint that a run may be forked from."""

    parent: Run
    uri: str
    batch: int
    """Complete batches, from which the fork counts on."""
    policy_version: int

    def columns(self) -> dict[str, Any]:
        """The fork's columns as of its creation: as if it had written the checkpoint itself."""
        return {
            "forked_from": self.uri,
            "forked_batch": self.batch,
            "resume_from": self.uri,
            "resume_batch": self.batch,
            "num_batches_done": self.batch,
            "policy_version": self.policy_version,
        }

    def hold(self) -> None:
        """Keep the checkpoint's files from now on, within the transaction that makes the fork. Raises
        `CheckpointGone`."""
        # Who lets the checkpoint go takes this lock, too, and sees the fork once it is committed.
        lock_stream(self.parent.pk)
        hold(self.uri)


def origin_of(run: Run) -> RunOrigin | None:
    """What the driver is told of a fork's beginning; None for a run from the base model."""
    return None if run.forked_batch is None else RunOrigin(uri=run.forked_from, batch=run.forked_batch)


def fork_problems(point: ForkPoint, spec: RunSpec) -> dict[str, list[str]]:
    """Why a run of `spec` cannot begin from the checkpoint, by field path; empty if it can."""
    found: dict[str, list[str]] = {}
    for path, problem in _problems(point, point.parent.run_spec, spec):
        found.setdefault(path, []).append(problem)
    return found


def waiting_forks(run: Run) -> QuerySet[Run]:
    """Forks of `run` that may still have to begin from its checkpoint."""
    over = END_STATES - {RunState.STOPPED}
    return Run.objects.filter(~Q(state__in=over), ~Q(forked_from=""), parent=run, resume_from=F("forked_from"))


def require_no_waiting_forks(run: Run) -> None:
    """Raise `ForkNeedsFiles` while a fork of `run` may still have to begin from its checkpoint."""
    if (fork := waiting_forks(run).first()) is not None:
        raise ForkNeedsFiles(
            f"{run.name} cannot be deleted yet: {fork.name} was forked from it and has no checkpoint of its own; wait "
            "until it has written one, or cancel it"
        )


def _problems(point: ForkPoint, parent: RunSpec, spec: RunSpec) -> Iterator[tuple[str, str]]:
    written = f"the checkpoint of batch {point.batch} of {point.parent.name}"
    is_lora = parent.tuning is Tuning.LORA and spec.tuning is Tuning.LORA
    for path in (*_SAME_WEIGHTS, *(_SAME_LORA if is_lora else ())):
        was, now = attrgetter(path)(parent), attrgetter(path)(spec)
        if was != now:
            yield path, f"`{path}` must stay {_value(was)}, got {_value(now)}: {written} holds weights trained with it"
    if bool(parent.ema.decay) != bool(spec.ema.decay):
        bound, held = ("> 0", "an average") if parent.ema.decay else ("0", "no average")
        yield "ema.decay", f"`ema.decay` must be {bound}, got {spec.ema.decay:g}: {written} holds {held} of the weights"
    yield from _algorithm_problems(written, parent, spec)
    if spec.pipeline.max_staleness < parent.pipeline.max_staleness:
        yield (
            "pipeline.max_staleness",
            f"`pipeline.max_staleness` must be {parent.pipeline.max_staleness}, got {spec.pipeline.max_staleness}: "
            f"{written} may hold an older version that its next batch had begun on",
        )
    if spec.num_batches <= point.batch:
        yield (
            "num_batches",
            f"`num_batches` must be > {point.batch}, got {spec.num_batches}: a fork counts on from its checkpoint, so "
            "these batches are done",
        )


def _algorithm_problems(written: str, parent: RunSpec, spec: RunSpec) -> Iterator[tuple[str, str]]:
    has_old = parent.algorithm.needs.second_adapter
    if has_old != spec.algorithm.needs.second_adapter:
        names = sorted(name for name, kind in ALGORITHM_SPECS.items() if kind().needs.second_adapter is has_old)
        held = "an older policy" if has_old else "no older policy"
        yield (
            "algorithm.name",
            f"`algorithm.name` must be one of {', '.join(names)}, got {spec.algorithm.name}: {written} holds {held}",
        )
        return
    was, now = parent.algebra.num_optimizer_steps_per_batch, spec.algebra.num_optimizer_steps_per_batch
    if has_old and was != now:
        yield (
            "batch.num_minibatches",
            f"`batch.num_minibatches` × `batch.num_epochs_per_batch` must stay {was}, got {now}: "
            f"{spec.algorithm.name} moves its older policy by the number of optimizer steps so far",
        )


def _value(value: Any) -> str:
    """A setting as the sentences above name it."""
    match value:
        case tuple():
            return ", ".join(value) or "empty"
        case str():
            return cut(str(value))
    return shown(value)
