"""Inputs of the pipeline's bench: testbeds, models, batches, and the cases made of them.

Those of replicated weights were written down before the first run, in `deploy/docs/reports/pipeline.md` with reasons
and sources. What was corrected since is listed there.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.names import Tuning
from worker.contracts.sections import SamplingSpec
from worker.scheduling.core.costs import Cost
from worker.scheduling.planning.bounds import work_seconds
from worker.scheduling.planning.cost_estimates import PoolCosts, lane_costs, pool_costs
from worker.scheduling.planning.memory import MemoryRole, lane_memory
from worker.scheduling.planning.workload import MemorySavings, Workload
from worker.scheduling.profiles.hardware import H20, H100, HOST_SOCKET, L40S, Accelerator
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
    """A pool of accelerators, as large as a published one. Only memory, network and number are published; the cards are
    assumed."""

    name: str
    published: str
    """What is published of it, at second hand (an AI summary of the paper; the paper itself was not to be had)."""
    devices: tuple[Accelerator, ...]
    """The card assumed for each lane that generates or trains."""
    network_cards: int
    """Network cards of the published rate that the collectives of a node are assumed to use together: one for each of
    8 cards where these are joined by NVLink, otherwise one, which PCIe could not outrun."""

    def cards_for(self, work: Workload, *, network_cards: int | None = None) -> list[Accelerator]:
        """The cards with the network that the work's collectives see. Only sharded weights are worth the difference.

        `network_cards`: instead of the testbed's.
        """
        factor = (network_cards or self.network_cards) if work.zero_stage == 3 else 1
        faster = {card: replace(card, network_bandwidth=card.network_bandwidth * factor) for card in set(self.devices)}
        return [faster[card] for card in self.devices]

    @property
    def num_reward(self) -> int:
        return len(self.devices) // LANES_PER_SCORER

    @property
    def cards(self) -> str:
        """How many of which cards are assumed, `32 L40S + 16 H20`."""
        names = [device.name.upper() for device in self.devices]
        return " + ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names))


TESTBEDS = (
    Testbed("A", "32 of 48 GB at 200 Gb/s", (L40S,) * 32, 1),
    Testbed("B", "32 of 80 GB at 400 Gb/s", (H100,) * 32, 8),
    Testbed("C", "16 of 96 GB at 200 Gb/s", (H20,) * 16, 8),
    Testbed("A+C", "A and C together", (L40S,) * 32 + (H20,) * 16, 1),
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
        # As the systems that are compared with do: their gradient checkpointing recomputes every block.
        memory_savings=MemorySavings(num_recomputed_layers=profile.num_layers),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One testbed with one model, in one way of training."""

    kind: str
    """The way of training, a key of `CASE_KINDS`."""
    testbed: Testbed
    model: str
    work: Workload
    sharded_work: Workload | None = None
    """The work of the sharded baseline, where the throughput is compared with one."""


CASE_KINDS = {
    "lora": "LoRA, weights on every rank",
    "lora, zero 3": "LoRA, weights sharded over the ranks",
    "full, zero 3": "all weights trained and sharded",
}
"""What the kinds of cases stand for."""


def cases() -> Iterator[Case]:
    """All cases. Sharding is compared where the cards are alike: it moves weights through the network in every pass, so
    the published rates of B and C stand for a fast and a slow network."""
    by_name = {testbed.name: testbed for testbed in TESTBEDS}
    for testbed in TESTBEDS:
        for model, work in WORK.items():
            yield Case(
                kind="lora", testbed=testbed, model=model, work=work, sharded_work=as_others_shard(work, testbed)
            )
    for name in ("B", "C"):
        for model, work in WORK.items():
            sharded = with_best_micro_batches(
                replace(work, zero_stage=3), by_name[name], MemoryRole.BOTH, num_each=LEAST_MICRO_BATCHES
            )
            yield Case(kind="lora, zero 3", testbed=by_name[name], model=model, work=sharded)
    for name in ("B", "C"):
        for model, work in WORK.items():
            full = replace(work, tuning=Tuning.FULL, trained_parameters=work.profile.parameters, zero_stage=3)
            full = with_best_micro_batches(full, by_name[name], MemoryRole.BOTH, num_each=LEAST_MICRO_BATCHES)
            yield Case(kind="full, zero 3", testbed=by_name[name], model=model, work=full)


def as_others_shard(work: Workload, testbed: Testbed) -> Workload:
    """Colocated LoRA as systems built on FSDP and a rollout engine run it: the trainer's weights are sharded and
    gathered in every pass, and the engine has its own copy, loaded from host memory at each switch. The sync is
    Tandem's, since no other was published by itself."""
    sharded = replace(work, zero_stage=3, weight_transfer=replace(work.weight_transfer, shares_base=False))
    return with_best_micro_batches(sharded, testbed, MemoryRole.TRAINER, num_each=1)


LEAST_MICRO_BATCHES = 4
"""Micro-batches for each lane and optimizer step, at least, where all modes share their size: with fewer, a split of
the lanes could not be even."""


def with_best_micro_batches(work: Workload, testbed: Testbed, role: MemoryRole, *, num_each: int) -> Workload:
    """The work with the size of micro-batches at which all lanes together train fastest, of those that fit in memory.

    Sharded weights leave memory free and are gathered in each micro-batch, so larger ones pay: with those that fit
    beside whole weights, sharding would look slower than anybody would run it.

    Args:
        role: what each lane must have memory for.
        num_each: how many micro-batches there must be for each lane and optimizer step.
    """
    cards, num_ranks = set(testbed.cards_for(work)), len(testbed.devices)
    sizes = [work.algebra.micro_batch_size]
    while sizes[-1] < work.algebra.group_size * work.algebra.num_trained_denoising_steps:
        sizes.append(2 * sizes[-1])
    works = [_with_micro_batches(work, size) for size in sizes]

    def is_possible(sized: Workload) -> bool:
        fits = all(lane_memory(sized, card, role, num_ranks=num_ranks).fits(card) for card in cards)
        return fits and sized.algebra.num_micro_batches_per_optimizer_step >= num_each * num_ranks

    def training_seconds(sized: Workload) -> float:
        of_slowest = math.ceil(sized.algebra.num_micro_batches_per_optimizer_step / num_ranks)
        return of_slowest * max(lane_costs(sized, card).accumulate.per_unit for card in cards)

    return min(filter(is_possible, works), key=training_seconds, default=work)


def _with_micro_batches(work: Workload, size: int) -> Workload:
    batch = BatchSpec(
        num_prompts_per_batch=work.algebra.num_groups,
        group_size=work.algebra.group_size,
        fragment_size=work.algebra.fragment_size,
        micro_batch_size=size,
    )
    sampling = SamplingSpec(
        num_denoising_steps=work.num_denoising_steps, num_sde_steps=work.algebra.num_trained_denoising_steps
    )
    return work.with_algebra(BatchAlgebra.resolve(batch, sampling))


def costs_as_written(work: Workload, testbed: Testbed) -> PoolCosts:
    """The costs of a testbed with every input as written down."""
    return pool_costs(work, testbed.cards_for(work), num_reward=testbed.num_reward, scorer=SCORER)


def costs_on_slow_network(work: Workload, testbed: Testbed) -> PoolCosts:
    """The same where the published rate is that of a whole node."""
    return pool_costs(work, testbed.cards_for(work, network_cards=1), num_reward=testbed.num_reward, scorer=SCORER)


_SHARE_OF_SCORING = 0.5
"""Of the seconds that generating and training need at least, the most in which reward lanes may score: with half of
their time to spare they hardly make others wait."""


def sized_pool_costs(work: Workload, devices: Sequence[Accelerator]) -> PoolCosts:
    """The costs of a pool with the sockets that its hosts have as reward lanes, one for 4 cards, or more where these
    would not score a batch in half the seconds that all other work needs at least. So no mode waits for the scorer
    alone, nor does colocated placement, whose fragments all end together."""
    costs = pool_costs(work, devices, num_reward=1, scorer=SCORER)
    rest = work_seconds(work.algebra, replace(costs, score=Cost()))
    scoring = costs.score.seconds(work.algebra.fragment_size) * work.algebra.num_fragments
    enough = math.ceil(scoring / (_SHARE_OF_SCORING * rest))
    return replace(costs, num_reward=max(1, len(devices) // LANES_PER_SCORER, enough))


def fragment_sizes(work: Workload) -> tuple[int, ...]:
    """All sizes that divide a group; the planner chooses among them in every mode."""
    group_size = work.algebra.group_size
    return tuple(size for size in range(1, group_size + 1) if group_size % size == 0)
