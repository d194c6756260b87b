"""The lineage of a run: the runs that it came from, and those that came from it, with the checkpoints between them.

Bounded in generations and in runs, with one query for each generation. A run that the reader may not see ends its
branch.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import F, QuerySet, Window
from django.db.models.functions import DenseRank
from pydantic import with_config
from typing_extensions import TypedDict

from accounts.access import Actor, visible_projects
from gallery.models import CheckpointRecord
from runs.models import Run
from runs.run_body import StateJson

MAX_GENERATIONS = 12
"""Most generations before the run, and most after it: more than anybody forks in a row."""
MAX_RUNS = 60
"""Most runs of a lineage: as many rows as a page shows."""
MAX_CHECKPOINTS = 50
"""Most checkpoints of a run, the newest: as many dots as can be told apart in a row."""

_COLUMNS = ("id", "name", "state", "parent_id", "forked_batch", "num_batches", "num_batches_done", "headline")


@with_config(use_attribute_docstrings=True)
class LineageRun(TypedDict):
    """One run of a lineage."""

    id: str
    name: str
    state: StateJson
    parent: str | None
    """Id of the run that it was forked or duplicated from; null where that is not part of the lineage."""
    generation: int
    """0 for the run that was asked for, below 0 for those it came from, above 0 for those that came from it."""
    forked_batch: int | None
    """Complete batches of the parent's checkpoint that it began from; null for a run from the base model."""
    num_batches: int
    num_batches_done: int
    reward: float | None
    """Held-out reward of its newest evaluation."""
    evaluated_batch: int | None
    """Complete batches at that evaluation."""
    checkpoints: list[int]
    """Complete batches of its newest checkpoints, ascending; those whose files were removed included."""


@with_config(use_attribute_docstrings=True)
class Lineage(TypedDict):
    runs: list[LineageRun]
    """Every run after its parent, and directly after it those that came from it, the latest fork first."""
    is_whole: bool
    """Whether these are all; false where the lineage is longer than what is read."""


def lineage(user: Actor, run: Run) -> Lineage:
    """The lineage of `run`, which the caller has read for `user`."""
    before, began = _ancestors(user, run)
    after, ended = _descendants(user, run, MAX_RUNS - len(before) - 1)
    generations = {ancestor.pk: -place for place, ancestor in enumerate(before, start=1)}
    generations |= {run.pk: 0} | {found.pk: generation for generation, found in after}
    family = [*reversed(before), run, *(found for _, found in after)]
    dots = _checkpoints([each.pk for each in family])
    return {
        "runs": [_body(each, generations, dots[each.pk]) for each in _in_order(family)],
        "is_whole": began and ended,
    }


def _ancestors(user: Actor, run: Run) -> tuple[list[Run], bool]:
    """The runs that `run` came from, its parent first, and whether they go back to the beginning."""
    found: list[Run] = []
    parent_id = run.parent_id
    while parent_id is not None and len(found) < MAX_GENERATIONS:
        parent = _visible(user).filter(pk=parent_id).first()
        if parent is None:
            return found, True
        found.append(parent)
        parent_id = parent.parent_id
    return found, parent_id is None


def _descendants(user: Actor, run: Run, most: int) -> tuple[list[tuple[int, Run]], bool]:
    """The runs that came from `run` with their generation, at most `most`, and whether these are all."""
    found: list[tuple[int, Run]] = []
    parents: Sequence[UUID] = [run.pk]
    for generation in range(1, MAX_GENERATIONS + 2):
        room = most - len(found) if generation <= MAX_GENERATIONS else 0
        children = list(_visible(user).filter(parent__in=parents).order_by("created_at")[: room + 1])
        if len(children) > room:
            return [*found, *((generation, child) for child in children[:room])], False
        if not children:
            break
        found += [(generation, child) for child in children]
        parents = [child.pk for child in children]
    return found, True


def _visible(user: Actor) -> QuerySet[Run]:
    return Run.objects.filter(project__in=visible_projects(user)).only(*_COLUMNS)


def _in_order(family: Sequence[Run]) -> Iterator[Run]:
    """Depth first, the latest forks of a run first: drawn over batches, no edge crosses a run that it passes."""
    children: dict[UUID | None, list[Run]] = defaultdict(list)
    known = {each.pk for each in family}
    for each in family:
        children[each.parent_id if each.parent_id in known else None].append(each)
    pending = list(reversed(children[None]))
    while pending:
        each = pending.pop()
        yield each
        latest_first = sorted(children[each.pk], key=lambda child: child.forked_batch or 0, reverse=True)
        # The last of `pending` comes next.
        pending += reversed(latest_first)


def _checkpoints(run_ids: Sequence[UUID]) -> dict[UUID, list[int]]:
    rank = Window(DenseRank(), partition_by="run_id", order_by=F("batch").desc())
    rows = CheckpointRecord.objects.filter(run__in=run_ids).annotate(place=rank).filter(place__lte=MAX_CHECKPOINTS)
    found: dict[UUID, set[int]] = defaultdict(set)
    for run_id, batch in rows.values_list("run_id", "batch"):
        found[run_id].add(batch)
    return defaultdict(list, {run_id: sorted(batches) for run_id, batches in found.items()})


def _body(run: Run, generations: dict[UUID, int], checkpoints: list[int]) -> LineageRun:
    parent = run.parent_id if run.parent_id in generations else None
    return {
        "id": str(run.pk),
        "name": run.name,
        "state": run.state,
        "parent": None if parent is None else str(parent),
        "generation": generations[run.pk],
        "forked_batch": run.forked_batch,
        "num_batches": run.num_batches,
        "num_batches_done": run.num_batches_done,
        "reward": run.headline.get("reward_after", run.headline.get("reward_before")),
        "evaluated_batch": _evaluated_batch(run),
        "checkpoints": checkpoints,
    }


def _evaluated_batch(run: Run) -> int | None:
    if "reward_after" in run.headline:
        return int(run.headline["batch_after"])
    return (run.forked_batch or 0) if "reward_before" in run.headline else None
