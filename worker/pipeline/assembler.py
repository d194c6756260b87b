"""The group assembler: fragments go in, generated and scored in any order; complete groups come out.

Invariant: each fragment is generated once and scored once, and a group is complete exactly when all its fragments are
scored. Advantages need whole groups, so nothing downstream ever sees less than one. Holds ids and scalar rewards only.
"""

import math
from collections.abc import Iterable

from worker.pipeline.protocol import ProtocolError
from worker.pipeline.types import Fragment, FragmentKey


class _Group:
    """The fragments of one group by index, and what is known of each."""

    __slots__ = ("fragments", "generated", "rewards")

    def __init__(self) -> None:
        self.fragments: dict[int, Fragment] = {}
        self.generated: set[int] = set()
        self.rewards: dict[int, tuple[float, ...]] = {}

    @property
    def is_complete(self) -> bool:
        return len(self.rewards) == len(self.fragments)


class GroupAssembler:
    """Collects the fragments of one batch, or of one evaluation."""

    def __init__(self, fragments: Iterable[Fragment]) -> None:
        self._groups: dict[int, _Group] = {}
        for fragment in fragments:
            group = self._groups.setdefault(fragment.key.group, _Group())
            group.fragments[fragment.key.index] = fragment
        self.num_fragments = sum(len(group.fragments) for group in self._groups.values())
        self.num_generated = 0
        self.num_scored = 0
        self.num_complete_groups = 0

    @property
    def is_generated(self) -> bool:
        return self.num_generated == self.num_fragments

    @property
    def is_complete(self) -> bool:
        return self.num_scored == self.num_fragments

    def is_group_complete(self, group: int) -> bool:
        return self._groups[group].is_complete

    def is_group_generated(self, group: int) -> bool:
        return len(self._groups[group].generated) == len(self._groups[group].fragments)

    def is_group_begun(self, group: int) -> bool:
        """Whether any fragment of it has been generated."""
        return bool(self._groups[group].generated)

    def generated(self, key: FragmentKey) -> None:
        """Raises `ProtocolError` for a fragment unknown here, or generated before."""
        group, _ = self._find(key)
        if key.index in group.generated:
            raise ProtocolError(f"{key} was generated before: a second copy would be trained on twice")
        group.generated.add(key.index)
        self.num_generated += 1

    def scored(self, key: FragmentKey, rewards: tuple[float, ...]) -> None:
        """Raises `ProtocolError` for a fragment unknown, not generated or scored before, and for unusable rewards."""
        group, fragment = self._find(key)
        if key.index not in group.generated:
            raise ProtocolError(f"{key} must be generated before it is scored: expected `Generated` first")
        if key.index in group.rewards:
            raise ProtocolError(f"{key} was scored before: expected one `Scored` for each fragment")
        if len(rewards) != len(fragment.members):
            raise ProtocolError(
                f"`rewards` of {key} must hold one for each of {len(fragment.members)} members, got {rewards}"
            )
        for member, reward in zip(fragment.members, rewards, strict=True):
            if not math.isfinite(reward):
                raise ProtocolError(
                    f"`rewards` of {key} must be finite, got {reward} for member {member}: the scorer failed"
                )
        group.rewards[key.index] = rewards
        self.num_scored += 1
        self.num_complete_groups += group.is_complete

    def group_rewards(self, group: int) -> tuple[float, ...]:
        """The rewards of a complete group, in member order."""
        held = self._groups[group]
        if not held.is_complete:
            raise ProtocolError(
                f"group {group} must be complete, got {len(held.rewards)} of {len(held.fragments)} fragments"
            )
        return tuple(reward for index in sorted(held.rewards) for reward in held.rewards[index])

    def all_rewards(self) -> tuple[tuple[float, ...], ...]:
        """Of every group in index order."""
        return tuple(self.group_rewards(group) for group in sorted(self._groups))

    def _find(self, key: FragmentKey) -> tuple[_Group, Fragment]:
        group = self._groups.get(key.group)
        if group is None or key.index not in group.fragments:
            raise ProtocolError(f"{key} is not among the {self.num_fragments} fragments expected here")
        return group, group.fragments[key.index]
