"""Inputs of the pipeline's bench: testbeds, models, batches.

They were written down before the first run, in `deploy/docs/reports/pipeline.md` with reasons and sources, and have not
been changed since.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.scheduling.planning.cost_estimates import PoolCosts, pool_costs
from worker.scheduling.planning.workload import WeightTransfer, Workload
from worker.scheduling.profiles.hardware import H20, H100, HOST_SOCKET, L40S, Accelerator, RangeEnd
from worker.scheduling.profiles.image_models import FLUX, QWEN_IMAGE
from worker.scheduling.profiles.model_profile import ModelProfile
from worker.scheduling.profiles.scorer_costs import ScoringCost
from worker.scheduling.profiles.video_models import HUNYUAN_VIDEO, WAN

NUM_PROMPTS = 32
"""Prompts of a batch, which is one mini-batch: the published mini-batch of 32."""
NUM_DENOISING_STEPS = 20
"""The published number, and DanceGRPO's."""
LANES_PER_SCORER = 4
"""Accelerators per CPU socket of a host; each socket is one reward lane."""
SCORER = replace(HOST_SOCKET, fp32_flops=HOST_SOCKET.peak_flops)
"""The device of a reward lane: a socket that runs networks in bf16."""
IMAGE_SCORER = ScoringCost(flops=0.4e12)
"""PickScore: ViT-H/14 (632M parameters) over 257 tokens, and its text tower."""
VIDEO_SCORER = ScoringCost(flops=21e12)
"""VideoAlign: Qwen2-VL-2B over 8 frames, vision tower (675M) over 10,000 patches, language model over 2,500 tokens."""


@dataclass(frozen=True, slots=True)
class Testbed:
    """A published pool of accelerators."""

    name: str
    devices: tuple[Accelerator, ...]
    """The device of each lane that generates or trains."""

    @property
    def num_reward(self) -> int:
        return len(self.devices) // LANES_PER_SCORER


TESTBEDS = (
    Testbed("A", (L40S,) * 32),
    Testbed("B", (H100,) * 32),
    Testbed("C", (H20,) * 16),
    Testbed("A+C", (L40S,) * 32 + (H20,) * 16),
)


def _work(
    profile: ModelProfile,
    *,
    group_size: int,
    micro_batch_size: int,
    num_trained: int,
    height: int,
    width: int,
    num_frames: int,
    lora_rank: int,
    lora_parameters_per_rank: float,
    decoder_flops_per_pixel: float,
    scoring: ScoringCost,
) -> Workload:
    """The last three arguments are the estimates first written down; the profiles have since been counted by torch."""
    batch = BatchSpec(
        num_prompts_per_batch=NUM_PROMPTS, group_size=group_size, micro_batch_size=micro_batch_size, fragment_size=1
    )
    sampling = SamplingSpec(num_denoising_steps=NUM_DENOISING_STEPS, num_sde_steps=num_trained)
    return Workload(
        profile=replace(profile, decoder_flops_per_pixel=decoder_flops_per_pixel, decodes_in_fp32=False),
        algebra=BatchAlgebra.resolve(batch, sampling),
        height=height,
        width=width,
        num_frames=num_frames,
        num_denoising_steps=NUM_DENOISING_STEPS,
        trained_parameters=lora_rank * lora_parameters_per_rank,
        scoring=scoring,
    )


WORK = {
    work.profile.name: work
    for work in (
        _work(
            HUNYUAN_VIDEO,
            group_size=8,
            micro_batch_size=1,
            num_trained=12,
            height=480,
            width=480,
            num_frames=53,
            lora_rank=128,
            lora_parameters_per_rank=(20 * 8 + 40 * 3) * 2 * 3072,
            decoder_flops_per_pixel=30e6,
            scoring=VIDEO_SCORER,
        ),
        _work(
            WAN,
            group_size=8,
            micro_batch_size=1,
            num_trained=12,
            height=480,
            width=832,
            num_frames=33,
            lora_rank=32,
            lora_parameters_per_rank=40 * 8 * 2 * 5120,
            decoder_flops_per_pixel=15e6,
            scoring=VIDEO_SCORER,
        ),
        _work(
            FLUX,
            group_size=12,
            micro_batch_size=2,
            num_trained=12,
            height=720,
            width=720,
            num_frames=1,
            lora_rank=128,
            lora_parameters_per_rank=(19 * 8 + 38 * 3) * 2 * 3072,
            decoder_flops_per_pixel=9.5e6,
            scoring=IMAGE_SCORER,
        ),
        _work(
            QWEN_IMAGE,
            group_size=16,
            micro_batch_size=2,
            num_trained=8,
            height=512,
            width=512,
            num_frames=1,
            lora_rank=64,
            lora_parameters_per_rank=60 * 8 * 2 * 3072,
            decoder_flops_per_pixel=9.5e6,
            scoring=IMAGE_SCORER,
        ),
    )
}

AS_PRACTISED = WeightTransfer(packing_bandwidth=WeightTransfer().packing_bandwidth.at("low"), shares_base=False)
"""The colocated baseline as others run it: a rollout engine with its own weights, and verl-omni's measured sync."""


def fragment_sizes(work: Workload) -> tuple[int, ...]:
    """All sizes that divide a group; the planner chooses among them in every mode."""
    group_size = work.algebra.group_size
    return tuple(size for size in range(1, group_size + 1) if group_size % size == 0)


@dataclass(frozen=True, slots=True)
class Variation:
    """One uncertain input at one end of its range, everything else as written down."""

    name: str
    device: tuple[str, RangeEnd] | None = None
    """(field of `Accelerator`, end of its range), changed on all devices."""
    packing_bandwidth: RangeEnd | None = None
    decoding: float = 1.0
    """Factor of the operations of decoding."""
    scoring: float = 1.0
    """Factor of the operations of scoring."""

    def costs(self, work: Workload, testbed: Testbed) -> PoolCosts:
        """The costs of a testbed with this variation."""
        devices = [device if self.device is None else device.at(*self.device) for device in testbed.devices]
        profile = replace(
            work.profile,
            decoder_flops_per_pixel=work.profile.decoder_flops_per_pixel * self.decoding,
        )
        scoring = replace(work.scoring, flops=work.scoring.flops * self.scoring)
        weight_transfer = work.weight_transfer
        if self.packing_bandwidth is not None:
            weight_transfer = replace(
                weight_transfer, packing_bandwidth=weight_transfer.packing_bandwidth.at(self.packing_bandwidth)
            )
        varied = replace(work, profile=profile, weight_transfer=weight_transfer, scoring=scoring)
        return pool_costs(varied, devices, num_reward=testbed.num_reward, scorer=SCORER)


AS_WRITTEN = Variation("as written")


def variations() -> Iterator[Variation]:
    """Each uncertain input at each end of its range, one at a time."""
    ends: tuple[RangeEnd, ...] = ("low", "high")
    for end in ends:
        for name in ("generation_efficiency", "training_efficiency", "layer_overhead_seconds", "switch_seconds"):
            yield Variation(f"{name} {end}", device=(name, end))
        yield Variation(f"packing_bandwidth {end}", packing_bandwidth=end)
    for factor in (0.5, 2.0):
        yield Variation(f"decoding × {factor}", decoding=factor)
    for factor in (0.25, 4.0):
        yield Variation(f"scoring × {factor}", scoring=factor)
