"""Reports what became of each group of a batch: the record from which the web tells which prompts teach nothing.

One `groups` event a batch, when its last group is complete: groups that were drawn again count by their last draw, with
the number of draws that were dropped before it. Invariant: a driver reports a batch once each time that it scores it
whole; a rewind forgets the batches that were open.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.events import GroupsEvent
from worker.contracts.sample_reports import GroupOutcome
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.fragment_store import FragmentStore
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


class GroupReporter:
    """Follows the fragments of training batches, in whatever order they arrive."""

    def __init__(
        self, client: TelemetryClient, fragments: FragmentStore, advantages: AdvantageCache, algebra: BatchAlgebra
    ) -> None:
        """Read the groups' rewards from `fragments` and their spread from `advantages`; emit with `client`."""
        self._client = client
        self._fragments = fragments
        self._advantages = advantages
        self._algebra = algebra
        self._num_calls: Counter[tuple[FragmentKey, int]] = Counter()
        """By fragment and draw: the number of calls that were to generate it; above 1 where a lane was lost."""
        self._complete: dict[int, set[int]] = {}
        """By open batch: its groups that are complete and not drawn again."""

    def clear(self) -> None:
        """Forget the open batches."""
        self._num_calls.clear()
        self._complete.clear()

    def generating(self, fragments: Sequence[Fragment]) -> None:
        """Count a call that generates `fragments`."""
        self._num_calls.update((one.key, one.draw) for one in fragments if one.key.purpose is Purpose.TRAIN)

    def scored(self, fragment: Fragment) -> None:
        """A fragment to train on is scored, and its group not drawn again; report its batch when all groups are
        complete."""
        batch, group = fragment.key.batch, fragment.key.group
        if not self._fragments.is_scored(batch, group, self._algebra.group_size):
            return
        complete = self._complete.setdefault(batch, set())
        complete.add(group)
        if len(complete) < self._algebra.num_groups:
            return
        outcomes = tuple(self._outcome(batch, each) for each in sorted(complete))
        del self._complete[batch]
        self._num_calls = Counter({key: count for key, count in self._num_calls.items() if key[0].batch != batch})
        self._client.emit(GroupsEvent, batch=batch + 1, groups=outcomes)

    def _outcome(self, batch: int, group: int) -> GroupOutcome:
        records = self._fragments.of_group(Purpose.TRAIN, batch, group)
        rewards: list[float] = []
        num_missing = 0
        for record in records:
            assert record.scored is not None, "a complete group is scored"
            unrewarded = record.scored.unrewarded
            num_missing += len(unrewarded)
            rewards += [value for index, value in enumerate(record.scored.rewards) if index not in unrewarded]
        return GroupOutcome(
            prompt_index=records[0].prompt_index,
            mean_reward=float(np.mean(rewards)) if rewards else None,
            reward_std=float(np.std(rewards)) if rewards else 0.0,
            has_spread=not self._advantages.of_group(batch, group).zero_std,
            num_dropped_draws=records[0].fragment.draw,
            num_missing=num_missing,
            num_repeated_fragments=sum(
                count - 1
                for (key, _), count in self._num_calls.items()
                if key.batch == batch and key.group == group and count > 1
            ),
        )
