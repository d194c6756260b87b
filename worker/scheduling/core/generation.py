"""Generation: which fragment is generated next, and on which lane.

Lanes pull work: a free lane takes the most urgent fragment, so a slow lane takes fewer; a lent trainer lane does the
same for as long as its allowance lasts. Short fragments are taken several at once, as `call_sizes` says. In a colocated
run, where all lanes wait for the last fragment, the last ones are left to the lanes that end them first
(`generation_shares`). Invariant: a lane holds exactly the fragment's policy version when it starts, and changes
versions only between calls: no trajectory mixes two.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from worker.contracts.names import LaneRole
from worker.scheduling.core.call_sizes import CallSizes
from worker.scheduling.core.fragment_queue import FragmentQueue
from worker.scheduling.core.generation_shares import GenerationShares
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.messages import Action, Fragment, Generate, Pull, Purpose

_EVALUATIONS_FIRST = {Purpose.REQUEST: 0, Purpose.EVALUATE: 1, Purpose.TRAIN: 2}


def evaluations_first(fragment: Fragment) -> int:
    """The urgency of fragments for lanes that train too: users wait for their requests, and an evaluation must reach
    the lanes while they still hold the version under test."""
    return _EVALUATIONS_FIRST[fragment.key.purpose]


def evaluations_while_training(fragment: Fragment) -> int:
    """The urgency of fragments for lanes that only generate: an evaluation goes behind the training fragments of its
    version, which trainer lanes wait for, and before those of the next, while the lanes still hold it. It then fills
    the time in which these lanes would wait for the trainer lanes."""
    if fragment.key.purpose is Purpose.REQUEST:
        return 0
    return 1 + 2 * fragment.policy_version + (fragment.key.purpose is Purpose.EVALUATE)


class Generation:
    """The queue of fragments to generate, and the lanes that take from it."""

    def __init__(self, lanes: LaneTable, call_sizes: CallSizes, shares: GenerationShares | None = None) -> None:
        """`shares`: decide which lanes generate the last fragments; `None` where every free lane takes some."""
        self._lanes, self._call_sizes, self._shares = lanes, call_sizes, shares
        self._queue = FragmentQueue(evaluations_first)
        self._assigned: dict[str, Fragment] = {}
        """By lane: a fragment of an older version, kept for the lane that is pulling that version."""
        self._last_seen_version: int | None = None
        """The version published last when actions were asked for last."""

    def share_by(self, call_sizes: CallSizes, shares: GenerationShares | None) -> None:
        """Divide fragments among lanes otherwise from now on; arguments as for a new `Generation`."""
        self._call_sizes, self._shares = call_sizes, shares

    def order_by(self, urgency: Callable[[Fragment], int]) -> None:
        """Rank the fragments that are enqueued from now on; lower goes first."""
        self._queue.urgency = urgency

    @property
    def shares(self) -> GenerationShares | None:
        """What decides which lanes generate the last fragments; `None` where every free lane takes some."""
        return self._shares

    @property
    def first_waiting(self) -> Fragment | None:
        """The fragment that goes next; `None` where none waits, or each of those that do is kept for a lane."""
        return self._queue.first()

    @property
    def num_waiting(self) -> int:
        """The number of fragments that no lane has begun."""
        return len(self._queue) + len(self._assigned)

    @property
    def num_unclaimed(self) -> int:
        """The number of fragments that any lane may still take."""
        return len(self._queue)

    @property
    def num_waiting_for_training(self) -> int:
        """The number of fragments to be trained on that no lane has begun."""
        assigned = sum(fragment.key.purpose is Purpose.TRAIN for fragment in self._assigned.values())
        return self._queue.num_training + assigned

    def waiting_by_group(self) -> Counter[tuple[Purpose, int, int]]:
        """By (purpose, batch, group): the number of fragments that no lane has begun."""
        waiting = chain(self._queue, self._assigned.values())
        return Counter((key.purpose, key.batch, key.group) for key in (fragment.key for fragment in waiting))

    def is_any_lane_behind(self, current_version: int) -> bool:
        """Whether a free rollout lane has yet to pull the current version."""
        return any(lane.policy_version != current_version for lane in self._lanes.free(LaneRole.ROLLOUT))

    def enqueue(self, fragments: Iterable[Fragment]) -> None:
        self._queue.push_all(fragments)

    def next_actions(self, current_version: int, at: float) -> Iterator[Action]:
        """A fragment or a pull for each free lane that has one to do; `current_version` is the one published last."""
        # Lanes that found nothing to do are asked again only when there is something new to take or to pull.
        has_changed = bool(self._queue) or current_version != self._last_seen_version
        self._last_seen_version = current_version
        newly_free = self._lanes.take_newly_free()
        for lane in self._lanes.free(LaneRole.ROLLOUT) if has_changed else newly_free:
            action = self._next_for(lane, current_version, at)
            if action is not None:
                self._lanes.start(lane, action, at)
                if self._shares is not None:
                    self._shares.began(lane)
                yield action

    def requeue(self, lane: Lane) -> None:
        """Put back the fragments that a lost lane had begun or was about to begin."""
        if isinstance(lane.under_way, Generate):
            self._queue.push_all(lane.under_way.fragments)
        self.unassign(lane)

    def is_assigned(self, lane: Lane) -> bool:
        """Whether a fragment is kept for this lane."""
        return lane.name in self._assigned

    def unassign(self, lane: Lane) -> None:
        """Put back the fragment that is kept for this lane, if any."""
        if lane.name in self._assigned:
            self._queue.push(self._assigned.pop(lane.name))

    def _next_for(self, lane: Lane, current_version: int, at: float) -> Action | None:
        assigned = self._assigned.pop(lane.name, None)
        if assigned is not None:
            # The lane has pulled this fragment's version, and has done nothing else since.
            return self._generate(lane, assigned, at)
        first = self._queue.first()
        if first is None or first.policy_version != lane.policy_version:
            return self._pull(lane, first, current_version)
        if self._shares is not None and self._shares.declines(lane, first, len(self._queue), at):
            return None
        return self._generate(lane, self._queue.pop(), at)

    def _generate(self, lane: Lane, fragment: Fragment, at: float) -> Action:
        """A call of this fragment and of those next in line that may go with it."""
        number = self._call_sizes.num_fragments(lane, fragment, 1 + len(self._queue), at)
        fragments = [fragment]
        while len(fragments) < number and (following := self._queue.first()) and _go_together(fragment, following):
            fragments.append(self._queue.pop())
        if lane.is_lent:
            self._lanes.allow(lane, lane.allowance - len(fragments))
        return Generate(lane.name, tuple(fragments))

    def _pull(self, lane: Lane, first: Fragment | None, current_version: int) -> Action | None:
        if first is None and lane.is_lent:
            return None
        if first is not None and first.policy_version != current_version:
            # The lane pulls an older version for this fragment alone; if another lane took it meanwhile, the pull would
            # be in vain.
            self._assigned[lane.name] = self._queue.pop()
            return Pull(lane.name, first.policy_version)
        return None if lane.policy_version == current_version else Pull(lane.name, current_version)


def _go_together(fragment: Fragment, following: Fragment) -> bool:
    """Whether two fragments may be generated in one call: a lane holds one version, an evaluation takes another number
    of denoising steps than a batch, and the size of a call is found for fragments of the first one's size."""
    return _common(fragment) == _common(following)


def _common(fragment: Fragment) -> tuple[Purpose, int, int, int]:
    """What the fragments of a call have in common."""
    return fragment.key.purpose, fragment.key.batch, fragment.policy_version, len(fragment.members)
