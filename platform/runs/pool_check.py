"""Whether a pool can ever hold a run: it exists, the project may use it, and it is large enough with all its lanes.

Lanes that are held or out of service count, since runs wait for those; a pool that has no lanes yet refuses nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from accounts.models import Project
from fleet.lane_demand import fits, kind_for, kinds_wanted, shrunk
from fleet.models import LaneKind, Pool
from fleet.selectors import all_devices, all_lanes, num_slots_beside_gpus
from fleet.shares.shares import pools_open_to, scarce_kind, shares
from runs.planning.usable_devices import width_problems
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole, RewardDevice
from worker.contracts.run_spec import RunSpec


def pool_problems(spec: RunSpec, project: Project | None, *, any_size: bool = False) -> dict[str, str]:
    """What stops the pool from ever holding the run, by path: nothing about shares without a project, or about its size
    with `any_size`."""
    wanted = spec.granted_lanes
    if not Pool.objects.filter(pk=wanted.pool).exists():
        names = ", ".join(Pool.objects.values_list("pk", flat=True))
        return {"lanes.pool": f"`lanes.pool` must be one of {names}, got {wanted.pool}"}
    refused = "" if project is None else _refused_by_share(wanted, project)
    if refused:
        return {"lanes.pool": refused}
    lanes = all_lanes(wanted.pool)
    if not lanes or any_size:
        return {}
    others = Pool.objects.values_list("pk", flat=True) if project is None else pools_open_to(project)
    too_large = _too_large(spec, lanes, [name for name in others if name != wanted.pool])
    return too_large or _unshareable(wanted, lanes) or width_problems(spec, all_devices(wanted.pool))


def _unshareable(wanted: LaneSpec, lanes: Mapping[LaneKind, int]) -> dict[str, str]:
    """Reward lanes that are to share GPUs, in a pool with too few CPU lanes on the nodes of its GPUs."""
    if wanted.rewards_on is not RewardDevice.SHARED_GPU or not lanes.get(LaneKind.GPU):
        return {}
    number = num_slots_beside_gpus(wanted.pool)
    if wanted.num_reward <= number:
        return {}
    return {
        "lanes.num_reward": (
            f"`lanes.num_reward` must be ≤ {number} (CPU lanes beside GPUs of the pool {wanted.pool}) where "
            f"`lanes.rewards_on` is shared_gpu, got {wanted.num_reward}: each needs a CPU lane on the node of its GPU; "
            f"label them for the pool, or set `lanes.rewards_on` to {RewardDevice.OWN_GPU} or {RewardDevice.CPU}"
        )
    }


def _refused_by_share(wanted: LaneSpec, project: Project) -> str:
    """Why the project's limit in the pool would stop the run for ever; empty if it would not."""
    share = shares(wanted.pool).get(project.pk)
    if share is None or share.limit is None:
        return ""
    may_use = ", ".join(pools_open_to(project)) or "none: ask a pool admin"
    if share.limit == 0:
        return f"`lanes.pool` must be a pool that {project.name} may use, got {wanted.pool}: it may use {may_use}"
    kind = scarce_kind(wanted.pool)
    number = kinds_wanted(wanted, all_lanes(wanted.pool)).get(kind, 0)
    if number <= share.limit:
        return ""
    return (
        f"`lanes.pool` must be a pool of which {project.name} may hold {number} {kind.upper()} lanes, got "
        f"{wanted.pool}, of which it may hold {share.limit}: ask for {share.limit}, or choose another of "
        f"those that it may use ({may_use})"
    )


def _too_large(spec: RunSpec, lanes: Mapping[LaneKind, int], others: Sequence[str]) -> dict[str, str]:
    """The kinds of lane that the pool has too few of, by the first field that counts them; `others` may be used too."""
    problems = {}
    for kind, number in kinds_wanted(spec.granted_lanes, lanes).items():
        if number <= lanes.get(kind, 0):
            continue
        fields = [f"lanes.num_{role}" for role in _roles_on(kind, spec, lanes)]
        there = f"{lanes.get(kind, 0)} ({kind.upper()} lanes of the pool {spec.lanes.pool})"
        ways = ", or ".join(_ways_out(spec, kind, lanes, others)) or "add nodes to the pool"
        problems[fields[0]] = f"{' + '.join(f'`{field}`' for field in fields)} must be ≤ {there}, got {number}: {ways}"
    return problems


def _roles_on(kind: LaneKind, spec: RunSpec, lanes: Mapping[LaneKind, int]) -> list[LaneRole]:
    return [role for role in LaneRole if kind_for(role, lanes, rewards_on=spec.lanes.rewards_on) is kind]


def _ways_out(spec: RunSpec, kind: LaneKind, lanes: Mapping[LaneKind, int], others: Sequence[str]) -> Iterator[str]:
    """What would fit: fewer lanes, GPUs for rewards where the pool has no CPU lanes, another pool."""
    wanted = {role: int(getattr(spec.lanes, f"num_{role}")) for role in _roles_on(kind, spec, lanes)}
    if lanes.get(kind, 0) >= sum(number > 0 for number in wanted.values()):
        nearest = shrunk(wanted, lanes[kind])
        yield f"ask for {lanes[kind]} ({', '.join(f'{number} {role}' for role, number in nearest.items() if number)})"
    if kind is LaneKind.CPU and not lanes.get(kind) and lanes.get(LaneKind.GPU):
        yield f"set `lanes.rewards_on` to {RewardDevice.OWN_GPU}"
    for name in others:
        other = all_lanes(name)
        if other and fits(spec.granted_lanes, other, other):
            yield f"choose the pool {name}"
            return
