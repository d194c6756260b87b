"""The lanes of a run as the scheduler knows them: which have joined, which are free, which have an action under way.

Free lanes are indexed, so that finding one takes the same time among thousands of lanes:

    by role      the role that the lane serves now; a trainer lane that is not lent is listed while the gang commits
    newly free   lanes that may generate and have not been asked for their next action since they became free
    exhausted    lent lanes that may begin no further fragment
    departing    lanes that were asked to leave, and have nothing under way

Invariant: a lane has at most one action under way. The trainer lanes form one gang: they accumulate each by itself, but
an action of the gang (a commit, a snapshot) occupies all of them, so none begins while one is at work or lent.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from worker.contracts.names import LaneRole
from worker.scheduling.core.messages import Accumulate, Action, Event, LaneJoined, Switch
from worker.scheduling.core.protocol import ProtocolError, is_answer


@dataclass(slots=True)
class Lane:
    """One lane, with the action that it has under way."""

    name: str
    role: LaneRole
    policy_version: int | None
    """The version whose weights the lane holds; `None` before its first pull."""
    serves: LaneRole
    """The role that the lane serves now: its own, or rollout for a trainer lane that is lent."""
    under_way: Action | None = None
    """The action begun and not answered; `None` where the lane is free."""
    since: float = 0.0
    """When `under_way` began, in seconds of the executor's clock."""
    start_number: int = 0
    """The ordinal of the lane's latest action among all actions started; breaks ties between lanes that end at once."""
    allowance: int = 0
    """The number of fragments that a lent trainer lane may still begin before it must return."""
    is_leaving: bool = False
    """Whether the lane was asked to leave, so that it is given nothing more."""

    @property
    def is_lent(self) -> bool:
        return self.serves is not self.role


class LaneTable:
    """All lanes by name and role; free lanes in the order in which they became free."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._num_starts = 0
        self._num: dict[LaneRole, int] = dict.fromkeys(LaneRole, 0)
        self._num_lost: dict[LaneRole, int] = dict.fromkeys(LaneRole, 0)
        self.num_joined = 0
        """The number of lanes of all roles that have ever joined."""
        self._free: dict[LaneRole, OrderedDict[str, Lane]] = {role: OrderedDict() for role in LaneRole}
        self._newly_free: dict[str, Lane] = {}
        self._exhausted: dict[str, Lane] = {}
        self._departing: dict[str, Lane] = {}
        self._trainers: dict[str, Lane] = {}
        self._lent: dict[str, Lane] = {}
        """Trainer lanes, from the start of their switch to generation to the end of their switch back."""
        self._with_allowance: dict[str, Lane] = {}
        self.num_allowances_ended = 0
        """How often a lane was to begin no further fragment."""
        self._accumulating: dict[str, Lane] = {}
        """Trainer lanes that accumulate."""
        self._gang_action: Action | None = None
        self._gang_since = 0.0
        self._gang_is_reserved = False

    def __contains__(self, name: str) -> bool:
        return name in self._lanes

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    def __getitem__(self, name: str) -> Lane:
        """Raises `ProtocolError` for a lane that has not joined or is lost."""
        if name not in self._lanes:
            raise ProtocolError(f"lane `{name}` is not part of this run: apply `LaneJoined` before anything else of it")
        return self._lanes[name]

    def join(self, event: LaneJoined) -> None:
        """Add a free lane. Raises `ProtocolError` for a name in use, or a trainer lane while the gang is at work."""
        if event.lane in self._lanes:
            raise ProtocolError(f"lane `{event.lane}` has joined already: apply `LaneLost` before it joins again")
        if event.role is LaneRole.TRAINER and self.gang_work is not None:
            raise ProtocolError(
                f"trainer lane `{event.lane}` must join while the gang is free, got {self.gang_work} under way: "
                "apply its answer first"
            )
        lane = Lane(event.lane, event.role, event.policy_version, serves=event.role)
        self._lanes[lane.name] = lane
        self._num[lane.role] += 1
        self.num_joined += 1
        if lane.role is LaneRole.TRAINER:
            self._trainers[lane.name] = lane
        self._set_free(lane)

    def lose(self, name: str) -> Lane:
        """Remove a lane; the caller must put back the fragment that it had under way."""
        lane = self[name]
        self._remove(lane)
        self._num_lost[lane.role] += 1
        return lane

    def ask_to_leave(self, name: str) -> Lane:
        """Give the lane nothing more; `take_departing` returns it once it has nothing under way. Raises `ProtocolError`
        for a trainer lane while the gang is not reserved."""
        lane = self[name]
        if lane.role is LaneRole.TRAINER and not self._gang_is_reserved:
            raise ProtocolError(f"trainer lane `{name}` must leave while the gang is reserved: apply `TrainerReserved`")
        lane.is_leaving = True
        if lane.under_way is None:
            self._set_busy(lane)
            self._departing[name] = lane
        return lane

    def take_departing(self) -> list[Lane]:
        """Remove the lanes that were asked to leave and have nothing under way, and return them."""
        lanes = list(self._departing.values())
        for lane in lanes:
            self._remove(lane)
        return lanes

    def _remove(self, lane: Lane) -> None:
        del self._lanes[lane.name]
        self._set_busy(lane)
        for index in (self._trainers, self._lent, self._with_allowance, self._accumulating, self._departing):
            index.pop(lane.name, None)
        self._num[lane.role] -= 1

    def of(self, role: LaneRole) -> list[Lane]:
        """Lanes whose own role it is: the free ones in the order in which they became free, then the others in the
        order in which they were started."""
        free = [lane for lane in self._free[role].values() if lane.role is role]
        busy = (lane for lane in self if lane.role is role and lane.under_way is not None)
        return free + sorted(busy, key=lambda lane: lane.start_number)

    def num(self, role: LaneRole) -> int:
        return self._num[role]

    def num_lost(self, role: LaneRole) -> int:
        return self._num_lost[role]

    # --- free lanes -------------------------------------------------------------------------------------------------

    def num_free(self, role: LaneRole) -> int:
        return len(self._free[role])

    def free(self, role: LaneRole) -> list[Lane]:
        """Lanes that serve as `role` now and have no action of their own under way."""
        return list(self._free[role].values())

    def first_free(self, role: LaneRole) -> Lane | None:
        return next(iter(self._free[role].values()), None)

    def take_newly_free(self) -> list[Lane]:
        """Lanes that may generate and became free since the last call."""
        lanes = list(self._newly_free.values())
        self._newly_free.clear()
        return lanes

    def is_busy(self, lane: Lane) -> bool:
        """Whether the lane has an action under way, of its own or with the gang, or is reserved with the gang."""
        return lane.under_way is not None or (
            lane.role is LaneRole.TRAINER and (self._gang_action is not None or self._gang_is_reserved)
        )

    @property
    def nothing_under_way(self) -> bool:
        """Whether every lane is free, and none is lent or reserved."""
        num_free = sum(len(free) for free in self._free.values())
        is_gang_idle = self._gang_action is None and not self._gang_is_reserved and not self._lent
        return is_gang_idle and len(self._lanes) == num_free

    def start(self, lane: Lane, action: Action, at: float) -> None:
        """Occupy a free lane with `action` from `at` on."""
        self._num_starts += 1
        lane.under_way, lane.since, lane.start_number = action, at, self._num_starts
        self._set_busy(lane)
        if isinstance(action, Switch):
            self._lent[lane.name] = lane
        elif isinstance(action, Accumulate):
            self._accumulating[lane.name] = lane

    def finish(self, name: str, event: Event) -> Action:
        """Free a lane by the answer to its action under way, and return that action. Raises `ProtocolError` where
        `event` does not answer it."""
        lane = self[name]
        action = lane.under_way
        if action is None:
            raise ProtocolError(f"lane `{name}` has nothing under way, so {event} answers nothing: apply answers once")
        if not is_answer(event, action):
            raise ProtocolError(f"lane `{name}` has {action} under way and was expected to answer that, got {event}")
        lane.under_way = None
        self._accumulating.pop(name, None)
        if isinstance(action, Switch):
            lane.serves = action.to
            if not lane.is_lent:
                del self._lent[name]
        self._set_free(lane)
        return action

    def _set_free(self, lane: Lane) -> None:
        if lane.is_leaving:
            self._departing[lane.name] = lane
            return
        if lane.is_lent and not lane.allowance:
            self._exhausted[lane.name] = lane
            return
        self._free[lane.serves][lane.name] = lane
        if lane.serves is LaneRole.ROLLOUT:
            self._newly_free[lane.name] = lane

    def _set_busy(self, lane: Lane) -> None:
        self._free[lane.serves].pop(lane.name, None)
        self._newly_free.pop(lane.name, None)
        self._exhausted.pop(lane.name, None)

    # --- lent lanes -------------------------------------------------------------------------------------------------

    @property
    def exhausted(self) -> list[Lane]:
        """Lent lanes without an action under way that may begin no further fragment."""
        return list(self._exhausted.values())

    @property
    def with_allowance(self) -> list[Lane]:
        """Trainer lanes, lent or about to be, that may begin further fragments."""
        return list(self._with_allowance.values())

    @property
    def num_lent_lanes(self) -> int:
        """The number of trainer lanes that are lent or switching to or from generation."""
        return len(self._lent)

    def allow(self, lane: Lane, num_fragments: int) -> None:
        """Set how many fragments a trainer lane may begin from now on."""
        lane.allowance = num_fragments
        if num_fragments:
            self._with_allowance[lane.name] = lane
        else:
            self._with_allowance.pop(lane.name, None)
            self.num_allowances_ended += 1
        if lane.is_lent and lane.under_way is None:
            self._set_busy(lane)
            self._set_free(lane)

    # --- the gang ---------------------------------------------------------------------------------------------------

    @property
    def trainers(self) -> list[Lane]:
        """All lanes of the gang, lent ones included."""
        return list(self._trainers.values())

    @property
    def gang_action(self) -> Action | None:
        return self._gang_action

    @property
    def gang_work(self) -> Action | None:
        """The action of the whole gang under way, or of a rank that accumulates; `None` where no lane trains."""
        if self._gang_action is not None or not self._accumulating:
            return self._gang_action
        return next(iter(self._accumulating.values())).under_way

    @property
    def num_accumulating(self) -> int:
        """The number of ranks that accumulate."""
        return len(self._accumulating)

    @property
    def gang_since(self) -> float:
        """When the gang's latest action began, in seconds of the executor's clock."""
        return self._gang_since

    @property
    def gang_is_free(self) -> bool:
        """Whether the gang may be given an action: it has lanes, none of them is lent or at work, and it is neither at
        work as a whole nor reserved by the controller."""
        return bool(self._trainers) and not self._lent and self.ranks_may_begin and not self._accumulating

    @property
    def ranks_may_begin(self) -> bool:
        """Whether a free rank may begin to accumulate by itself: the gang is neither at work as a whole nor
        reserved."""
        return self._gang_action is None and not self._gang_is_reserved

    def start_gang(self, action: Action, at: float) -> None:
        """Occupy the free gang with `action` from `at` on."""
        self._gang_action, self._gang_since = action, at

    def finish_gang(self, event: Event) -> Action:
        """Free the gang by the answer to its action under way, and return that action. Raises `ProtocolError` where
        `event` does not answer it."""
        action = self._gang_action
        if action is None:
            raise ProtocolError(
                f"the trainer gang has nothing under way, so {event} answers nothing: apply answers once"
            )
        if not is_answer(event, action):
            raise ProtocolError(f"the trainer gang has {action} under way and was expected to answer that, got {event}")
        self._gang_action = None
        return action

    @property
    def gang_is_reserved(self) -> bool:
        return self._gang_is_reserved

    def reserve_gang(self) -> None:
        """Keep the gang for the controller. Raises `ProtocolError` where it is at work, reserved or partly lent."""
        if self.gang_work is not None:
            raise ProtocolError(
                f"the trainer gang must be free to be reserved, got {self.gang_work} under way: wait for its answer"
            )
        if self._lent:
            raise ProtocolError(
                f"the trainer gang must have all its lanes to be reserved, got {', '.join(self._lent)} lent: "
                "wait until they are returned"
            )
        if self._gang_is_reserved:
            raise ProtocolError("the trainer gang is reserved already: apply `TrainerReleased` before the next one")
        self._gang_is_reserved = True

    def release_gang(self) -> None:
        """Give the gang back to the scheduler. Raises `ProtocolError` where it is not reserved."""
        if not self._gang_is_reserved:
            raise ProtocolError("the trainer gang must be reserved to be released: apply `TrainerReserved` first")
        self._gang_is_reserved = False
