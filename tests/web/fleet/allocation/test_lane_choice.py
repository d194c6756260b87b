"""Gangs stay together, single lanes fill up what is broken, and the order of rows does not matter."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from fleet.allocation.device_mixes import MAX_MIXES, gang_alike, has_one_gpu, mixes
from fleet.allocation.lane_choice import ChosenLanes, FreeLane, LaneDemand, choose_lanes
from worker.contracts.device_names import divided

H100, L40S = "NVIDIA H100 80GB HBM3", "NVIDIA L40S"


def node_of(
    name: str, number: int, *, device: str = H100, island: int = 0, held: Sequence[int] = (), rack: str = ""
) -> list[FreeLane]:
    """The free lanes of a node: `island` GPUs each are joined by NVLink, none with 0; those in `held` are not free."""

    def uuid(index: int) -> str:
        return f"{name}-{index}"

    def peers(index: int) -> frozenset[str]:
        if not island:
            return frozenset()
        first = index // island * island
        return frozenset(uuid(other) for other in range(first, min(first + island, number)) if other != index)

    return [
        FreeLane(
            key=hash((name, index)),
            node=name,
            index=index,
            device=device,
            uuids=(uuid(index),),
            nvlink_peers=peers(index),
            rack=rack,
            is_node_whole=not held,
        )
        for index in range(number)
        if index not in held
    ]


def demand(trainers: int, rollouts: int = 0, *, device: str = H100) -> LaneDemand:
    return LaneDemand(
        trainers=Counter({device: trainers}), rollouts=Counter({device: rollouts}), rewards=Counter[str]()
    )


def chosen(lanes: list[FreeLane], wanted: LaneDemand, near: Sequence[str] = ()) -> ChosenLanes:
    found = choose_lanes(lanes, wanted, near=near)
    assert found is not None
    return found


def places(lanes: Sequence[FreeLane]) -> list[str]:
    return [f"{lane.node}/{lane.index}" for lane in lanes]


def test_a_gang_that_fits_an_island_is_not_split_over_two() -> None:
    lanes = node_of("a", 8, island=4, held=[0, 5]) + node_of("b", 8, island=4, held=[1])
    assert places(chosen(lanes, demand(4)).trainers) == ["b/4", "b/5", "b/6", "b/7"]


def test_a_gang_takes_the_island_that_leaves_fewest_over() -> None:
    lanes = node_of("a", 8, island=8) + node_of("b", 8, island=8, held=[0, 1, 2])
    assert places(chosen(lanes, demand(4)).trainers) == ["b/3", "b/4", "b/5", "b/6"]


def test_linked_cards_are_preferred_to_others_of_the_same_model() -> None:
    lanes = node_of("a", 4) + node_of("b", 8, island=8)
    assert {lane.node for lane in chosen(lanes, demand(4)).trainers} == {"b"}


def test_a_gang_too_large_for_an_island_stays_on_one_node() -> None:
    lanes = node_of("a", 4, island=4) + node_of("b", 4, island=4) + node_of("c", 8, island=4)
    assert {lane.node for lane in chosen(lanes, demand(6)).trainers} == {"c"}
    # One island whole, and of the other as little as is needed.
    assert Counter(lane.index // 4 for lane in chosen(lanes, demand(6)).trainers) == {0: 4, 1: 2}


def test_without_links_a_gang_keeps_to_the_cards_of_one_numa_node() -> None:
    lanes = [replace(lane, numa_node=lane.index // 4) for lane in node_of("a", 8, held=[0])]
    assert places(chosen(lanes, demand(3)).trainers) == ["a/1", "a/2", "a/3"]
    assert places(chosen(lanes, demand(4)).trainers) == ["a/4", "a/5", "a/6", "a/7"]


def test_a_gang_over_several_nodes_takes_few_of_them_and_one_rack() -> None:
    lanes = [lane for number in range(4) for lane in node_of(f"a{number}", 4, rack=f"r{number % 2}")]
    assert {lane.node for lane in chosen(lanes, demand(8)).trainers} == {"a0", "a2"}
    lanes += node_of("b0", 6)
    assert {lane.node for lane in chosen(lanes, demand(9)).trainers} == {"b0", "a0"}, "two nodes before one rack"


def test_rollout_lanes_stay_beside_their_trainers_and_leave_other_nodes_whole() -> None:
    lanes = node_of("a", 8, island=8) + node_of("b", 8, island=8) + node_of("c", 8, held=[0, 1, 2, 3, 4, 5])
    found = chosen(lanes, demand(4, 5))
    assert {lane.node for lane in found.trainers} == {"a"}
    assert Counter(lane.node for lane in found.rollouts) == {"a": 4, "c": 1}


def test_single_lanes_break_the_smallest_node_that_suffices() -> None:
    lanes = node_of("a", 8) + node_of("b", 2) + node_of("c", 4)
    assert {lane.node for lane in chosen(lanes, demand(0, 3)).rollouts} == {"c"}


def test_further_lanes_come_from_the_nodes_that_the_run_is_on() -> None:
    lanes = node_of("a", 2, held=[0]) + node_of("b", 8, held=[0])
    assert {lane.node for lane in chosen(lanes, demand(0, 1), near=["b"]).rollouts} == {"b"}
    assert {lane.node for lane in chosen(lanes, demand(1), near=["b"]).trainers} == {"b"}


pools = st.lists(
    st.tuples(
        st.integers(1, 8),
        st.sampled_from([H100, L40S]),
        st.sampled_from([0, 2, 4, 8]),
        st.sets(st.integers(0, 7), max_size=5),
        st.sampled_from(["", "r1", "r2"]),
    ),
    max_size=6,
).map(
    lambda nodes: [
        lane
        for number, (size, device, island, held, rack) in enumerate(nodes)
        for lane in node_of(f"n{number}", size, device=device, island=island, held=sorted(held), rack=rack)
    ]
)
demands = st.builds(
    lambda trainers, rollouts, rewards: LaneDemand(trainers=trainers, rollouts=rollouts, rewards=rewards),
    *[st.dictionaries(st.sampled_from([H100, L40S]), st.integers(1, 9)).map(Counter)] * 3,
)


@given(lanes=pools, wanted=demands)
def test_what_is_chosen_is_what_is_wanted_once_each_or_nothing(lanes: list[FreeLane], wanted: LaneDemand) -> None:
    found = choose_lanes(lanes, wanted)
    needed = Counter(wanted.trainers) + Counter(wanted.rollouts) + Counter(wanted.rewards)
    assert (found is not None) == (needed <= Counter(lane.device for lane in lanes))
    if found is not None:
        assert Counter(lane.device for lane in found.trainers) == wanted.trainers
        assert Counter(lane.device for lane in found.rollouts) == wanted.rollouts
        assert Counter(lane.device for lane in found.rewards) == wanted.rewards
        assert found.keys <= {lane.key for lane in lanes}
        assert len(found.keys) == needed.total()
        assert [found.working[position] for position in found.trainer_positions] == list(found.trainers)


@given(lanes=pools, wanted=demands, seed=st.randoms())
def test_the_order_of_rows_does_not_matter(lanes: list[FreeLane], wanted: LaneDemand, seed: random.Random) -> None:
    mixed = lanes.copy()
    seed.shuffle(mixed)
    assert choose_lanes(mixed, wanted) == choose_lanes(lanes, wanted)


@given(lanes=pools, number=st.integers(1, 24))
def test_a_gang_of_one_device_takes_the_fewest_nodes(lanes: list[FreeLane], number: int) -> None:
    found = choose_lanes(lanes, demand(number))
    if found is None:
        return
    sizes = sorted(Counter(lane.node for lane in lanes if lane.device == H100).values(), reverse=True)
    fewest = next(count for count in range(1, len(sizes) + 1) if sum(sizes[:count]) >= number)
    assert len({lane.node for lane in found.trainers}) == fewest


@given(lanes=pools, number=st.integers(2, 8))
def test_a_gang_is_within_an_island_wherever_one_has_room(lanes: list[FreeLane], number: int) -> None:
    found = choose_lanes(lanes, demand(number))
    linked = [
        {lane.key, *(other.key for other in lanes if set(other.uuids) & lane.nvlink_peers)}
        for lane in lanes
        if lane.device == H100 and lane.nvlink_peers
    ]
    if found is not None and any(len(island) >= number for island in linked):
        assert any(found.keys <= island for island in linked)


@given(lanes=pools, trainers=st.integers(0, 4), rollouts=st.integers(0, 12))
def test_no_whole_node_is_broken_for_rollouts_while_broken_ones_have_room(
    lanes: list[FreeLane], trainers: int, rollouts: int
) -> None:
    found = choose_lanes(lanes, demand(trainers, rollouts))
    if found is None:
        return
    broken = {lane.node for lane in lanes if not lane.is_node_whole} | {lane.node for lane in found.trainers}
    opened = {lane.node for lane in found.rollouts} - broken
    if opened:
        left = [lane for lane in lanes if lane.node in broken and lane.device == H100 and lane.key not in found.keys]
        assert left == []


kinds_free = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 12))


@given(free=kinds_free, number=st.integers(1, 20))
def test_mixes_are_few_different_and_possible(free: dict[str, int], number: int) -> None:
    found = mixes(free, number, "abcde")
    assert len(found) <= MAX_MIXES
    assert bool(found) == (sum(free.values()) >= number)
    assert all(mix.total() == number and mix <= Counter(free) for mix in found)
    assert all(mix not in found[:position] for position, mix in enumerate(found))
    alone = [device for device in "abcde" if free.get(device, 0) >= number]
    if alone:
        assert Counter({alone[0]: number}) in found, "the best kind that suffices alone is among them"


@given(free=kinds_free, trainers=st.integers(0, 8), rollouts=st.integers(0, 8))
def test_a_gang_is_of_one_kind_wherever_one_has_enough(free: dict[str, int], trainers: int, rollouts: int) -> None:
    found = gang_alike(free, trainers, rollouts, "abcde")
    assert (found is not None) == (sum(free.values()) >= trainers + rollouts)
    if found is not None:
        assert (found[0].total(), found[1].total()) == (trainers, rollouts)
        assert found[0] + found[1] <= Counter(free)
        if trainers and any(number >= trainers for number in free.values()):
            assert len(found[0]) == 1
        if trainers and any(number >= trainers + rollouts for number in free.values()):
            assert len(found[0] + found[1]) == 1


NAMES = ("a", "b", "2 × a", "2 × b", "4 × a")
widths_free = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 6))


@given(
    free=widths_free,
    trainers=st.integers(0, 6),
    rollouts=st.integers(0, 6),
    order=st.permutations(NAMES),
    training=st.sets(st.sampled_from(NAMES)),
)
def test_trainer_lanes_can_train_and_have_equally_many_gpus(
    free: dict[str, int], trainers: int, rollouts: int, order: list[str], training: set[str]
) -> None:
    found = gang_alike(free, trainers, rollouts, order, trains=training.__contains__)
    of_width = Counter[int]()
    for device in training:
        of_width[divided(device)[0]] += free.get(device, 0)
    suffice = max(of_width.values(), default=0) >= trainers and sum(free.values()) >= trainers + rollouts
    assert (found is not None) == suffice
    if found is not None:
        assert training.issuperset(found[0])
        assert len({divided(device)[0] for device in found[0]}) <= 1
        assert found[0] + found[1] <= Counter(free)
        assert (found[0].total(), found[1].total()) == (trainers, rollouts)


def test_rollout_takes_the_widest_lanes_where_they_come_first_and_the_narrowest_elsewhere() -> None:
    free = {"a": 4, "2 × a": 4}
    assert gang_alike(free, 2, 3, ["2 × a", "a"]) == (Counter({"a": 2}), Counter({"2 × a": 3}))
    assert gang_alike(free, 2, 2, ["a", "2 × a"]) == (Counter({"a": 2}), Counter({"a": 2}))
    assert gang_alike({"a": 2, "2 × a": 1}, 1, 2, ["2 × a", "a"]) == (Counter("a"), Counter({"2 × a": 1, "a": 1}))


@example(free={"a": 1, "2 × a": 2, "2 × b": 4}, number=6, order=list(NAMES))
@given(free=widths_free, number=st.integers(1, 8), order=st.permutations(NAMES))
def test_every_mix_has_a_lane_that_can_train_where_there_is_one(
    free: dict[str, int], number: int, order: list[str]
) -> None:
    found, single = mixes(free, number, order), sum(count for device, count in free.items() if has_one_gpu(device))
    assert bool(found) == (sum(free.values()) >= number)
    assert all(mix.total() == number and mix <= Counter(free) for mix in found)
    if single:
        assert all(any(has_one_gpu(device) for device in mix) for mix in found)


def test_reward_lanes_that_share_cards_are_on_the_nodes_of_lanes_that_generate_at_most_one_for_each() -> None:
    cards = node_of("a", 1) + node_of("b", 2)
    slots = [replace(lane, key=lane.key + 1) for name in "abc" for lane in node_of(name, 4, device="cpu")]

    def shared(num_rewards: int, *, trainers: int, rollouts: int) -> ChosenLanes | None:
        wanted = replace(demand(trainers, rollouts), rewards=Counter({"cpu": num_rewards}))
        return choose_lanes(cards + slots, wanted, shares=True)

    colocated = shared(3, trainers=3, rollouts=0)
    assert colocated is not None
    assert Counter(lane.node for lane in colocated.rewards) == {"a": 1, "b": 2}
    apart = shared(1, trainers=2, rollouts=1)
    assert apart is not None and [lane.node for lane in apart.rewards] == ["a"], "not beside the trainers"
    assert shared(2, trainers=2, rollouts=1) is None
