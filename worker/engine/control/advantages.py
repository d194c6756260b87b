"""Advantages of the open batches: computed as soon as a group (or, for `advantage_std: batch`, the batch) is scored."""

from collections.abc import Sequence

from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import GroupAdvantages
from worker.engine.advantage.mixed import GroupScores, has_spread, mixed_advantages
from worker.engine.control.fragment_store import FragmentStore
from worker.scheduling.core.messages import Purpose


class AdvantageCache:
    """Computes the advantages of each group once and keeps them until `drop`: every epoch trains on the same ones."""

    def __init__(self, spec: RunSpec, fragments: FragmentStore) -> None:
        self._spec = spec
        self._num_groups = spec.algebra.num_groups
        self._weights = {reward.key: reward.weight for reward in spec.trained_rewards}
        self._fragments = fragments
        self._cached: dict[tuple[int, int], GroupAdvantages] = {}
        """By (batch, group): the advantages computed so far."""

    def of_group(self, batch: int, group: int) -> GroupAdvantages:
        """The advantages of a complete group, in member order. Raises `NonFiniteError` for a reward that is not
        finite."""
        if (batch, group) not in self._cached:
            over_batch = self._spec.algorithm.advantage_std == "batch"
            self._compute(batch, range(self._num_groups) if over_batch else [group], over_batch=over_batch)
        return self._cached[batch, group]

    def has_spread(self, batch: int, group: int) -> bool:
        """Whether a complete group has spread, so that some of its advantages are not 0. Needs no other group."""
        return has_spread(self._scores(batch, group), self._weights, mixing=self._spec.reward_mixing)

    def of_batch(self, batch: int) -> list[GroupAdvantages]:
        """The advantages of every group of a scored batch, in index order."""
        return [self.of_group(batch, group) for group in range(self._num_groups)]

    def drop(self, batch: int) -> None:
        """Forget the advantages of a batch."""
        self._cached = {key: value for key, value in self._cached.items() if key[0] != batch}

    def clear(self) -> None:
        """Forget all advantages."""
        self._cached.clear()

    def _compute(self, batch: int, groups: Sequence[int], *, over_batch: bool) -> None:
        computed = mixed_advantages(
            [self._scores(batch, group) for group in groups],
            self._weights,
            mixing=self._spec.reward_mixing,
            clip=self._spec.algorithm.advantage_clip,
            over_batch=over_batch,
        )
        self._cached.update({(batch, group): advantages for group, advantages in zip(groups, computed, strict=True)})

    def _scores(self, batch: int, group: int) -> GroupScores:
        """The score of each member, in member order, by the key of each trained reward."""
        scores: dict[str, list[float | None]] = {name: [] for name in self._weights}
        for record in self._fragments.of_group(Purpose.TRAIN, batch, group):
            assert record.scored is not None, "the scheduler trains complete groups only"
            for name, values in scores.items():
                values.extend(record.scored.parts[name])
        return scores
