"""The lanes of a run as the scheduler sees them: who is there, who is free, who still owes an answer.

A free lane stands in one of these, so that finding one does not take longer the more lanes there are:

    by role      what it may be asked to do now; a trainer lane at home stands there even while the gang is at work
    newly free   of those that generate, the ones not asked yet what they do next
    spent        lent lanes that may begin no further fragment

Invariant: a lane does one thing at a time. The trainer lanes form one gang: an action of the gang occupies all of them,
so none begins while one of them is away.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from worker.contracts.names import LaneRole
from worker.scheduling.core.messages import Action, Event, LaneJoined, Switch
from worker.scheduling.core.protocol import ProtocolError, is_answer


@dataclass(slots=True)
class Lane:
    name: str
    role: LaneRole
    policy_version: int | None
    """What it generates with; `None`: nothing yet."""
    serves: LaneRole
    """Its role, or rollout where a trainer lane generates."""
    under_way: Action | None = None
    since: float = 0.0
    """When it was given what is under way."""
    turn: int = 0
    """Numbers what lanes were given, in order: of two that end together, the one begun first ends first."""
    allowance: int = 0
    """Fragments that a trainer lane may still begin before it goes back."""

    @property
    def is_lent(self) -> bool:
        return self.serves is not self.role


class LaneTable:
    """Lanes by name and role; free lanes in the order in which they became free."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._num_starts = 0
        self._num: dict[LaneRole, int] = dict.fromkeys(LaneRole, 0)
        self._num_lost: dict[LaneRole, int] = dict.fromkeys(LaneRole, 0)
        self.num_joined = 0
        """Of all roles, those that left included."""
        self._free: dict[LaneRole, OrderedDict[str, Lane]] = {role: OrderedDict() for role in LaneRole}
        self._newly_free: dict[str, Lane] = {}
        self._exhausted: dict[str, Lane] = {}
        self._trainers: dict[str, Lane] = {}
        self._lent: dict[str, Lane] = {}
        self._allowed: dict[str, Lane] = {}
        self._gang_action: Action | None = None
        self._gang_since = 0.0
        self._gang_is_reserved = False

    def __contains__(self, name: str) -> bool:
        return name in self._lanes

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    def __getitem__(self, name: str) -> Lane:
        if name not in self._lanes:
            raise ProtocolError(f"lane `{name}` is not part of this run: apply `LaneJoined` before anything else of it")
        return self._lanes[name]

    def join(self, event: LaneJoined) -> None:
        if event.lane in self._lanes:
            raise ProtocolError(f"lane `{event.lane}` has joined already: apply `LaneLost` before it joins again")
        if event.role is LaneRole.TRAINER and self._gang_action is not None:
            raise ProtocolError(
                f"trainer lane `{event.lane}` must join while the gang is free, not in {self._gang_action}"
            )
        lane = Lane(event.lane, event.role, event.policy_version, serves=event.role)
        self._lanes[lane.name] = lane
        self._num[lane.role] += 1
        self.num_joined += 1
        if lane.role is LaneRole.TRAINER:
            self._trainers[lane.name] = lane
        self._set_free(lane)

    def lose(self, name: str) -> Lane:
        """Forget a lane; what it had under way is the caller's to hand out again."""
        lane = self[name]
        del self._lanes[name]
        self._set_busy(lane)
        for register in (self._trainers, self._lent, self._allowed):
            register.pop(name, None)
        self._num[lane.role] -= 1
        self._num_lost[lane.role] += 1
        return lane

    def of(self, role: LaneRole) -> list[Lane]:
        """Lanes whose own role it is: the free ones in their order, then the others as they began."""
        free = [lane for lane in self._free[role].values() if lane.role is role]
        busy = (lane for lane in self if lane.role is role and lane.under_way is not None)
        return free + sorted(busy, key=lambda lane: lane.turn)

    def num(self, role: LaneRole) -> int:
        return self._num[role]

    def num_lost(self, role: LaneRole) -> int:
        return self._num_lost[role]

    # --- free lanes -------------------------------------------------------------------------------------------------

    def num_free(self, role: LaneRole) -> int:
        return len(self._free[role])

    def free(self, role: LaneRole) -> list[Lane]:
        """Lanes that serve as `role` now and have nothing to do by themselves."""
        return list(self._free[role].values())

    def first_free(self, role: LaneRole) -> Lane | None:
        return next(iter(self._free[role].values()), None)

    def take_newly_free(self) -> list[Lane]:
        """Lanes that may generate and became free since this was asked last."""
        lanes = list(self._newly_free.values())
        self._newly_free.clear()
        return lanes

    def is_busy(self, lane: Lane) -> bool:
        """Whether it has anything to do, by itself or with the gang."""
        return lane.under_way is not None or (
            lane.role is LaneRole.TRAINER and (self._gang_action is not None or self._gang_is_reserved)
        )

    @property
    def nothing_under_way(self) -> bool:
        """Every lane is free, none is lent or reserved."""
        num_free = sum(len(free) for free in self._free.values())
        is_gang_still = self._gang_action is None and not self._gang_is_reserved and not self._lent
        return is_gang_still and len(self._lanes) == num_free

    def start(self, lane: Lane, action: Action, at: float) -> None:
        self._num_starts += 1
        lane.under_way, lane.since, lane.turn = action, at, self._num_starts
        self._set_busy(lane)
        if isinstance(action, Switch):
            self._lent[lane.name] = lane

    def finish(self, name: str, event: Event) -> Action:
        """Free a lane by the answer to what it had under way, which is returned. Raises `ProtocolError` otherwise."""
        lane = self[name]
        action = lane.under_way
        if action is None:
            raise ProtocolError(f"lane `{name}` has nothing under way, so {event} answers nothing: apply answers once")
        if not is_answer(event, action):
            raise ProtocolError(f"lane `{name}` has {action} under way and was expected to answer that, got {event}")
        lane.under_way = None
        if isinstance(action, Switch):
            lane.serves = action.to
            if not lane.is_lent:
                del self._lent[name]
        self._set_free(lane)
        return action

    def _set_free(self, lane: Lane) -> None:
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
        """Lent lanes with nothing to do that may begin no further fragment."""
        return list(self._exhausted.values())

    @property
    def allowed(self) -> list[Lane]:
        """Lent lanes, or about to be, that may begin further fragments."""
        return list(self._allowed.values())

    @property
    def num_lent_lanes(self) -> int:
        """Trainer lanes that are lent, or on their way there or back."""
        return len(self._lent)

    def allow(self, lane: Lane, num_fragments: int) -> None:
        """How many fragments a trainer lane may begin from now on."""
        lane.allowance = num_fragments
        if num_fragments:
            self._allowed[lane.name] = lane
        else:
            self._allowed.pop(lane.name, None)
        if lane.is_lent and lane.under_way is None:
            self._set_busy(lane)
            self._set_free(lane)

    # --- the gang ---------------------------------------------------------------------------------------------------

    @property
    def trainers(self) -> list[Lane]:
        """The gang, wherever its lanes serve now."""
        return list(self._trainers.values())

    @property
    def gang_action(self) -> Action | None:
        return self._gang_action

    @property
    def gang_since(self) -> float:
        """When the gang was given its action under way."""
        return self._gang_since

    @property
    def gang_is_free(self) -> bool:
        """Every trainer lane is there with nothing to do, none is lent, and the controller has not reserved them."""
        return bool(self._trainers) and not self._lent and not self._gang_is_reserved and self._gang_action is None

    def start_gang(self, action: Action, at: float) -> None:
        self._gang_action, self._gang_since = action, at

    def finish_gang(self, event: Event) -> Action:
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
        """Keep the gang for the controller. Raises `ProtocolError` where it is busy or reserved already."""
        if self._gang_action is not None:
            raise ProtocolError(f"the trainer gang must be free to be reserved, got {self._gang_action} under way")
        if self._lent:
            raise ProtocolError(f"the trainer gang must be whole to be reserved, got {', '.join(self._lent)} lent")
        if self._gang_is_reserved:
            raise ProtocolError("the trainer gang is reserved already: apply `TrainerReleased` before the next one")
        self._gang_is_reserved = True

    def release_gang(self) -> None:
        if not self._gang_is_reserved:
            raise ProtocolError("the trainer gang must be reserved to be released: apply `TrainerReserved` first")
        self._gang_is_reserved = False
