"""The groups of one batch, as the driver reported them: the true mean and spread of each, of all its members.

Samples show only some members of a group, so a mean over them would be another number than the one trained on.
"""

from typing import cast
from uuid import UUID

from pydantic import with_config
from typing_extensions import TypedDict

from runs.models import VALUES
from telemetry.models import GroupOutcomeRow


@with_config(use_attribute_docstrings=True)
class GroupOfBatch(TypedDict):
    """What became of one group of a batch."""

    group: int
    """The group's index in its batch, from 0."""
    prompt_index: int
    """The prompt's index among the run's."""
    mean_reward: float | None
    """Mean over all members that have a reward; null where none has."""
    reward_std: float
    """Standard deviation over the same, of the population."""
    has_spread: bool
    """Whether some advantage of the group differs from 0: without that it teaches nothing."""
    num_dropped_draws: int
    """Draws before this one that were dropped for want of spread."""
    num_missing: int
    """Samples that lack a trained reward."""
    num_repeated_fragments: int
    """Fragments that were generated once more, because their lane was lost."""


_COLUMNS = tuple(name for name in GroupOfBatch.__annotations__ if name != "group")


def groups_of_batch(run_id: UUID, batch: int) -> list[GroupOfBatch]:
    """The groups of a batch (complete batches, from 1), by index; empty until the last of them is complete."""
    rows = GroupOutcomeRow.objects.filter(run_id=run_id, batch=batch, reward_std__range=VALUES)
    # A batch that two attempts completed counts as the newer trained it. Rows of one report are in index order.
    newest = rows.order_by("-attempt").values("attempt")[:1]
    stored = rows.filter(attempt=newest).order_by("id").values(*_COLUMNS)
    return [cast(GroupOfBatch, {"group": index, **row}) for index, row in enumerate(stored)]
