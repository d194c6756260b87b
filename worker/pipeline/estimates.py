"""From operations and bytes to seconds: what each kind of work is expected to cost on each lane.

    ModelProfile ┐
    Workload     ├─► LaneCosts of each lane ─► PoolCosts ─► CostTable for a choice of trainer lanes
    Accelerator  ┘                                ▲
    what a run has measured (its CostTable) ──────┘ replaces the estimates

Seconds = operations ÷ (peak × efficiency) + what launching costs whatever the size. Invariant: an estimate depends on
its arguments alone, and every assumption is a named constant or a field with a range.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.run_spec import RunSpec
from worker.pipeline.costs import GANG, Cost, CostKind
from worker.pipeline.hardware import CPU_CORE, HOST_SOCKET, Accelerator, Edge, Estimate
from worker.pipeline.profiles import SHAPES, TRAINING_FORWARDS, ModelProfile, profile_of

OPTIMIZER_BYTES = 16
"""For each trainable parameter: fp32 weight and gradient, two fp32 moments (Rajbhandari et al., arXiv 1910.02054)."""
_GRADIENT_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """How adapters and roles change hands."""

    adapter_bandwidth: Estimate = field(default=Estimate(1e9, 0.06e9, 4e9))
    """Bytes a second at which an adapter is packed or bound to a model. Low: verl-omni's measured 6.8 s for a LoRA of
    0.38 GB (its pull request on diffusion LoRA)."""
    shares_base: bool = True
    """Both roles of a lane work on one copy of the frozen weights. Otherwise a rollout engine has its own: each turn
    drops the one copy, loads the other from host memory, and moves the trainer's optimizer state out or in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What spares a trainer lane's memory, beside its ZeRO stage."""

    recomputed_blocks: int = 1
    """0: none; n: every n-th."""
    optimizer_on_host: bool = False
    weights_on_host: bool = False
    idle_on_host: bool = False
    """Optimizer state and gradients, while the lane generates."""

    @classmethod
    def of(cls, spec: RunSpec, profile: ModelProfile) -> "Saving":
        deepspeed = spec.deepspeed
        return cls(
            recomputed_blocks=deepspeed.recomputed_blocks(profile.parameters),
            optimizer_on_host=deepspeed.config.offloads_optimizer,
            weights_on_host=deepspeed.config.offloads_weights,
            idle_on_host=deepspeed.offload_idle_states,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What a run asks of its lanes, whatever their number."""

    profile: ModelProfile
    algebra: BatchAlgebra
    height: int
    width: int
    num_frames: int = 1
    num_denoising_steps: int
    lora_rank: int
    zero_stage: int = 0
    saving: Saving = Saving()
    num_rewards: int = 1
    handling: Handling = Handling()

    @classmethod
    def of(cls, spec: RunSpec) -> "Workload":
        return cls(
            profile=profile_of(spec.base_model.path),
            algebra=spec.algebra,
            height=spec.sampling.height,
            width=spec.sampling.width,
            num_frames=spec.sampling.num_frames,
            num_denoising_steps=spec.sampling.num_denoising_steps,
            lora_rank=spec.lora.rank,
            zero_stage=spec.deepspeed.zero_stage,
            saving=Saving.of(spec, profile_of(spec.base_model.path)),
            num_rewards=len(spec.rewards),
        )

    @property
    def num_tokens(self) -> int:
        return self.profile.num_tokens(height=self.height, width=self.width, num_frames=self.num_frames)

    @property
    def lora_parameters(self) -> float:
        return self.profile.lora_parameters(self.lora_rank)

    @property
    def adapter_bytes(self) -> float:
        """Published in fp32, as the optimizer holds it."""
        return self.lora_parameters * 4

    @property
    def state_bytes(self) -> float:
        """Trainable weights, gradients and optimizer moments, on one lane and unpartitioned."""
        return self.lora_parameters * OPTIMIZER_BYTES

    def with_algebra(self, algebra: BatchAlgebra) -> "Workload":
        return replace(self, algebra=algebra)

    def with_fragment_size(self, fragment_size: int) -> "Workload":
        num_fragments = self.algebra.num_trajectories // fragment_size
        update = {"fragment_size": fragment_size, "num_fragments": num_fragments}
        return self.with_algebra(self.algebra.model_copy(update=update))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCosts:
    """Of one lane in either role; seconds."""

    generate: Cost
    """Unit: a trajectory."""
    accumulate: Cost
    """As a rank that the others do not hold up. Unit: a micro-batch."""
    commit: float
    snapshot: float = 0.0
    """The gang's own part of a publish: a copy of the adapter beside it."""
    publish: float
    pull: float
    lend: float
    reclaim: float


def lane_costs(work: Workload, device: Accelerator) -> LaneCosts:
    """Expected costs of one lane.

    `lend` is the turn from training to generation, `reclaim` the way back.
    """
    profile, handling, algebra = work.profile, work.handling, work.algebra
    launching = profile.num_layers * device.layer_overhead_seconds.value
    generating = device.peak_flops * device.generation_efficiency.value
    training = device.peak_flops * device.training_efficiency.value
    forward = profile.forward_flops(work.num_tokens)
    decoding = profile.decoding_flops(height=work.height, width=work.width, num_frames=work.num_frames)
    pairs = min(
        algebra.micro_batch_size,
        min(algebra.group_size, algebra.micro_batch_size) * algebra.num_denoising_steps_per_micro_batch,
    )
    micro_batch = TRAINING_FORWARDS * (launching + pairs * forward / training)
    # A ring all-reduce sends and receives the buffer about twice, whatever the number of ranks.
    reduction = 2 * work.lora_parameters * _GRADIENT_BYTES / device.network_bandwidth
    optimizer = work.state_bytes / device.memory_bandwidth
    binding = work.adapter_bytes / handling.adapter_bandwidth.value
    call = device.call_seconds.value
    moving = 0.0
    if not handling.shares_base:
        moving = (profile.weights_bytes + work.state_bytes) / device.host_bandwidth
    return LaneCosts(
        generate=Cost(
            call + work.num_denoising_steps * launching,
            (work.num_denoising_steps * forward + decoding) / generating,
        ),
        accumulate=Cost(call, micro_batch + (reduction if work.zero_stage == 2 else 0.0)),
        commit=call + optimizer + (0.0 if work.zero_stage == 2 else reduction),
        # Read once, written once.
        snapshot=call + 2 * work.adapter_bytes / device.memory_bandwidth,
        publish=call + binding,
        pull=call + work.adapter_bytes / device.network_bandwidth + binding,
        lend=device.turn_seconds.value + moving,
        reclaim=device.turn_seconds.value + moving,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCosts:
    """Of all lanes that may generate or train, in the pool's order, and of the reward lanes."""

    lanes: tuple[LaneCosts, ...]
    score: Cost
    """Unit: a sample, on one reward lane."""
    num_reward: int

    def table(self, trainers: Collection[int]) -> dict[tuple[str, CostKind], Cost]:
        """The costs where the lanes at these places train and the others generate; lanes are named by `lane_name`.

        Ranks go through equally many micro-batches in step, so the slowest sets the gang's pace.
        """
        gang = [self.lanes[place] for place in trainers]
        accumulate = Cost(
            max(lane.accumulate.per_call for lane in gang), max(lane.accumulate.per_unit for lane in gang)
        )
        table = {
            (GANG, CostKind.ACCUMULATE): accumulate,
            (GANG, CostKind.COMMIT): Cost(max(lane.commit for lane in gang)),
            (GANG, CostKind.SNAPSHOT): Cost(max(lane.snapshot for lane in gang)),
            (GANG, CostKind.PUBLISH): Cost(max(lane.publish for lane in gang)),
        }
        for place, lane in enumerate(self.lanes):
            name = lane_name(place)
            table[name, CostKind.GENERATE] = lane.generate
            table[name, CostKind.PULL] = Cost(lane.pull)
            if place in trainers:
                table[name, CostKind.LEND] = Cost(lane.lend)
                table[name, CostKind.RECLAIM] = Cost(lane.reclaim)
        for index in range(self.num_reward):
            table[f"reward-{index}", CostKind.SCORE] = self.score
        return table


def lane_name(place: int) -> str:
    """Of a lane of the pool whose role is not settled yet."""
    return f"lane-{place}"


def pool_costs(
    work: Workload, devices: Sequence[Accelerator], *, num_reward: int, fixed_share: Edge | None = None
) -> PoolCosts:
    """Expected costs; reward lanes score on host CPUs, shapes' on a core like its other lanes.

    Args:
        fixed_share: reckon with as small or as large a part of each call's seconds, whatever its size, as the devices'
            ranges allow.
    """
    scorer = CPU_CORE if work.profile is SHAPES else HOST_SOCKET
    if fixed_share is not None:
        at_edge = {device: device.with_fixed_share(fixed_share) for device in {*devices, scorer}}
        devices, scorer = [at_edge[device] for device in devices], at_edge[scorer]
    by_device = {device: lane_costs(work, device) for device in set(devices)}
    scoring = work.num_rewards * work.profile.reward_flops / (scorer.peak_flops * scorer.generation_efficiency.value)
    return PoolCosts(
        lanes=tuple(by_device[device] for device in devices),
        score=Cost(scorer.call_seconds.value, scoring),
        num_reward=num_reward,
    )
