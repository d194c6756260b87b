"""Queue arithmetic: which kinds of lane a request needs, and whether the pool is large enough for it. Pure."""

from collections import Counter
from collections.abc import Mapping

from fleet.models import LaneKind
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole, RewardDevice


def lanes_in_order(wanted: LaneSpec) -> list[tuple[LaneRole, str]]:
    """Every lane wanted, as (role, name in its run)."""
    return [(role, lane_name(role, index)) for role, count in number_by_role(wanted).items() for index in range(count)]


def number_by_role(wanted: LaneSpec) -> dict[LaneRole, int]:
    """The lanes wanted of each role."""
    return {
        LaneRole.ROLLOUT: wanted.num_rollout,
        LaneRole.TRAINER: wanted.num_trainer,
        LaneRole.REWARD: wanted.num_reward,
    }


def lane_name(role: LaneRole, number: int) -> str:
    """The name, in its run, of the lane that is the run's `number`-th of those given for this role."""
    return f"{role}-{number}"


def lane_number(name: str) -> int:
    """The number in a name that `lane_name` made."""
    return int(name.rpartition("-")[2])


def kind_for(role: LaneRole, pool: Mapping[LaneKind, int], *, rewards_on: RewardDevice = RewardDevice.AUTO) -> LaneKind:
    """The kind of lane for a role. Rollout and trainer lanes use GPUs if the pool has any, in service or not: a run
    waits for GPUs that are drained, and does not begin on CPUs instead. Reward lanes use CPU slots unless the spec asks
    for GPUs of their own: one that shares a GPU needs a slot of its node for its process."""
    if (role is not LaneRole.REWARD or rewards_on is RewardDevice.OWN_GPU) and LaneKind.GPU in pool:
        return LaneKind.GPU
    return LaneKind.CPU


def kinds_wanted(wanted: LaneSpec, pool: Mapping[LaneKind, int]) -> dict[LaneKind, int]:
    """How many lanes of each kind `wanted` needs from `pool` (lanes by kind, free or not)."""
    kinds = Counter[LaneKind]()
    for role, number in number_by_role(wanted).items():
        kinds[kind_for(role, pool, rewards_on=wanted.rewards_on)] += number
    return dict(+kinds)


def fits(wanted: LaneSpec, available: Mapping[LaneKind, int], pool: Mapping[LaneKind, int]) -> bool:
    """Whether `available` lanes suffice for the whole request."""
    return all(available.get(kind, 0) >= count for kind, count in kinds_wanted(wanted, pool).items())


def shrunk(wanted: Mapping[LaneRole, int], num_lanes: int) -> dict[LaneRole, int]:
    """`num_lanes` lanes in all, in the proportion wanted as far as whole lanes go, and at least one of each role of
    which any is wanted. Raises `ValueError` where there are fewer lanes than such roles, or more than wanted."""
    whole, fewest = sum(wanted.values()), sum(number > 0 for number in wanted.values())
    if not fewest <= num_lanes <= whole:
        raise ValueError(f"`num_lanes` must lie between {fewest} and {whole}, got {num_lanes}")
    exact = {role: number * num_lanes / whole for role, number in wanted.items()}
    found = {role: max(int(exact[role]), 1) if number else 0 for role, number in wanted.items()}
    while (missing := num_lanes - sum(found.values())) != 0:
        # The role furthest from its part; one more never exceeds what was wanted, since the part does not.
        step = 1 if missing > 0 else -1
        role = max((role for role in found if found[role] > 1 or step > 0), key=lambda r: step * (exact[r] - found[r]))
        found[role] += step
    return found
