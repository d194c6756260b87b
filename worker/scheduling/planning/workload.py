"""What a run asks of its lanes, whatever their number: model, batch, tuning, forward passes, policy copies, scoring.

    RunSpec ─► Workload ─► seconds (`cost_estimates`)
                      └──► bytes (`memory`)

Invariant: everything in a spec that changes the seconds or bytes of work is a field here; nothing else is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.context_parallel import DividedShape, training_problem
from worker.contracts.device_names import MAX_GPUS_PER_LANE
from worker.contracts.families import FAMILY_TRAITS, decodes_in_tiles
from worker.contracts.names import Placement, Publishing, RewardDevice, Tuning
from worker.contracts.performance import ContextParallel
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.decoding import MAX_PIXELS_DECODED_TOGETHER
from worker.scheduling.planning.algorithm_passes import AlgorithmPasses
from worker.scheduling.planning.policy_copies import PolicyCopies
from worker.scheduling.planning.trainer_state import FP32_BYTES
from worker.scheduling.profiles.hardware import Accelerator, Estimate
from worker.scheduling.profiles.known_models import profile_of
from worker.scheduling.profiles.model_profile import ModelProfile
from worker.scheduling.profiles.scorer_costs import NO_SCORING_COST, ScoringCost

STATE_BYTES = 16
"""Bytes per trained parameter: fp32 weight and gradient, two fp32 moments (Rajbhandari et al., arXiv 1910.02054)."""
BACKWARD_FORWARDS: Mapping[Tuning, float] = {Tuning.LORA: 1.0, Tuning.FULL: 2.0}
"""Cost of a backward pass, in forward passes. A full one computes the gradient of activations and that of weights, each
as much as a forward pass (Korthikanti et al., arXiv 2205.05198, appendix A). Frozen weights need only the first.
LoRA's own matrices are left out, forward and backward: they add rank ÷ width of an adapted layer, 1 to 4 % at ranks of
32 to 128."""
_WEIGHT_BYTES: Mapping[str, int] = {"fp32": 4, "bf16": 2}
"""Bytes of one weight of the base, by `base_model.dtype`."""
_TRAINED_BYTES = 4
"""Bytes of one LoRA weight: fp32, whatever the base's precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightTransfer:
    """How published weights reach a lane, and how a lane changes its role."""

    packing_bandwidth: Estimate = field(default=Estimate(1e9, 0.45e9, 4e9))
    """Bytes per second at which published weights are packed or bound to a model. The low end is the slowest of the
    engine's own packing and binding of a LoRA of 0.76 GB in 960 tensors on one shared core: 0.45 to 2.6 and 1.7 to
    2.1 GB/s. The high end is an estimate for tensors on an accelerator, whose checksums are computed there. One rate
    for what is staged in pinned memory and for what is beyond it (`engine.sync.host_staging`), until a card has told
    them apart (`make bench-gpu`, stage `versions`)."""
    shares_base: bool = True
    """Whether both roles of a lane use one copy of the frozen weights. If not, a rollout engine has its own: each
    switch drops one copy, loads the other from host memory, and moves the trainer's optimizer state out or in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySavings:
    """Settings, beside the ZeRO stage, that reduce what a trainer lane holds on its device."""

    num_recomputed_layers: int | None = None
    """The number of transformer blocks that are recomputed in the backward pass; `None`: as few as the memory of each
    lane demands (`recomputation`)."""
    optimizer_on_host: bool = False
    """The optimizer's state is in host memory."""
    weights_on_host: bool = False
    """Sharded weights are in host memory."""
    idle_on_host: bool = False
    """Optimizer state and gradients are in host memory while the lane generates."""

    @classmethod
    def of(cls, spec: RunSpec, profile: ModelProfile) -> "MemorySavings":
        deepspeed = spec.deepspeed
        return cls(
            num_recomputed_layers=_num_recomputed_layers(deepspeed.gradient_checkpointing, profile.num_layers),
            optimizer_on_host=deepspeed.config.offloads_optimizer,
            weights_on_host=deepspeed.config.offloads_weights,
            idle_on_host=deepspeed.offload_idle_states,
        )


def _num_recomputed_layers(every: int | None, num_layers: int) -> int | None:
    """The layers of `deepspeed.gradient_checkpointing`: every n-th, 0 none."""
    if every is None:
        return None
    return -(-num_layers // every) if every else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Everything that decides the seconds and bytes of a run's work. The defaults are those of LoRA on a bf16 base,
    trained by Flow-GRPO without a KL."""

    profile: ModelProfile
    algebra: BatchAlgebra
    height: int
    """Pixels of an image or frame."""
    width: int
    """Pixels of an image or frame."""
    num_frames: int = 1
    num_denoising_steps: int
    trained_parameters: float
    """The number of parameters that the optimizer updates: the adapter's, or the whole transformer's."""
    tuning: Tuning = Tuning.LORA
    weight_bytes: int = 2
    """Bytes of one weight of the base."""
    zero_stage: int = 0
    num_trainer_lanes: int = 1
    """Trainer lanes that the spec asks for; a plan may choose another number."""
    trainers_generate: bool = True
    """Whether trainer lanes may have to generate: when colocated, when they may be lent, when the planner chooses."""
    memory_savings: MemorySavings = MemorySavings()
    passes: AlgorithmPasses = field(default_factory=AlgorithmPasses)
    copies: PolicyCopies = field(default_factory=PolicyCopies)
    pixels_decoded_together: int = 0
    """The most pixels of several samples that are decoded at once; with 0, samples are decoded one by one."""
    tiles_decoding: bool = False
    """Whether samples larger than a tile are decoded in tiles."""
    unpadded_tokens: int | None = None
    """The most tokens of a prompt in a family that does not pad prompts; `None` where each is padded to the profile's
    number of text tokens."""
    scoring: ScoringCost = NO_SCORING_COST
    rewards_on: RewardDevice = RewardDevice.CPU
    """What scorers' networks are computed on; `auto` counts as `cpu` (`scoring_choice` decides it)."""
    weight_transfer: WeightTransfer = WeightTransfer()
    broadcasts: bool = False
    """Whether versions are broadcast to the memory of rollout lanes (`pipeline.publishing: direct`)."""
    spreads: bool = False
    """Whether lanes of several GPUs spread each prediction over them."""
    training_widths: frozenset[int] = frozenset({1})
    """The numbers of GPUs over which a lane can spread passes with gradients, as far as prompts decide it."""
    share_without_spread: float = 0.0
    """The share of draws of groups without spread. It depends on prompts, policy and reward, so a plan assumes 0 unless
    it is made for a run that has measured it: generation is then underestimated where groups are drawn again, and
    training overestimated where they are filtered."""

    @classmethod
    def of(cls, spec: RunSpec) -> "Workload":
        """The workload of a run's spec. LoRA's size is known for the family's default targets only; with other
        `lora.targets` it is assumed to be the same."""
        profile, lengths = profile_of(spec.base_model), FAMILY_TRAITS[spec.base_model.family].sequence_length
        max_tokens = spec.sampling.max_sequence_length
        if max_tokens is not None:
            profile = profile.cut_off_at(max_tokens, default=lengths.default, is_padded=lengths.is_padded)
        is_full = spec.tuning is Tuning.FULL
        return cls(
            profile=profile,
            algebra=spec.algebra,
            height=spec.sampling.height,
            width=spec.sampling.width,
            num_frames=spec.sampling.num_frames,
            num_denoising_steps=spec.sampling.num_denoising_steps,
            trained_parameters=profile.parameters if is_full else profile.lora_parameters(spec.lora.rank),
            tuning=spec.tuning,
            weight_bytes=_WEIGHT_BYTES[spec.base_model.dtype],
            zero_stage=spec.deepspeed.zero_stage,
            num_trainer_lanes=spec.granted_lanes.num_trainer,
            trainers_generate=spec.pipeline.placement is Placement.AUTO or spec.pipeline.trainers_generate,
            memory_savings=MemorySavings.of(spec, profile),
            passes=AlgorithmPasses.of(spec),
            copies=PolicyCopies.of(spec),
            pixels_decoded_together=MAX_PIXELS_DECODED_TOGETHER,
            tiles_decoding=decodes_in_tiles(spec.base_model.family, spec.sampling),
            unpadded_tokens=None if lengths.is_padded else max_tokens or lengths.default,
            scoring=ScoringCost.of(spec),
            rewards_on=spec.lanes.rewards_on,
            broadcasts=spec.pipeline.publishing is Publishing.DIRECT,
            spreads=spec.kernels.context_parallel is ContextParallel.ULYSSES,
            training_widths=frozenset(
                number for number in range(1, MAX_GPUS_PER_LANE + 1) if training_problem(spec, number) is None
            ),
        )

    @property
    def is_full(self) -> bool:
        return self.tuning is Tuning.FULL

    @property
    def num_tokens(self) -> int:
        return self.profile.num_tokens(height=self.height, width=self.width, num_frames=self.num_frames)

    @property
    def shares_cards(self) -> bool:
        """Whether scorers' networks are computed on the cards of lanes that generate, each by a process of its own."""
        return self.rewards_on is RewardDevice.SHARED_GPU and self.scoring.weight_bytes > 0

    @property
    def num_pixels(self) -> int:
        """The number of pixels of one sample, all frames together."""
        return self.height * self.width * self.num_frames

    @property
    def weights_bytes(self) -> float:
        """Bytes of the transformer's weights."""
        return self.profile.parameters * self.weight_bytes

    @property
    def trained_bytes(self) -> float:
        """Bytes of the trained weights, in the precision of forward passes."""
        return self.trained_parameters * (self.weight_bytes if self.is_full else _TRAINED_BYTES)

    @property
    def published_bytes(self) -> float:
        """Bytes of one policy version, which all ranks publish together and each lane pulls in full."""
        return self.trained_bytes * (2 if self.copies.publishes_two else 1)

    @property
    def state_bytes(self) -> float:
        """Bytes of trained weights, gradients and optimizer moments in fp32, without sharding."""
        return self.trained_parameters * STATE_BYTES

    @property
    def checkpoint_bytes(self) -> float:
        """Bytes of a checkpoint: the state but for gradients, and shadow weights in fp32, of all ranks."""
        without_gradients = STATE_BYTES - FP32_BYTES
        return self.trained_parameters * (without_gradients + FP32_BYTES * self.copies.num_shadow_copies)

    @property
    def num_units_per_micro_batch(self) -> int:
        """The most units of training in one micro-batch."""
        algebra = self.algebra
        num_members = min(algebra.micro_batch_size, algebra.num_units_per_group)
        return min(algebra.micro_batch_size, num_members * algebra.num_denoising_steps_per_micro_batch)

    @property
    def num_recomputed_layers(self) -> int:
        """The number of transformer blocks that the backward pass recomputes; all, where it is left to each lane's
        memory and no lane is known (`recomputation.recomputing_on`)."""
        number = self.memory_savings.num_recomputed_layers
        return self.profile.num_layers if number is None else number

    def recomputing(self, num_layers: int) -> "Workload":
        """The same workload with so many transformer blocks recomputed."""
        return replace(self, memory_savings=replace(self.memory_savings, num_recomputed_layers=num_layers))

    @property
    def num_judged(self) -> float:
        """Predictions without a gradient per unit of training."""
        passes = self.passes
        return passes.num_judged + (passes.num_proximal if self.copies.stale else passes.num_recomputed)

    @property
    def runs_idle_expert(self) -> bool:
        """Whether passes run an expert that none of their rows is for, on one row: where ranks run in step, as soon as
        another has rows for it (`worker.engine.models.experts`). How often they differ follows from the denoising steps
        that are drawn, so a plan counts it in every pass: the most it can be, and what the first pass of each optimizer
        step holds in memory."""
        return self.profile.num_experts > 1 and self.equal_counts and self.num_trainer_lanes > 1

    @property
    def num_experts_of_pass(self) -> int:
        return self.profile.num_experts if self.runs_idle_expert else 1

    @property
    def idle_share(self) -> float:
        """Rows of experts that none is for ÷ rows of a micro-batch."""
        of_pass = self.passes.training
        return (self.num_experts_of_pass - 1) * of_pass.calls / (of_pass.rows * self.num_units_per_micro_batch)

    @property
    def num_training_calls(self) -> float:
        """Calls of the transformer for one micro-batch: forward, backward, and the share that is recomputed."""
        recomputed = self.num_recomputed_layers / self.profile.num_layers
        of_trained = self.num_experts_of_pass
        # What is only judged reduces no gradients, so that ranks are in step there where they gather weights.
        of_judged = of_trained if self.zero_stage == 3 else 1
        num_trained = self.passes.num_trained * (2 + recomputed)
        return self.passes.training.calls * (num_trained * of_trained + self.num_judged * of_judged)

    @property
    def unit_flops(self) -> float:
        """Operations of one unit of training, whatever the algorithm trains on."""
        return self.transformer_flops + self.decoded_flops

    @property
    def transformer_flops(self) -> float:
        """Those of the transformer."""
        recomputed = self.num_recomputed_layers / self.profile.num_layers
        num_trained = self.passes.num_trained * (1 + BACKWARD_FORWARDS[self.tuning] + recomputed)
        num_judged = self.num_judged * (1 + (self.idle_share if self.zero_stage == 3 else 0.0))
        forwards = num_trained * (1 + self.idle_share) + num_judged
        return self.passes.training.rows * forwards * self.profile.forward_flops(self.num_tokens)

    @property
    def decoded_flops(self) -> float:
        """Operations of decoding one unit of training where its gradient comes through the decoder."""
        # Forward and backward; the decoder's own weights are frozen, so they need no gradient.
        return 2 * self.decoding_flops if self.passes.goes_through_decoder else 0.0

    @property
    def num_sampled_rows(self) -> float:
        """Rows that go through the transformer to generate one trajectory."""
        passes = self.passes
        return passes.sampling.rows * self.num_denoising_steps + passes.training.rows * passes.num_scored

    @property
    def denoising_flops(self) -> float:
        """Operations of the transformer to generate one trajectory."""
        return self.num_sampled_rows * self.profile.forward_flops(self.num_tokens)

    @property
    def trajectory_flops(self) -> float:
        """Operations of generating one trajectory, decoding included."""
        return self.denoising_flops + self.decoding_flops

    @property
    def divided_shape(self) -> DividedShape:
        """What of a prediction is divided over the GPUs of a lane."""
        return DividedShape(
            num_heads=self.profile.num_heads,
            num_tokens=self.num_tokens,
            height=self.height,
            width=self.width,
            num_frames=self.num_frames,
        )

    def can_be_generated_on(self, device: Accelerator) -> bool:
        """Whether a rollout lane of the device's GPUs would load the model, memory aside."""
        return not self.spreads or self.divided_shape.divides(device.num_gpus)

    def num_computing_gpus(self, device: Accelerator) -> int:
        """How many GPUs of a lane compute its predictions."""
        return device.num_gpus if self.spreads else 1

    @property
    def longest_prompt(self) -> int:
        """The most tokens of a prompt."""
        return self.profile.text_tokens if self.unpadded_tokens is None else self.unpadded_tokens

    @property
    def text_encoder_bytes(self) -> float:
        """Bytes of the text encoders, which a lane holds before it loads its policy, and never afterwards."""
        return self.profile.text_encoder_parameters * self.weight_bytes

    @property
    def num_sampling_calls(self) -> int:
        """Calls of the transformer to generate one fragment."""
        passes = self.passes
        return passes.sampling.calls * self.num_denoising_steps + passes.training.calls * passes.num_scored

    @property
    def decoding_flops(self) -> float:
        """Operations of decoding one sample. In fp32 they count twice beside bf16 ones: an accelerator's TF32 rate is
        half of its bf16 rate (makers' data sheets). Tiles are decoded where they overlap, too."""
        flops = self.profile.decoding_flops(height=self.height, width=self.width, num_frames=self.num_frames)
        flops *= self.decoding_overlap
        return 2 * flops if self.profile.decodes_in_fp32 and self.weight_bytes == _WEIGHT_BYTES["bf16"] else flops

    @property
    def decoding_overlap(self) -> float:
        """Pixels that are decoded ÷ pixels of the samples."""
        return self.profile.decoding.overlap(self.height, self.width) if self.tiles_decoding else 1.0

    def with_algebra(self, algebra: BatchAlgebra) -> "Workload":
        return replace(self, algebra=algebra)

    @property
    def equal_counts(self) -> bool:
        """Whether ranks must take equally many micro-batches in step: stages 2 and 3 reduce gradients in every backward
        pass."""
        return self.zero_stage >= 2

    def with_fragment_size(self, fragment_size: int) -> "Workload":
        return self.with_algebra(self.algebra.with_fragment_size(fragment_size))

    def at_staleness(self, max_staleness: int) -> "Workload":
        """The same workload at another staleness, as a plan may choose it."""
        return replace(self, copies=replace(self.copies, stale=bool(max_staleness)))
