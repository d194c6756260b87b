"""What `make bench-gpu` measures: published models at full shape on a device, tiny ones on a CPU.

The two go through the same code. Tiny shapes find errors in it and measure nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from tests.scheduling.profiles.published_models import AUTOENCODERS, PUBLISHED
from worker.contracts.names import ModelFamily
from worker.contracts.performance import AttentionBackend, Compilation
from worker.scheduling.profiles.model_profile import ModelProfile

PROMPT = "a lighthouse on a cliff above a stormy sea, oil on canvas"
PROMPTS = (PROMPT, "a fox asleep under a red maple, watercolour", "a tram in the rain at night, long exposure")
"""As many as two ranks do not share equally."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """The size of one picture or clip."""

    height: int
    width: int
    num_frames: int = 1

    def __str__(self) -> str:
        frames = f"×{self.num_frames}" if self.num_frames > 1 else ""
        return f"{self.height}×{self.width}{frames}"

    @property
    def as_arguments(self) -> dict[str, int]:
        return {"height": self.height, "width": self.width, "num_frames": self.num_frames}


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchModel:
    """A model to measure."""

    family: ModelFamily
    hub_id: str
    """Names the profile that the planner has of it."""
    sizes: tuple[SampleSize, ...]
    dtype: Literal["fp32", "bf16"] = "bf16"
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Published configurations by component; empty: those of the family's tiny checkpoint."""

    @property
    def name(self) -> str:
        return self.hub_id.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """All models, sizes and variants of one run of the bench."""

    name: Literal["full", "tiny"]
    main: BenchModel
    """The model that most stages measure."""
    others: tuple[BenchModel, ...]
    """Four blocks of each further model."""
    only_gate: tuple[BenchModel, ...]
    """Four blocks of a model of each family that is none of the above: of these only the replay gate is measured."""
    gang: BenchModel
    """What several cards train together: small enough that all weights are trained with their optimizer on two."""
    batches: tuple[int, ...]
    lora_rank: int
    compilation: Compilation
    """The compiler to measure: `inductor` on a device; where there is none, one that runs on a CPU."""
    attention: tuple[AttentionBackend, ...]
    """The attention kernels to measure beside the default, the one that is expected to be the fastest first."""
    repeats: int
    """Timed calls of each case, after one that warms up."""
    product_sizes: tuple[int, ...]
    copy_bytes: int
    scorer_pictures: int
    scorer_side: int


def _published(profile: str) -> dict[str, Any]:
    return dict(next(one.config for one in PUBLISHED if one.profile.name == profile))


def _four_blocks(
    family: ModelFamily, hub_id: str, profile: str, autoencoder: str, size: SampleSize, blocks: Mapping[str, int]
) -> BenchModel:
    configs = {"transformer": {**_published(profile), **blocks}, "vae": AUTOENCODERS[autoencoder].config}
    return BenchModel(family=family, hub_id=hub_id, sizes=(size,), configs=configs)


def _two_experts(model: BenchModel) -> BenchModel:
    """`model` with a second transformer like its first."""
    return replace(model, configs={**model.configs, "transformer_2": model.configs["transformer"]})


FULL = Shapes(
    name="full",
    main=BenchModel(
        family=ModelFamily.FLUX,
        hub_id="black-forest-labs/FLUX.1-dev",
        sizes=(SampleSize(height=512, width=512), SampleSize(height=1024, width=1024)),
        configs={"transformer": _published("flux.1-12b"), "vae": AUTOENCODERS["flux.1"].config},
    ),
    others=(
        _four_blocks(
            ModelFamily.WAN,
            "Wan-AI/Wan2.1-T2V-14B",
            "wan2.1-14b",
            "wan2.1",
            SampleSize(height=480, width=832, num_frames=33),
            {"num_layers": 4},
        ),
        _four_blocks(
            ModelFamily.HUNYUAN_VIDEO,
            "hunyuanvideo-community/HunyuanVideo",
            "hunyuanvideo-13b",
            "hunyuanvideo",
            SampleSize(height=480, width=832, num_frames=33),
            # Two and one-stream blocks, as 20 to 40 in the whole model.
            {"num_layers": 2, "num_single_layers": 2},
        ),
        _four_blocks(
            ModelFamily.SD3,
            "stabilityai/stable-diffusion-3.5-large",
            "sd3.5-large-8b",
            # SD3's autoencoder has the layers of FLUX.1's.
            "flux.1",
            SampleSize(height=1024, width=1024),
            {"num_layers": 4},
        ),
        _four_blocks(
            ModelFamily.QWEN_IMAGE,
            "Qwen/Qwen-Image",
            "qwen-image-20b",
            "qwen-image",
            SampleSize(height=1024, width=1024),
            {"num_layers": 4},
        ),
    ),
    only_gate=(
        _four_blocks(
            ModelFamily.FLUX2,
            "black-forest-labs/FLUX.2-dev",
            "flux.2-32b",
            "flux.2",
            SampleSize(height=512, width=512),
            # Two and one-stream blocks: 8 to 48 in the whole model.
            {"num_layers": 1, "num_single_layers": 3},
        ),
        _four_blocks(
            ModelFamily.FLUX2_KLEIN,
            "black-forest-labs/FLUX.2-klein-base-4B",
            "flux.2-klein-4b",
            "flux.2",
            SampleSize(height=512, width=512),
            # 5 to 20 in the whole model.
            {"num_layers": 1, "num_single_layers": 3},
        ),
        _four_blocks(
            ModelFamily.Z_IMAGE,
            "Tongyi-MAI/Z-Image",
            "z-image-6b",
            # Z-Image's autoencoder has the layers of FLUX.1's.
            "flux.1",
            SampleSize(height=512, width=512),
            # Joined blocks and refiners: 30 to 2 in the whole model.
            {"n_layers": 3, "n_refiner_layers": 1},
        ),
        # Four blocks of each expert, which are of Wan 2.1's size.
        _two_experts(
            _four_blocks(
                ModelFamily.WAN22,
                "Wan-AI/Wan2.2-T2V-A14B",
                "wan2.1-14b",
                "wan2.1",
                SampleSize(height=240, width=416, num_frames=33),
                {"num_layers": 4},
            )
        ),
    ),
    gang=BenchModel(
        family=ModelFamily.FLUX,
        hub_id="black-forest-labs/FLUX.1-dev",
        sizes=(SampleSize(height=512, width=512),),
        # Two and one-stream blocks, as 19 to 38 in the whole model: 3.1 of its 11.9 billion parameters.
        configs={"transformer": {**_published("flux.1-12b"), "num_layers": 5, "num_single_layers": 10}},
    ),
    batches=(1, 4),
    lora_rank=32,
    compilation=Compilation.INDUCTOR,
    attention=(
        AttentionBackend.CUDNN,
        AttentionBackend.FLASH_SDPA,
        AttentionBackend.EFFICIENT_SDPA,
        AttentionBackend.FLASH,
    ),
    repeats=3,
    product_sizes=(4096, 8192),
    copy_bytes=2**30,
    scorer_pictures=16,
    scorer_side=512,
)


def _tiny(family: ModelFamily, *sizes: SampleSize) -> BenchModel:
    return BenchModel(family=family, hub_id=f"tiny/{family.value}", sizes=sizes)


_TINY_PICTURE = SampleSize(height=32, width=32)
_TINY_CLIP = SampleSize(height=32, width=32, num_frames=9)
TINY = Shapes(
    name="tiny",
    main=_tiny(ModelFamily.FLUX, _TINY_PICTURE, SampleSize(height=64, width=64)),
    others=(
        _tiny(ModelFamily.WAN, _TINY_CLIP),
        _tiny(ModelFamily.HUNYUAN_VIDEO, _TINY_CLIP),
        _tiny(ModelFamily.SD3, _TINY_PICTURE),
        _tiny(ModelFamily.QWEN_IMAGE, _TINY_PICTURE),
    ),
    only_gate=(
        _tiny(ModelFamily.FLUX2, _TINY_PICTURE),
        _tiny(ModelFamily.FLUX2_KLEIN, _TINY_PICTURE),
        _tiny(ModelFamily.Z_IMAGE, _TINY_PICTURE),
        _tiny(ModelFamily.WAN22, _TINY_CLIP),
    ),
    gang=_tiny(ModelFamily.FLUX, _TINY_PICTURE),
    batches=(1, 2),
    lora_rank=4,
    compilation=Compilation.AOT_EAGER,
    attention=(AttentionBackend.CUDNN, AttentionBackend.MATH),
    repeats=1,
    product_sizes=(64,),
    copy_bytes=2**20,
    scorer_pictures=2,
    scorer_side=32,
)


def shapes_for(device: torch.device) -> Shapes:
    """Full shapes on a device, tiny ones on a CPU."""
    return TINY if device.type == "cpu" else FULL


def counted(profile: ModelProfile) -> str:
    """The formula of the MFU with a model's numbers, to stand beside it."""
    return (
        f"MFU = FLOPs ÷ (seconds × peak); FLOPs of a forward of {profile.name} = {profile.num_layers} layers × "
        f"(2 × {profile.layer_parameters_per_token:.3g} × tokens + 4 × tokens² × {profile.width})"
    )
