"""The group assembler: fragments go in, generated and scored in any order; complete groups come out.

A group without spread is drawn again, up to `max_resamples` times: all its fragments are dropped, rewards included, and
return as fragments of the next draw.

It holds ids and scalar rewards only. Invariant: each fragment of each draw is generated once and scored once, and a
group is complete exactly when all fragments of the draw that is kept are scored. Advantages need complete groups, so
nothing downstream ever sees a part of one.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from worker.scheduling.core.messages import Fragment, FragmentKey
from worker.scheduling.core.protocol import ProtocolError
from worker.scheduling.core.rules import is_resampled


class _Group:
    """The fragments of one group's present draw by index, which of them are generated, the rewards of those scored, and
    whether these differ."""

    __slots__ = ("fragments", "generated", "has_spread", "rewards")

    def __init__(self) -> None:
        self.fragments: dict[int, Fragment] = {}
        self.generated: set[int] = set()
        self.rewards: dict[int, tuple[float, ...]] = {}
        self.has_spread = True

    @property
    def is_complete(self) -> bool:
        return len(self.rewards) == len(self.fragments)

    def draw_again(self) -> list[Fragment]:
        """Drop the present draw; returns the fragments of the next one."""
        self.generated.clear()
        self.rewards.clear()
        self.fragments = {index: replace(each, draw=each.draw + 1) for index, each in self.fragments.items()}
        return list(self.fragments.values())


@dataclass(slots=True)
class GroupCounts:
    """How far some groups have come. A complete group is also counted as generated, and a generated one as begun."""

    num_begun: int = 0
    """The number of groups of which at least one fragment is generated."""
    num_generated: int = 0
    """The number of groups of which every fragment is generated."""
    num_complete: int = 0
    """The number of groups of which every fragment is scored."""


class GroupAssembler:
    """Collects the fragments of one batch, or of one evaluation."""

    def __init__(self, fragments: Iterable[Fragment], *, num_groups_per_part: int = 1, max_resamples: int = 0) -> None:
        """
        Args:
            num_groups_per_part: groups are also counted by part, so many consecutive groups, a mini-batch say.
            max_resamples: draws of a group after its first, while the one before has no spread.
        """
        self._groups: dict[int, _Group] = {}
        for fragment in fragments:
            group = self._groups.setdefault(fragment.key.group, _Group())
            group.fragments[fragment.key.index] = fragment
        self._num_groups_per_part = num_groups_per_part
        self._parts: defaultdict[int, GroupCounts] = defaultdict(GroupCounts)
        self._whole = GroupCounts()
        self._newly_complete: list[int] = []
        self._max_resamples = max_resamples
        self.num_fragments = sum(len(group.fragments) for group in self._groups.values())
        self.num_generated = 0
        self.num_scored = 0

    @property
    def is_complete(self) -> bool:
        return self.num_scored == self.num_fragments

    def counts(self, part: int | None = None) -> GroupCounts:
        """The counts over the groups of one part, or over all groups."""
        return self._whole if part is None else self._parts[part]

    def take_newly_complete(self) -> list[int]:
        """The groups that became complete since the last call."""
        groups, self._newly_complete = self._newly_complete, []
        return groups

    def is_group_complete(self, group: int) -> bool:
        return self._groups[group].is_complete

    def generated(self, key: FragmentKey) -> None:
        """Count a fragment as generated. Raises `ProtocolError` for one that is unknown here, or generated before."""
        group, _ = self._find(key)
        if key.index in group.generated:
            raise ProtocolError(f"{key} was generated before: a second copy would be trained on twice")
        group.generated.add(key.index)
        self.num_generated += 1
        for counts in self._counts_of(key):
            counts.num_begun += len(group.generated) == 1
            counts.num_generated += len(group.generated) == len(group.fragments)

    def scored(self, key: FragmentKey, rewards: tuple[float, ...], *, has_spread: bool = True) -> list[Fragment]:
        """Store a fragment's rewards.

        Args:
            has_spread: whether the rewards of the group differ; read where this fragment completes it.

        Returns:
            The fragments to be generated in place of the group's, if it is drawn again.

        Raises:
            ProtocolError: for a fragment that is unknown, not generated or scored before, and for rewards that are not
                finite or not one for each member.
        """
        group, fragment = self._find(key)
        if key.index not in group.generated:
            raise ProtocolError(f"{key} must be generated before it is scored: expected `Generated` first")
        if key.index in group.rewards:
            raise ProtocolError(f"{key} was scored before: expected one `Scored` for each fragment")
        if len(rewards) != len(fragment.members):
            raise ProtocolError(
                f"`rewards` of {key} must hold one for each of {len(fragment.members)} members, got {rewards}: "
                "report a fragment's rewards together"
            )
        for member, reward in zip(fragment.members, rewards, strict=True):
            if not math.isfinite(reward):
                raise ProtocolError(
                    f"`rewards` of {key} must be finite, got {reward} for member {member}: the scorer failed"
                )
        group.rewards[key.index] = rewards
        self.num_scored += 1
        return self._completed(key, group, fragment.draw, has_spread=has_spread) if group.is_complete else []

    def _completed(self, key: FragmentKey, group: _Group, draw: int, *, has_spread: bool) -> list[Fragment]:
        """Keep the draw of a complete group, or drop it; returns the fragments of the next draw, if there is one."""
        if is_resampled(has_spread=has_spread, draw=draw, max_resamples=self._max_resamples):
            self.num_generated -= len(group.fragments)
            self.num_scored -= len(group.fragments)
            for counts in self._counts_of(key):
                counts.num_begun -= 1
                counts.num_generated -= 1
            return group.draw_again()
        group.has_spread = has_spread
        self._newly_complete.append(key.group)
        for counts in self._counts_of(key):
            counts.num_complete += 1
        return []

    def num_draws_left(self, group: int) -> int:
        """How many more times an incomplete group may be drawn."""
        return self._max_resamples - next(iter(self._groups[group].fragments.values())).draw

    def has_spread(self, group: int) -> bool:
        """Whether the rewards of a complete group differ."""
        return self._groups[group].has_spread

    def group_rewards(self, group: int) -> tuple[float, ...]:
        """The rewards of a complete group, in member order. Raises `ProtocolError` for one that is not complete."""
        held = self._groups[group]
        if not held.is_complete:
            raise ProtocolError(
                f"group {group} must be complete, got {len(held.rewards)} of {len(held.fragments)} fragments scored: "
                "wait for it to be taken as newly complete"
            )
        return tuple(reward for index in sorted(held.rewards) for reward in held.rewards[index])

    def all_rewards(self) -> tuple[tuple[float, ...], ...]:
        """[group, member]: the rewards of all groups, each of them complete."""
        return tuple(self.group_rewards(group) for group in sorted(self._groups))

    def _counts_of(self, key: FragmentKey) -> tuple[GroupCounts, GroupCounts]:
        return self._parts[key.group // self._num_groups_per_part], self._whole

    def _find(self, key: FragmentKey) -> tuple[_Group, Fragment]:
        group = self._groups.get(key.group)
        if group is None or key.index not in group.fragments:
            raise ProtocolError(
                f"{key} must be among the {self.num_fragments} fragments expected here, got an unknown one: "
                "answer only what was asked for"
            )
        return group, group.fragments[key.index]
