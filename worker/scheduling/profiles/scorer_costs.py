"""What scorers cost a reward lane: floating-point operations of networks, and seconds of a core for the rest.

Networks run on the lane's device: on a GPU, its own or one that it shares, in bf16 at its rate, unless a reward asks
for fp32, and on a CPU in fp32 on the cores that the lane takes (`scoring_cores`). Everything else runs on one core of
its host. A remote scorer's work is done elsewhere and costs nothing here.
Invariant: every reward has an entry, and only priors are here.

Sources: operations counted by torch's flop counter on CLIP's published configurations, for an image and a text of 77
tokens; BLIP by its parameters and tokens. Parameters counted on the networks that the GPU bench builds of published
widths and depths (`tests.bench.gpu.scorer_checkpoints`). Seconds measured on 21 November 2026, on one core of a virtual
AMD EPYC (family 26, 2.6 GHz): images of 512² and 1024², clips of 9 frames of 256².
"""

from dataclasses import dataclass, replace

from worker.contracts.names import RewardDevice, RewardName
from worker.contracts.rewards import WeightsSettings
from worker.contracts.run_spec import RunSpec
from worker.scheduling.profiles.hardware import Accelerator, Estimate

_EFFICIENCY_OF_A_CORE = Estimate(0.93, 0.90, 1.0)
"""The share of a core's peak that the towers reach. Measured on 24 November 2026 with torch 2.13 on the core of
`hardware.CPU_CORE` (100 GFLOP/s), with published widths and depths and random weights, 4 images of 512² with one text,
preprocessing included, the fastest of 8 and 5 rounds, since others used the machine: CLIP-L 1.79 s an image (0.92 of
the peak), CLIP-H 3.67 s (0.94). They are large matrix products, so that they come closer to it than a small diffusion
model."""
_SERIAL_SHARE = Estimate(0.07, 0.04, 0.09)
"""The share of a tower's seconds that more cores do not shorten (Amdahl). From the same rounds on 2 threads: CLIP-L
0.98 s (1.83 times as fast, 0.09), CLIP-H 1.91 s (1.93 times, 0.04). More than 2 cores were not measured."""
SCORING_CORES = 8
"""The cores of a lane that scores beside accelerators: half of the node's (`threads_of_scoring` in the engine), of the
16 that a node with one card has at least, an estimate. Of 112 it takes 56, which by the serial share are 2.2 times as
fast as these."""


def num_scoring_cores(num_cards: int, num_reward: int) -> int:
    """The cores that one of `num_reward` lanes has beside `num_cards` accelerators: half of a node's, or an equal share
    of all of them where the lanes are more than two for each card. The threads of further lanes take turns."""
    return max(1, min(SCORING_CORES, 2 * SCORING_CORES * num_cards // num_reward))


def scoring_cores(core: Accelerator, number: int) -> Accelerator:
    """So many cores such as `core`, as a device of scorers' networks."""
    gain = 1 / (_SERIAL_SHARE.value + (1 - _SERIAL_SHARE.value) / number)
    return replace(
        core,
        peak_flops=gain * core.peak_flops,
        fp32_flops=gain * core.fp32_flops,
        generation_efficiency=_EFFICIENCY_OF_A_CORE,
    )


NUM_JUDGED_FRAMES = 8
"""The number of frames of a clip that an image scorer judges; a test equates it with the engine's."""

_CLIP_L = 0.175e12
"""FLOPs of CLIP ViT-L/14: 0.162e12 for the image's 257 tokens, 0.013e12 for the text."""
_CLIP_H = 0.38e12
"""FLOPs of CLIP ViT-H/14: 0.335e12 for the image's 257 tokens, 0.047e12 for the text."""
_BLIP = 0.14e12
"""FLOPs of BLIP, 2 per parameter and token: ViT-L/16 (304M) over 197 tokens, the text encoder (224M) over 35."""
_LAYER_VALUES = 13
"""Values of one layer's activations in inference for each token and unit of width, as of a transformer that generates
(26 bytes in 16-bit values, `planning.memory`): residual, queries, keys, values, feed-forward at 4 × width."""
_CALL_SECONDS = 1e-4
"""Core seconds of a scorer without a network on an image of 32²: three of them take 0.31 ms
(`tests.bench.lane_costs`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """What one scorer costs for each image or frame."""

    flops: float = 0.0
    """Operations of its network."""
    num_parameters: int = 0
    """Weights of its network, all towers together."""
    values_of_layer: int = 0
    """Tokens of an image × width, in the vision tower, which is the widest."""
    core_seconds: float = 0.0
    """Seconds of a core, whatever the size of the image."""
    core_seconds_per_megapixel: float = 0.0
    judges_clips: bool = False
    """The scorer judges all frames of a clip, instead of `NUM_JUDGED_FRAMES` of them."""


SCORERS = {
    RewardName.SHAPE_MATCH: Scorer(core_seconds=_CALL_SECONDS),
    RewardName.SHAPE_JUDGE: Scorer(core_seconds=_CALL_SECONDS),
    RewardName.JPEG_COMPRESSIBILITY: Scorer(core_seconds=_CALL_SECONDS, core_seconds_per_megapixel=0.0055),
    RewardName.COLORFULNESS: Scorer(core_seconds=_CALL_SECONDS, core_seconds_per_megapixel=0.011),
    # Images are enlarged to at least 736 pixels first: 0.31 s at 512², 0.42 s at 1024².
    RewardName.OCR: Scorer(core_seconds=0.28, core_seconds_per_megapixel=0.13),
    RewardName.CLIP_SCORE: Scorer(flops=_CLIP_L, num_parameters=427_616_513, values_of_layer=257 * 1024),
    RewardName.PICK_SCORE: Scorer(flops=_CLIP_H, num_parameters=986_109_441, values_of_layer=257 * 1280),
    RewardName.HPS_V2: Scorer(flops=_CLIP_H, num_parameters=986_109_441, values_of_layer=257 * 1280),
    RewardName.IMAGE_REWARD: Scorer(flops=_BLIP, num_parameters=446_206_689, values_of_layer=197 * 1024),
    RewardName.AESTHETIC: Scorer(flops=_CLIP_L, num_parameters=304_894_177, values_of_layer=257 * 1024),
    RewardName.MOTION_SMOOTHNESS: Scorer(core_seconds_per_megapixel=0.081, judges_clips=True),
    RewardName.REMOTE: Scorer(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringCost:
    """What all rewards of a run cost for one sample, and what their networks hold on the lane's device."""

    flops: float = 0.0
    """Operations of networks in fp32."""
    bf16_flops: float = 0.0
    """Operations of networks in bf16."""
    core_seconds: float = 0.0
    """Seconds of a core for everything that is no network."""
    weight_bytes: float = 0.0
    """Of all networks."""
    activation_bytes: float = 0.0
    """Of all networks at once, since the rewards of a fragment are called at the same time."""

    @classmethod
    def of(cls, spec: RunSpec) -> "ScoringCost":
        """Those of a run; `lanes.rewards_on: auto` counts as `cpu` (`planning.scoring_choice` decides it)."""
        megapixels = spec.sampling.height * spec.sampling.width / 1e6
        found = cls()
        for reward in spec.rewards:
            scorer, settings = SCORERS[reward.name], reward.settings
            frames = spec.sampling.num_frames
            judged = frames if scorer.judges_clips else min(frames, NUM_JUDGED_FRAMES)
            core_seconds = judged * (scorer.core_seconds + megapixels * scorer.core_seconds_per_megapixel)
            found = replace(found, core_seconds=found.core_seconds + core_seconds)
            if isinstance(settings, WeightsSettings):
                found = found.with_network(scorer, judged, settings.pictures_per_call, _is_in_bf16(settings, spec))
        return found

    def with_network(self, scorer: Scorer, num_judged: int, pictures_per_call: int, is_in_bf16: bool) -> "ScoringCost":
        """The cost with a network more, which judges `num_judged` images of a sample, so many at once."""
        flops, value_bytes = num_judged * scorer.flops, 2 if is_in_bf16 else 4
        layer = pictures_per_call * scorer.values_of_layer * value_bytes
        return replace(
            self,
            flops=self.flops + (0.0 if is_in_bf16 else flops),
            bf16_flops=self.bf16_flops + (flops if is_in_bf16 else 0.0),
            weight_bytes=self.weight_bytes + scorer.num_parameters * value_bytes,
            activation_bytes=self.activation_bytes + _LAYER_VALUES * layer,
        )

    def network_seconds(self, device: Accelerator) -> float:
        """Seconds in which the networks judge one sample on a device."""
        efficiency = device.generation_efficiency.value
        return self.flops / (device.fp32_flops * efficiency) + self.bf16_flops / (device.peak_flops * efficiency)


def _is_in_bf16(settings: WeightsSettings, spec: RunSpec) -> bool:
    """As `worker.engine.reward.networks.load_network` decides."""
    is_on_gpu = spec.lanes.rewards_on in (RewardDevice.SHARED_GPU, RewardDevice.OWN_GPU)
    return (settings.dtype or ("bf16" if is_on_gpu else "fp32")) == "bf16"


NO_SCORING_COST = ScoringCost()
