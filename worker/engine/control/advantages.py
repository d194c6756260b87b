"""Advantages of the batch under way: computed once a group (or, for `advantage_std: batch`, the batch) is scored."""

from worker.contracts.sections import FlowGrpoSpec
from worker.engine.advantage.group import GroupAdvantages, batch_advantages, group_advantages
from worker.engine.control.fragments import FragmentShelf
from worker.pipeline.types import Purpose


class AdvantageTable:
    """Remembers what it computed until `drop`: every epoch trains on the same advantages."""

    def __init__(self, algorithm: FlowGrpoSpec, num_groups: int, shelf: FragmentShelf) -> None:
        self._algorithm = algorithm
        self._num_groups = num_groups
        self._shelf = shelf
        self._known: dict[tuple[int, int], GroupAdvantages] = {}

    def of_group(self, batch: int, group: int) -> GroupAdvantages:
        """Of a complete group, in member order. Raises `NonFiniteError` for a reward that is not finite."""
        if (batch, group) not in self._known:
            if self._algorithm.advantage_std == "batch":
                self._compute_batch(batch)
            else:
                clip = self._algorithm.advantage_clip
                self._known[batch, group] = group_advantages(self._rewards(batch, group), clip=clip)
        return self._known[batch, group]

    def of_batch(self, batch: int) -> list[GroupAdvantages]:
        """Of every group of a scored batch, in index order."""
        return [self.of_group(batch, group) for group in range(self._num_groups)]

    def drop(self, batch: int) -> None:
        self._known = {key: value for key, value in self._known.items() if key[0] != batch}

    def clear(self) -> None:
        self._known.clear()

    def _compute_batch(self, batch: int) -> None:
        rewards = [self._rewards(batch, group) for group in range(self._num_groups)]
        computed = batch_advantages(rewards, clip=self._algorithm.advantage_clip)
        self._known.update({(batch, group): advantages for group, advantages in enumerate(computed)})

    def _rewards(self, batch: int, group: int) -> list[float]:
        rewards: list[float] = []
        for record in self._shelf.of_group(Purpose.TRAIN, batch, group):
            assert record.scored is not None, "the scheduler trains complete groups only"
            rewards.extend(record.scored.rewards)
        return rewards
