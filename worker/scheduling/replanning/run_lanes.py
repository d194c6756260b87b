"""The lanes of a run, by the places that they have in the costs of its pool."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLanes:
    """The lanes of a run that generate or train, and those that score."""

    names: tuple[str, ...]
    """Ids of the lanes, in the order of the pool's costs."""
    trainers: frozenset[int]
    """Indices of the lanes that train."""
    rewards: tuple[str, ...]
    """Ids of the reward lanes."""
