"""Fragments: how groups are split into them, and the queue in which they wait for a lane.

Invariant: the split depends on the batch algebra alone, never on the number of lanes or on timing.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator

from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


def split_into_fragments(
    *, purpose: Purpose, batch: int, num_groups: int, group_size: int, fragment_size: int, policy_version: int
) -> Iterator[Fragment]:
    """All fragments of `num_groups` groups in index order; a group's last is smaller where sizes do not divide."""
    for group in range(num_groups):
        for index, first in enumerate(range(0, group_size, fragment_size)):
            members = tuple(range(first, min(first + fragment_size, group_size)))
            yield Fragment(FragmentKey(purpose, batch, group, index), members, policy_version)


class FragmentQueue:
    """A priority queue: the most urgent fragment first, then the smallest key, so that one put back is next in line
    again."""

    def __init__(self, urgency: Callable[[Fragment], int]) -> None:
        self.urgency = urgency
        """Ranks the fragments that are put in from now on; lower goes first."""
        self._heap: list[tuple[int, str, int, int, int, Fragment]] = []
        """(urgency, the four parts of the key, fragment): numbers are compared several times as fast as keys."""
        self.num_training = 0
        """Those of them that are to be trained on."""

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, fragment: Fragment) -> None:
        key = fragment.key
        entry = self.urgency(fragment), key.purpose, key.batch, key.group, key.index, fragment
        heapq.heappush(self._heap, entry)
        self.num_training += key.purpose is Purpose.TRAIN

    def push_all(self, fragments: Iterable[Fragment]) -> None:
        for fragment in fragments:
            self.push(fragment)

    def first(self) -> Fragment | None:
        """The fragment that `pop` would return; `None` where the queue is empty."""
        return self._heap[0][-1] if self._heap else None

    def pop(self) -> Fragment:
        fragment = heapq.heappop(self._heap)[-1]
        self.num_training -= fragment.key.purpose is Purpose.TRAIN
        return fragment

    def __iter__(self) -> Iterator[Fragment]:
        """All fragments, in no order."""
        return (entry[-1] for entry in self._heap)
