"""Which kinds of device the lanes of a run may be of, where several kinds are free. Pure.

    placement chosen by the user ─► `gang_alike`: one mix, trainers of one kind where that is possible
    placement: auto              ─► `mixes`: a few, for the planner to predict and compare

Devices are listed best first, as the caller judges them, who also says which of them `trains`: one GPU always does, and
several where the run can spread its passes over them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from fleet.allocation.lane_choice import LaneDemand
from fleet.lane_demand import kind_for
from fleet.models import LaneKind
from worker.contracts.device_names import divided
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole

MAX_MIXES = 6
"""Most mixes that are planned for one run: three kinds of device alone, and as many ways to mix them. Planning one
takes tenths of a second, and more where a thousand lanes are wanted."""


Trains = Callable[[str], bool]
"""Whether a lane of that device can train."""


def has_one_gpu(device: str) -> bool:
    """Of a lane's device."""
    return divided(device)[0] == 1


def gang_alike(
    free: Mapping[str, int],
    num_trainers: int,
    num_rollouts: int,
    order: Sequence[str],
    *,
    trains: Trains = has_one_gpu,
) -> tuple[Counter[str], Counter[str]] | None:
    """Devices of the trainer and of the rollout lanes; `None` if the free lanes do not suffice.

    The first kind in `order` that has lanes for all is taken, else the first that has them for all trainers: unlike
    ranks of a gang wait for the slowest. Trainer lanes have equally many GPUs. Where lanes that cannot train come first
    in `order`, rollout takes them first.
    """
    kinds = [device for device in order if free.get(device, 0)]
    training = _of_one_width([device for device in kinds if trains(device)], free, num_trainers, num_rollouts)
    trainers = taken_in_order(free, num_trainers, training)
    rest = {device: free[device] - trainers[device] for device in kinds}
    before = kinds[: kinds.index(training[0])] if training else []
    generating = [device for device in before if not trains(device)]
    own_kind_first = [*generating, *training, *(device for device in kinds if device not in (*generating, *training))]
    rollouts = taken_in_order(rest, num_rollouts, own_kind_first)
    suffice = trainers.total() == num_trainers and rollouts.total() == num_rollouts
    return (trainers, rollouts) if suffice else None


def _of_one_width(training: Sequence[str], free: Mapping[str, int], num_trainers: int, num_rollouts: int) -> list[str]:
    """Devices of equally many GPUs that can train, in the order in which a gang takes them; none if they do not suffice
    for `num_trainers`."""
    for number in (num_trainers + num_rollouts, num_trainers):
        if found := [device for device in training if free[device] >= number]:
            return [found[0], *(device for device in _as_wide(found[0], training) if device != found[0])]
    groups = [_as_wide(first, training) for first in training]
    return next((group for group in groups if sum(free[device] for device in group) >= num_trainers), [])


def _as_wide(first: str, devices: Sequence[str]) -> list[str]:
    return [device for device in devices if divided(device)[0] == divided(first)[0]]


def mixes(
    free: Mapping[str, int], number: int, order: Sequence[str], *, trains: Trains = has_one_gpu
) -> list[Counter[str]]:
    """Different ways to take so many lanes, at most `MAX_MIXES`; none if the free lanes do not suffice.

    First the best kinds that have enough, each alone. Then, for each kind that has not, all of its lanes, filled up
    with any of the others; of these the ones with the most lanes of the best kinds. Lanes that cannot train are mixed
    with one lane that can and with as many as half of all, where there are such.
    """
    kinds = [device for device in order if free.get(device, 0)]
    if sum(free[device] for device in kinds) < number:
        return []
    training = [device for device in kinds if trains(device)]
    beside_others = list(_beside_others(free, number, kinds, training))
    alike = training if (training and sum(free[device] for device in training) >= number) or beside_others else kinds
    alone = [Counter({device: number}) for device in alike if free[device] >= number]
    mixed = [
        taken_in_order(free, number, [device, other, *(rest for rest in kinds if rest not in (device, other))])
        for device in alike
        for other in alike
        if free[device] < number and other != device
    ]
    mixed += beside_others
    distinct = [mix for position, mix in enumerate(mixed) if mix not in mixed[:position]]
    distinct.sort(key=lambda mix: [-mix[device] for device in kinds])
    return (alone[: MAX_MIXES // 2 if distinct else MAX_MIXES] + distinct)[:MAX_MIXES]


def _beside_others(
    free: Mapping[str, int], number: int, kinds: Sequence[str], training: Sequence[str]
) -> Iterator[Counter[str]]:
    """For each kind that cannot train, as many of its lanes as leave some that can; filled up with lanes that can, and
    where these are too few with those of other such kinds."""
    generating = [device for device in kinds if device not in training]
    for device in generating if training else ():
        for num_training in sorted({1, number // 2} - {0}):
            mix = taken_in_order(free, num_training, training)
            mix += taken_in_order(free, number - mix.total(), [device])
            left = Counter(free) - mix
            mix += taken_in_order(left, number - mix.total(), [*training, *generating])
            if mix[device] and mix.total() == number:
                yield mix


def taken_in_order(free: Mapping[str, int], number: int, order: Sequence[str]) -> Counter[str]:
    """The devices of `number` lanes, or of as many as there are, taken kind by kind."""
    taken = Counter[str]()
    for device in order:
        taken[device] = min(free.get(device, 0), number - taken.total())
    return +taken


def demand_for(
    wanted: LaneSpec, pool: Mapping[LaneKind, int], free: Mapping[str, int], order: Sequence[str] = ()
) -> LaneDemand | None:
    """The lanes of a run whose placement is settled, by device; `None` if the free ones do not suffice. Kinds that
    `order` does not list come last, by name."""
    working = devices_of_kind(kind_for(LaneRole.TRAINER, pool), free, order)
    found = gang_alike(free, wanted.num_trainer, wanted.num_rollout, working)
    return None if found is None else with_rewards(*found, wanted, pool, free, order)


def with_rewards(
    trainers: Counter[str],
    rollouts: Counter[str],
    wanted: LaneSpec,
    pool: Mapping[LaneKind, int],
    free: Mapping[str, int],
    order: Sequence[str] = (),
) -> LaneDemand | None:
    """The demand with its reward lanes, which get the last kinds in `order` of what is left, and of several GPUs where
    nothing else is."""
    kind = kind_for(LaneRole.REWARD, pool, rewards_on=wanted.rewards_on)
    rest = {device: number - trainers[device] - rollouts[device] for device, number in free.items()}
    last_first = devices_of_kind(kind, free, order)[::-1]
    last_first.sort(key=has_one_gpu, reverse=True)
    rewards = taken_in_order(rest, wanted.num_reward, last_first)
    if rewards.total() < wanted.num_reward:
        return None
    return LaneDemand(trainers=trainers, rollouts=rollouts, rewards=rewards)


def devices_of_kind(kind: LaneKind, free: Mapping[str, int], order: Sequence[str] = ()) -> list[str]:
    """The devices of a kind of lane that are free, in this order, those that it does not list by number of GPUs and
    name."""
    found = [device for device in free if (device == LaneKind.CPU) is (kind is LaneKind.CPU)]
    return sorted(found, key=lambda device: (order.index(device) if device in order else len(order), divided(device)))
