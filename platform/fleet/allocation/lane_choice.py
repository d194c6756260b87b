"""Which of the free lanes a run gets. Pure.

    trainers         ─► one NVLink island ─► one node ─► the fewest nodes, of one rack where that takes no more of them
    rollout, reward  ─► the trainers' nodes ─► nodes of which some lanes are held ─► whole nodes

Trainers are a gang that all-reduces in every optimizer step, so their links come first; rollout and reward lanes work
alone and take what is left over. Everywhere the group of lanes is taken that leaves the fewest over (best fit), so that
whole nodes and islands stay whole for gangs to come.

Lanes of another number of GPUs are of another device (`2 × …`): who asks for lanes says which role takes them.

Invariant: the order in which lanes are listed does not matter. What no node agent has reported counts as not there:
without links a node's NUMA nodes are its islands, and without those the whole node is one.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from worker.contracts.names import LaneRole

Devices = Mapping[str, int]
"""Number of lanes by device."""
Lanes = Sequence["FreeLane"]


@dataclass(frozen=True, slots=True)
class FreeLane:
    """A lane that can be allocated now, and where it is."""

    key: int
    node: str
    index: int
    """Its index on its node."""
    device: str
    """Its accelerator, with their number before it where it has several; or `cpu`."""
    uuids: tuple[str, ...] = ()
    nvlink_peers: frozenset[str] = frozenset()
    """UUIDs of the GPUs that its own reach over NVLink."""
    numa_node: int | None = None
    rack: str = ""
    is_node_whole: bool = True
    """Whether no other lane of its kind is held on its node."""

    @property
    def place(self) -> tuple[str, int, int]:
        """Its place in the pool's order."""
        return self.node, self.index, self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneDemand:
    """Lanes that are wanted together, by device."""

    trainers: Devices
    rollouts: Devices
    rewards: Devices


@dataclass(frozen=True, slots=True)
class ChosenLanes:
    """The lanes chosen for a demand, each role's in the pool's order."""

    trainers: tuple[FreeLane, ...] = ()
    rollouts: tuple[FreeLane, ...] = ()
    rewards: tuple[FreeLane, ...] = ()

    @property
    def by_role(self) -> Mapping[LaneRole, tuple[FreeLane, ...]]:
        return {LaneRole.TRAINER: self.trainers, LaneRole.ROLLOUT: self.rollouts, LaneRole.REWARD: self.rewards}

    @property
    def keys(self) -> set[int]:
        return {lane.key for lanes in self.by_role.values() for lane in lanes}

    @property
    def number(self) -> int:
        return len(self.keys)

    @property
    def working(self) -> list[FreeLane]:
        """Those that generate or train, in the pool's order."""
        return sorted((*self.trainers, *self.rollouts), key=_place)

    @property
    def trainer_positions(self) -> list[int]:
        """Positions, in `working`, of those that train."""
        return [position for position, lane in enumerate(self.working) if lane in self.trainers]


def choose_lanes(
    free: Iterable[FreeLane],
    demand: LaneDemand,
    *,
    near: Collection[str] = (),
    shares: bool = False,
) -> ChosenLanes | None:
    """The lanes for the whole demand; `None` if the free ones do not suffice.

    Args:
        near: names of nodes on which the run holds lanes already.
        shares: each reward lane computes on the GPU of a lane that generates, so it must be on that one's node.
    """
    lanes: Lanes = sorted(free, key=_place)
    of_trainers, of_rollouts, of_rewards = (
        +Counter(devices) for devices in (demand.trainers, demand.rollouts, demand.rewards)
    )
    if not _suffice(lanes, of_trainers + of_rollouts + of_rewards):
        return None
    trainers = _gang(lanes, of_trainers, near)
    lanes = _without(lanes, trainers)
    near = {*near, *(lane.node for lane in trainers)}
    rollouts = _fill(lanes, of_rollouts, near)
    lanes = _without(lanes, rollouts)
    if shares:
        lanes = _beside(lanes, rollouts or trainers)
        if not _suffice(lanes, of_rewards):
            return None
    rewards = _fill(lanes, of_rewards, {*near, *(lane.node for lane in rollouts)})
    return ChosenLanes(*(tuple(sorted(of_role, key=_place)) for of_role in (trainers, rollouts, rewards)))


def _gang(lanes: Lanes, wanted: Counter[str], near: Collection[str]) -> Lanes:
    """Lanes that train together. `lanes` suffice."""
    if not wanted:
        return []
    of_devices = [lane for lane in lanes if lane.device in wanted]
    for groups, parts in ((islands(of_devices), [_numa_nodes]), (_nodes(of_devices), [islands, _numa_nodes])):
        if fitting := [group for group in groups if _suffice(group, wanted)]:
            return _packed(min(fitting, key=lambda group: _fit(group, wanted, near)), wanted, parts, near)
    parts = [_nodes, islands, _numa_nodes]
    anywhere = _packed(of_devices, wanted, parts, near)
    racks = [group for group in _grouped(of_devices, _rack) if group[0].rack and _suffice(group, wanted)]
    racks.sort(key=lambda group: _fit(group, wanted, near))
    in_racks = [_packed(group, wanted, parts, near) for group in racks]
    return min([*in_racks, anywhere], key=lambda found: len({lane.node for lane in found}))


Parts = Sequence[Callable[["Lanes"], list["Lanes"]]]
"""Ways to divide a group of lanes, the coarsest first."""


def _packed(lanes: Lanes, wanted: Counter[str], parts: Parts, near: Collection[str]) -> list[FreeLane]:
    """Lanes of as few parts as possible, the last of which is the one that fits best; each part is packed likewise.

    Where no part suffices, the part with most of what is wanted is taken: of one device, that takes the fewest.
    """
    if not parts:
        return _first(lanes, wanted)
    found: list[FreeLane] = []
    groups, missing = parts[0](lanes), Counter(wanted)
    while missing:
        fitting = [group for group in groups if _suffice(group, missing)]
        if fitting:
            best = min(fitting, key=lambda group: _fit(group, missing, near))
            return found + _packed(best, missing, parts[1:], near)
        most = min(groups, key=lambda group: (-(_devices(group) & missing).total(), _fit(group, missing, near)))
        found += _packed(most, _devices(most) & missing, parts[1:], near)
        missing -= _devices(most)
        groups.remove(most)
    return found


def _fill(lanes: Lanes, wanted: Devices, near: Collection[str]) -> list[FreeLane]:
    """Lanes that work alone. `lanes` suffice."""
    found: list[FreeLane] = []
    for device, number in sorted(wanted.items()):
        nodes = _grouped([lane for lane in lanes if lane.device == device], _node)
        while number:
            node = min(nodes, key=lambda group: _use_up(group, number, near))
            # The smallest islands first, so that the larger ones stay whole.
            by_island = sorted(islands(node), key=lambda island: (len(island), island[0].place))
            found += [lane for island in by_island for lane in island][:number]
            number -= min(number, len(node))
            nodes.remove(node)
    return found


def _beside(lanes: Lanes, cards: Lanes) -> list[FreeLane]:
    """Lanes on the nodes of `cards`, at most one for each of them."""
    numbers = Counter(lane.node for lane in cards)
    return [lane for node in _nodes(lanes) for lane in node[: numbers[node[0].node]]]


def _use_up(node: Lanes, number: int, near: Collection[str]) -> tuple[int, bool, int, tuple[str, int, int]]:
    """The lower, the sooner the free lanes of a node are taken for lanes that work alone."""
    first = node[0]
    rank = 0 if first.node in near else 2 if first.is_node_whole else 1
    # Of whole nodes as few as possible are broken: large ones where none suffices, else the smallest that does.
    is_small = rank == 2 and len(node) < number
    return rank, is_small, -len(node) if is_small else len(node), first.place


def _fit(
    group: Lanes, wanted: Counter[str], near: Collection[str]
) -> tuple[bool, bool, int, bool, tuple[str, int, int]]:
    """The lower, the better a group of lanes suits a gang that fits into it."""
    first, num_left = group[0], sum(lane.device in wanted for lane in group) - wanted.total()
    is_unlinked = wanted.total() > 1 and not _are_linked(group)
    return first.node not in near, is_unlinked, num_left, first.is_node_whole, first.place


def _are_linked(group: Lanes) -> bool:
    return any(lane.nvlink_peers.intersection(group[0].uuids) for lane in group[1:])


def islands(lanes: Lanes) -> list[Lanes]:
    """Groups of lanes that NVLink joins; those that it joins to no other by their NUMA nodes."""
    joined = [group for node in _grouped(lanes, _node) for group in _joined(node)]
    alone = [group[0] for group in joined if len(group) == 1]
    return [group for group in joined if len(group) > 1] + _numa_nodes(alone)


def _joined(lanes: Lanes) -> list[Lanes]:
    """Lanes of a node, as groups in which links lead from each to each."""
    missing, groups = {lane.key: lane for lane in lanes}, list[Lanes]()
    while missing:
        group = [missing.pop(next(iter(missing)))]
        for lane in group:
            beside = [other for other in missing.values() if _is_peer(lane, other) or _is_peer(other, lane)]
            group += beside
            for other in beside:
                del missing[other.key]
        groups.append(sorted(group, key=_place))
    return groups


def _is_peer(lane: FreeLane, other: FreeLane) -> bool:
    return not lane.nvlink_peers.isdisjoint(other.uuids)


def _nodes(lanes: Lanes) -> list[Lanes]:
    return _grouped(lanes, _node)


def _numa_nodes(lanes: Lanes) -> list[Lanes]:
    return _grouped(lanes, lambda lane: (lane.node, -1 if lane.numa_node is None else lane.numa_node))


def _grouped(lanes: Lanes, key: Callable[[FreeLane], str | tuple[str, int]]) -> list[Lanes]:
    """The lanes by `key`, each group in the pool's order."""
    by_key = sorted(lanes, key=lambda lane: (key(lane), lane.place))
    return [list(group) for _, group in groupby(by_key, key=key)]


def _first(lanes: Lanes, wanted: Counter[str]) -> list[FreeLane]:
    """As many lanes of each device as are wanted."""
    return [lane for device, number in wanted.items() for lane in [x for x in lanes if x.device == device][:number]]


def _suffice(lanes: Lanes, wanted: Counter[str]) -> bool:
    return wanted <= _devices(lanes)


def _devices(lanes: Lanes) -> Counter[str]:
    return Counter(lane.device for lane in lanes)


def _without(lanes: Lanes, taken: Lanes) -> list[FreeLane]:
    keys = {lane.key for lane in taken}
    return [lane for lane in lanes if lane.key not in keys]


def _place(lane: FreeLane) -> tuple[str, int, int]:
    return lane.place


def _node(lane: FreeLane) -> str:
    return lane.node


def _rack(lane: FreeLane) -> str:
    return lane.rack
