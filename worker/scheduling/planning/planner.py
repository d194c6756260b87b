"""The planner: which of the given lanes generate, which train, and with which switches.

    spec, devices, measured costs ──► PoolCosts ──► every split's limit in each mode (closed form)
                                                        │ the best few
                                                        ▼
                    Plan ◄── fastest of each mode ◄── simulations of them (`planned_modes`), split by split

`resolve` replaces `placement: auto` by the fastest mode. Invariants: the choice is never slower, by the planner's own
prediction, than any other that was tried; a split whose lanes do not fit in memory is not offered; the same input gives
the same plan.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Placement, RewardDevice
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import MeasuredCostTable
from worker.scheduling.planning.bounds import bound_seconds, lock_step_bound_seconds
from worker.scheduling.planning.cost_estimates import PoolCosts, pool_costs
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.measured_costs import costs_from_history
from worker.scheduling.planning.memory import LaneMemory, MemoryRole, lane_memory
from worker.scheduling.planning.mode_limits import ModeLimits
from worker.scheduling.planning.modes import PlanningMode, allowed_modes
from worker.scheduling.planning.planned_modes import PlannedModes, planned_modes
from worker.scheduling.planning.scoring_choice import ScoringChoice, scoring_choice
from worker.scheduling.planning.split_search import SplitPoint, SplitResult
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator
from worker.scheduling.profiles.image_models import SHAPES
from worker.scheduling.profiles.known_devices import accelerator
from worker.scheduling.profiles.known_models import has_profile, profile_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """The input of a plan."""

    work: Workload
    devices: tuple[Accelerator, ...]
    """The device of each lane that may generate or train, in the pool's order."""
    costs: PoolCosts
    wanted: PipelineSpec = field(default_factory=lambda: PipelineSpec(placement=Placement.AUTO, max_staleness=1))
    """The user's `pipeline` section, of which `max_staleness`, `deterministic` and `importance_cap` bound the
    choice."""
    fragment_sizes: tuple[int, ...]
    """The fragment sizes to choose from; each divides `group_size`."""
    advantage_std: Literal["group", "batch"] = "group"
    size_is_known: bool = True
    """Whether the model has a profile of its own; otherwise it is assumed to be of its family's usual size."""
    scoring: ScoringChoice | None = None
    """Where rewards are computed, and why; `None` where no spec is planned for."""

    def algebras(self, max_staleness: int) -> Iterator[tuple[BatchAlgebra, LaneKinds]]:
        """For each fragment size the batch, and the pool's kinds of lanes with what they have memory for in a run of
        that staleness; 0 takes the least."""
        limits = self.limits()
        for size in self.fragment_sizes:
            yield self.work.with_fragment_size(size).algebra, limits.kinds_for(size, max_staleness)

    def bound_seconds(self, max_staleness: int) -> float:
        """The least seconds of a batch on average, of any schedule with at most that staleness, each within the memory
        that its own staleness takes."""
        return min(
            bound_seconds(algebra, self.costs, kinds, max_staleness=staleness)
            for staleness in range(max_staleness + 1)
            for algebra, kinds in self.algebras(staleness)
        )

    def limits(self, gpus_per_trainer: int | None = None) -> ModeLimits:
        """The pool's splits and their limits, of trainer lanes of so many GPUs; by default of any number."""
        return ModeLimits(
            work=self.work,
            costs=self.costs,
            devices=self.devices,
            fragment_sizes=self.fragment_sizes,
            advantage_std=self.advantage_std,
            size_is_known=self.size_is_known,
            gpus_per_trainer=gpus_per_trainer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeChoice:
    """The best way to use the pool in one mode."""

    split_result: SplitResult
    memory: Mapping[MemoryRole, LaneMemory]
    """By memory role: the lane that holds most."""
    samples_per_second: float
    """Trajectories generated and trained per second."""
    rewards_on: RewardDevice | None = None
    """What rewards are computed on; `None` where no spec is planned for."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The comparison of modes for one pool, and bounds to compare it with, which are computed when they are read."""

    request: PlanRequest
    """What the plan is for."""
    by_mode: Mapping[str, ModeChoice]
    """By mode's name; only modes that fit the pool."""
    curves: Mapping[str, tuple[SplitPoint, ...]]
    """By mode's name: the seconds of a batch for each number of trainer lanes."""

    @property
    def best(self) -> ModeChoice:
        return min(self.by_mode.values(), key=lambda choice: choice.split_result.batch_seconds)

    @cached_property
    def bound_seconds(self) -> float:
        """The least seconds of a batch on average, of any schedule with at most the staleness asked for."""
        return self.request.bound_seconds(self.request.wanted.max_staleness)

    @cached_property
    def on_policy_bound_seconds(self) -> float:
        """The least seconds of a batch of any schedule at staleness 0."""
        return self.request.bound_seconds(0)

    @cached_property
    def lock_step_bound_seconds(self) -> float:
        """The least seconds of any batch at staleness 0 with trainer ranks in lock-step. Ranks that take work by their
        speed may be faster."""
        lock_step = min(
            lock_step_bound_seconds(algebra, self.request.costs, kinds) for algebra, kinds in self.request.algebras(0)
        )
        return max(lock_step, self.on_policy_bound_seconds)

    def bound_share(self, choice: ModeChoice) -> float:
        """Throughput of one of the choices, as a share of the bound, which no schedule with at most the staleness asked
        for exceeds. Where a choice is not simulated, its limit may leave out what the bound counts."""
        return min(1.0, self.bound_seconds / choice.split_result.batch_seconds)


def make_plan(request: PlanRequest, *, modes: Sequence[PlanningMode] | None = None, only_best: bool = False) -> Plan:
    """Compare the modes that the request allows.

    Args:
        modes: those to compare, if not all that the request allows.
        only_best: leave out modes whose limit shows that they cannot be the best.

    Raises:
        ValueError: where the model does not fit the lanes in any mode.
    """
    modes = allowed_modes(request.wanted) if modes is None else modes
    found = _by_widths(request, modes, only_best=only_best)
    split_results = found.split_results
    by_mode = {mode.name: _choice(request, split_results[mode.name]) for mode in modes if mode.name in split_results}
    if not by_mode:
        raise ValueError(_why_none_fits(request))
    return Plan(request=request, by_mode=by_mode, curves=found.curves)


def _by_widths(request: PlanRequest, modes: Sequence[PlanningMode], *, only_best: bool) -> PlannedModes:
    """What is planned for trainer lanes of each number of GPUs that could train, the faster one of each mode."""
    of_mode: dict[str, SplitResult] = {}
    curves: dict[str, tuple[SplitPoint, ...]] = {}
    for width in sorted(_training_widths(request)):
        found = planned_modes(request.limits(width), request.wanted, modes, only_best=only_best)
        for name, split_result in found.split_results.items():
            if name not in of_mode or split_result.batch_seconds < of_mode[name].batch_seconds:
                of_mode[name], curves[name] = split_result, found.curves[name]
    return PlannedModes(split_results=of_mode, curves=curves)


def _why_none_fits(request: PlanRequest) -> str:
    return _why_the_widths_do_not(request) or _why_memory_does_not(request)


def _why_the_widths_do_not(request: PlanRequest) -> str | None:
    """Why the numbers of GPUs of the lanes leave none to train, or none to generate beside one that does."""
    if not (widths := _training_widths(request)):
        return (
            f"`devices` must have a lane that trains, got {_names(request)}: prompts, sizes or "
            "`performance.context_parallel` do not let the GPUs of any share a training pass; choose a pool with lanes "
            "of one GPU, or have a pool admin set `gpus_per_lane` of a node to 1"
        )
    refused = [device for device in request.devices if not request.work.can_be_generated_on(device)]
    num_training = sum(device.num_gpus in widths for device in request.devices)
    if request.size_is_known and refused and len(refused) + num_training == len(request.devices):
        return request.work.divided_shape.problem(refused[0].num_gpus)
    return None


def _training_widths(request: PlanRequest) -> set[int]:
    """The numbers of GPUs of the lanes that could train, memory aside."""
    limits = request.limits()
    return {device.num_gpus for device in request.devices if limits.trains_on(device)}


def _names(request: PlanRequest) -> str:
    return ", ".join(sorted({device.name for device in request.devices}))


def _why_memory_does_not(request: PlanRequest) -> str:
    work = request.work
    others = ["a smaller `batch.micro_batch_size`"]
    others += [] if work.is_full else ["`lora.rank`"]
    if _decoding_decides(request):
        others.append("`sampling.vae_tiling: enabled` (decoding takes the most)")
    return (
        f"`devices` must have memory for `{work.profile.name}`, got {_names(request)}: take devices with more memory, "
        f"or {' or '.join(others)}"
    )


def _decoding_decides(request: PlanRequest) -> bool:
    """Whether a lane that generates would take less memory if it decoded in tiles."""
    work = request.work.with_fragment_size(min(request.fragment_sizes))
    smallest = min(request.devices, key=lambda device: device.memory_bytes)
    whole, tiled = (
        lane_memory(replace(work, tiles_decoding=tiles), smallest, MemoryRole.ROLLOUT).total
        for tiles in (work.tiles_decoding, True)
    )
    return tiled < whole


def _choice(request: PlanRequest, split_result: SplitResult) -> ModeChoice:
    return ModeChoice(
        split_result=split_result,
        memory=_memory(request, split_result),
        samples_per_second=request.work.algebra.num_trajectories / split_result.batch_seconds,
        rewards_on=None if request.scoring is None else request.scoring.spec.lanes.rewards_on,
    )


def _memory(request: PlanRequest, split_result: SplitResult) -> dict[MemoryRole, LaneMemory]:
    candidate = split_result.candidate
    work = request.work.with_fragment_size(candidate.fragment_size).at_staleness(candidate.pipeline.max_staleness)
    trainers = set(candidate.trainers)
    trainer_role = MemoryRole.BOTH if candidate.pipeline.trainers_generate else MemoryRole.TRAINER
    largest: dict[MemoryRole, LaneMemory] = {}
    lanes = {
        (device, trainer_role if index in trainers else MemoryRole.ROLLOUT)
        for index, device in enumerate(request.devices)
    }
    for device, role in lanes:
        memory = lane_memory(work, device, role, num_ranks=len(trainers))
        if role not in largest or memory.total > largest[role].total:
            largest[role] = memory
    return largest


def plan(spec: RunSpec, *, devices: Sequence[str] = (), history: Sequence[MeasuredCostTable] = ()) -> Plan:
    """The plan for a run of `spec` on its rollout and trainer lanes, which are counted together.

    Args:
        devices: names in `hardware.ACCELERATORS`, one for each of these lanes, or one for all; if empty, CPU cores for
            the shapes model and H100s otherwise.
        history: the measured costs of earlier runs of the same base model, sampling and batch, newest first.

    Raises:
        ValueError: for unknown devices, a wrong number of them, or too few lanes or too little memory.
    """
    return make_plan(plan_request(spec, devices, history))


def resolve(spec: RunSpec, *, devices: Sequence[str] = (), history: Sequence[MeasuredCostTable] = ()) -> RunSpec:
    """A spec with `placement: auto` replaced by the best choice: placement, split, switches, the device of reward lanes
    and, where it was empty, the fragment size. Any other spec is returned as it is. Arguments and errors are those of
    `plan`."""
    if spec.pipeline.placement is not Placement.AUTO:
        return spec
    return with_choice(spec, make_plan(plan_request(spec, devices, history), only_best=True).best)


def with_choice(spec: RunSpec, choice: ModeChoice) -> RunSpec:
    """The spec with one of its plan's choices."""
    candidate = choice.split_result.candidate
    num_lanes = spec.lanes.num_rollout + spec.lanes.num_trainer
    num_trainer = len(candidate.trainers)
    lanes = spec.lanes.model_copy(update={"num_rollout": num_lanes - num_trainer, "num_trainer": num_trainer})
    batch = spec.batch.model_copy(update={"fragment_size": candidate.fragment_size})
    concrete = spec.model_copy(update={"pipeline": candidate.pipeline, "lanes": lanes, "batch": batch})
    if choice.rewards_on is not None:
        concrete = concrete.scoring_on(choice.rewards_on)
    return RunSpec.model_validate(concrete.model_dump())


def plan_request(spec: RunSpec, devices: Sequence[str] = (), history: Sequence[MeasuredCostTable] = ()) -> PlanRequest:
    """What `plan` plans for; arguments and errors are its own."""
    pool = _pool(spec, devices)
    scoring = scoring_choice(spec, pool)
    spec = scoring.spec
    work = Workload.of(spec)
    num_reward = spec.lanes.num_reward
    costs = pool_costs(work, pool, num_reward=num_reward)
    if history:
        # Without named devices the default ones are assumed, and so the fixed share of the real ones is not known.
        is_profiled = has_profile(spec.base_model) and bool(devices)
        costs = costs_from_history(history, work, pool, num_reward=num_reward, has_profile=is_profiled)
    group_size = work.algebra.group_size
    sizes = [size for size in range(1, group_size + 1) if group_size % size == 0]
    return PlanRequest(
        work=work,
        devices=pool,
        costs=costs,
        wanted=spec.pipeline,
        fragment_sizes=tuple(sizes) if spec.batch.fragment_size is None else (spec.batch.fragment_size,),
        advantage_std=spec.algorithm.advantage_std,
        size_is_known=has_profile(spec.base_model),
        scoring=scoring,
    )


def _pool(spec: RunSpec, devices: Sequence[str]) -> tuple[Accelerator, ...]:
    num_lanes = spec.lanes.num_rollout + spec.lanes.num_trainer
    names = list(devices) or ["cpu" if profile_of(spec.base_model) is SHAPES else "h100"]
    if len(names) == 1:
        names *= num_lanes
    if len(names) != num_lanes:
        raise ValueError(
            f"`devices` must name one for each of {num_lanes} lanes (`lanes.num_rollout` + `lanes.num_trainer`) "
            f"or one for all, got {len(names)}: add or remove names"
        )
    return tuple(accelerator(name) for name in names)
