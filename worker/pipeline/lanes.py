"""The lanes of a run as the scheduler sees them: who is there, who is free, who still owes an answer.

Invariant: a lane does one thing at a time. The trainer lanes form one gang: an action of the gang occupies all of them,
so none begins while one of them serves as a rollout lane.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from worker.contracts.names import Role
from worker.pipeline.protocol import ProtocolError, is_answer
from worker.pipeline.types import Action, Event, LaneJoined, Switch


@dataclass(slots=True)
class Lane:
    name: str
    role: Role
    policy_version: int | None
    """What it generates with; `None`: nothing yet."""
    serves: Role
    """Its role, or rollout where a trainer lane generates."""
    under_way: Action | None = None
    since: float = 0.0
    """When it was given what is under way."""
    allowance: int = 0
    """Fragments that a trainer lane may still begin before it goes back."""

    @property
    def is_lent(self) -> bool:
        return self.serves is not self.role


class LaneTable:
    """Lanes by name and role; free lanes in the order in which they became free."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._free: dict[Role, dict[str, Lane]] = {role: {} for role in Role}
        self._num: dict[Role, int] = dict.fromkeys(Role, 0)
        self._num_lost: dict[Role, int] = dict.fromkeys(Role, 0)
        self._trainers: dict[str, Lane] = {}
        self._gang_action: Action | None = None
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
        if event.role is Role.TRAINER and self._gang_action is not None:
            raise ProtocolError(
                f"trainer lane `{event.lane}` must join while the gang is free, not in {self._gang_action}"
            )
        lane = Lane(event.lane, event.role, event.policy_version, serves=event.role)
        self._lanes[lane.name] = self._free[lane.role][lane.name] = lane
        if lane.role is Role.TRAINER:
            self._trainers[lane.name] = lane
        self._num[lane.role] += 1

    def lose(self, name: str) -> Lane:
        """Forget a lane; what it had under way is the caller's to hand out again."""
        lane = self[name]
        del self._lanes[name]
        self._trainers.pop(name, None)
        self._free[lane.serves].pop(name, None)
        self._num[lane.role] -= 1
        self._num_lost[lane.role] += 1
        return lane

    def of(self, role: Role) -> list[Lane]:
        """Lanes whose own role it is, in the order in which they joined."""
        return [lane for lane in self if lane.role is role]

    def num(self, role: Role) -> int:
        return self._num[role]

    def num_lost(self, role: Role) -> int:
        return self._num_lost[role]

    def free(self, role: Role) -> list[Lane]:
        """Lanes that serve as `role` now and have nothing to do."""
        return list(self._free[role].values())

    @property
    def trainers(self) -> list[Lane]:
        """The gang, wherever its lanes serve now."""
        return list(self._trainers.values())

    def start(self, lane: Lane, action: Action, at: float) -> None:
        lane.under_way, lane.since = action, at
        del self._free[lane.serves][lane.name]

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
        self._free[lane.serves][name] = lane
        return action

    @property
    def gang_action(self) -> Action | None:
        return self._gang_action

    @property
    def gang_is_free(self) -> bool:
        """Every trainer lane is there with nothing to do, none is lent, and the controller has not reserved them."""
        return not self._gang_is_reserved and 0 < len(self._trainers) == len(self._free[Role.TRAINER])

    def start_gang(self, action: Action, at: float) -> None:
        self._gang_action = action
        for lane in self.free(Role.TRAINER):
            self.start(lane, action, at)

    def finish_gang(self, event: Event) -> Action:
        action = self._gang_action
        if action is None:
            raise ProtocolError(
                f"the trainer gang has nothing under way, so {event} answers nothing: apply answers once"
            )
        if not is_answer(event, action):
            raise ProtocolError(f"the trainer gang has {action} under way and was expected to answer that, got {event}")
        self._gang_action = None
        for lane in self._trainers.values():
            lane.under_way = None
            self._free[Role.TRAINER][lane.name] = lane
        return action

    @property
    def gang_is_reserved(self) -> bool:
        return self._gang_is_reserved

    def reserve_gang(self) -> None:
        """Keep the gang for the controller. Raises `ProtocolError` where it is busy or reserved already."""
        if self._gang_action is not None:
            raise ProtocolError(f"the trainer gang must be free to be reserved, got {self._gang_action} under way")
        lent = [lane.name for lane in self._trainers.values() if lane.is_lent or lane.under_way is not None]
        if lent:
            raise ProtocolError(f"the trainer gang must be whole to be reserved, got {', '.join(lent)} lent")
        if self._gang_is_reserved:
            raise ProtocolError("the trainer gang is reserved already: apply `TrainerReleased` before the next one")
        self._gang_is_reserved = True

    def release_gang(self) -> None:
        if not self._gang_is_reserved:
            raise ProtocolError("the trainer gang must be reserved to be released: apply `TrainerReserved` first")
        self._gang_is_reserved = False

    @property
    def nothing_under_way(self) -> bool:
        all_are_free = len(self._lanes) == sum(len(free) for free in self._free.values())
        return all_are_free and not self._gang_is_reserved and not any(lane.is_lent for lane in self._trainers.values())
