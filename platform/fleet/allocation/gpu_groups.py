"""Which GPUs of a node make a lane together. Pure.

Invariant: the groups depend on the node's GPUs and their links only, never on who holds them, so that the same setting
leads to the same lanes whenever they can be made.
"""

from collections.abc import Iterable, Sequence

from fleet.allocation.lane_choice import FreeLane, islands


def gpu_groups(cards: Iterable[FreeLane], size: int) -> list[tuple[int, ...]]:
    """Keys of the cards of a node, in groups of `size` alike: those that NVLink joins, else those of a NUMA node, else
    any. Cards that make no full group are alone."""
    groups, left = list[tuple[int, ...]](), list[FreeLane]()
    devices = {card.device: [other for other in cards if other.device == card.device] for card in cards}
    for _, alike in sorted(devices.items()):
        over = [card for island in islands(alike) for card in _cut(island, size, groups)]
        left += _cut(sorted(over, key=lambda card: card.place), size, groups)
    return sorted([*groups, *((card.key,) for card in left)])


def _cut(cards: Sequence[FreeLane], size: int, groups: list[tuple[int, ...]]) -> list[FreeLane]:
    """Append full groups to `groups`; returns the cards that are left."""
    num_full = len(cards) // size
    groups += [tuple(card.key for card in cards[size * each : size * (each + 1)]) for each in range(num_full)]
    return list(cards[size * num_full :])
