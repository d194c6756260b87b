"""What decoding holds at once, whole and in tiles, by tracing diffusers' autoencoders with published configurations."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.scheduling.profiles.live_bytes import peak_bytes
from tests.scheduling.profiles.published_models import AUTOENCODERS
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.sections import SamplingSpec
from worker.fixtures.tiny_models.clip_pipelines import build_wan
from worker.scheduling.planning.decoder_memory import decoding_bytes
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.decoding_profile import DecodingProfile
from worker.scheduling.profiles.known_models import PROFILES
from worker.scheduling.profiles.model_profile import ModelProfile

TOLERANCE = 0.06
"""Relative: profiles are rounded, and a clip's further frames count alike."""
TILE, STRIDE = 64, 48
"""Smaller than diffusers' by the same factor, so that a few tiles are quickly traced."""
SIDE = 112
"""Of the samples that are divided: two tiles and a bit each way."""


def workload(profile: ModelProfile, side: int, num_frames: int, *, tiles: bool) -> Workload:
    return Workload(
        profile=replace(profile, decodes_in_fp32=False),
        algebra=BatchAlgebra.resolve(
            BatchSpec(num_prompts_per_batch=2, group_size=2, fragment_size=1), SamplingSpec(num_denoising_steps=4)
        ),
        height=side,
        width=side,
        num_frames=num_frames,
        num_denoising_steps=4,
        trained_parameters=1,
        tiles_decoding=tiles,
    )


def with_tiles(vae: Any, tile: int, stride: int) -> Any:
    if hasattr(vae, "tile_sample_min_size"):
        vae.tile_sample_min_size, vae.tile_overlap_factor = tile, 1 - stride / tile
        vae.tile_latent_min_size = tile // 8
        vae.enable_tiling()
    else:
        vae.enable_tiling(tile, tile, tile_sample_stride_height=stride, tile_sample_stride_width=stride)
    return vae


def traced(name: str, side: int, num_frames: int, *, tiles: bool) -> int:
    published = AUTOENCODERS[name]
    with torch.device("meta"):
        vae = published.kind(**published.config).to(torch.bfloat16).requires_grad_(False)
    scale, (_, channels, *rest) = published.profile.token_pixels // 2, published.latent
    frames = (1 + (num_frames - 1) // 4,) if len(rest) == 3 else ()
    latents = torch.zeros(1, channels, *frames, side // scale, side // scale, device="meta", dtype=torch.bfloat16)
    decoder = with_tiles(vae, TILE, STRIDE) if tiles else vae
    return peak_bytes(lambda: decoder.decode(latents, return_dict=False)[0])


CASES = [
    ("flux.1", 1),
    ("flux.2", 1),
    ("qwen-image", 1),
    ("wan2.1", 1),
    ("hunyuanvideo", 9),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (("wan2.1", 9), ("wan2.2-5b", 9), ("hunyuanvideo", 33))),
]
"""Autoencoders by name, and numbers of frames. Those that are slow to trace are of the kinds before them."""


@pytest.mark.parametrize(("name", "num_frames"), CASES)
def test_whole_samples_take_what_the_plan_says(name: str, num_frames: int) -> None:
    planned = decoding_bytes(workload(AUTOENCODERS[name].profile, 128, num_frames, tiles=False))
    assert traced(name, 128, num_frames, tiles=False) == pytest.approx(planned, rel=TOLERANCE)


@pytest.mark.parametrize(("name", "num_frames"), CASES)
def test_tiles_take_what_the_plan_says(name: str, num_frames: int) -> None:
    profile = AUTOENCODERS[name].profile
    profile = replace(profile, decoding=replace(profile.decoding, tile=TILE, stride=STRIDE))
    planned = decoding_bytes(workload(profile, SIDE, num_frames, tiles=True))
    found = traced(name, SIDE, num_frames, tiles=True)
    assert found == pytest.approx(planned, rel=2 * TOLERANCE)
    assert found < 0.5 * decoding_bytes(workload(profile, SIDE, num_frames, tiles=False))


def test_blending_long_clips_takes_what_the_plan_says_where_feature_maps_are_small() -> None:
    # So small that it is computed sooner than traced without memory.
    vae = with_tiles(build_wan().vae, 32, 24).requires_grad_(False)
    latents = torch.zeros(1, vae.config.z_dim, 11, 6, 6)
    wan = AUTOENCODERS["wan2.1"].profile
    profile = replace(wan, decoding=DecodingProfile(first_frame_values=0, tile=32, stride=24))
    planned = decoding_bytes(replace(workload(profile, 48, 41, tiles=True), weight_bytes=4))
    assert peak_bytes(lambda: vae.decode(latents, return_dict=False)[0]) == pytest.approx(planned, rel=0.1)


@pytest.mark.parametrize("name", AUTOENCODERS)
def test_tiles_are_as_large_as_diffusers_makes_them(name: str) -> None:
    published = AUTOENCODERS[name]
    # The published `sample_size` of autoencoders of pictures (FLUX.1, FLUX.2, Stable Diffusion 3, Z-Image).
    sizes = {} if len(published.latent) == 5 else {"sample_size": 1024}
    with torch.device("meta"):
        vae = published.kind(**{**published.config, **sizes})
    decoding = published.profile.decoding
    if sizes:
        assert (vae.tile_sample_min_size, vae.tile_overlap_factor) == (
            decoding.tile,
            1 - decoding.stride / decoding.tile,
        )
    else:
        assert (vae.tile_sample_min_height, vae.tile_sample_stride_height) == (decoding.tile, decoding.stride)
        assert (vae.tile_sample_min_width, vae.tile_sample_stride_width) == (decoding.tile, decoding.stride)


@given(
    profile=st.sampled_from(sorted(PROFILES)),
    side=st.integers(4, 128).map(lambda units: 32 * units),
    num_frames=st.integers(0, 30).map(lambda units: 4 * units + 1),
)
def test_tiles_save_memory_of_what_they_divide_and_change_nothing_else(
    profile: str, side: int, num_frames: int
) -> None:
    model = PROFILES[profile]
    frames = num_frames if model.token_frames > 1 else 1
    whole, tiled = (decoding_bytes(workload(model, side, frames, tiles=tiles)) for tiles in (False, True))
    if not model.decoding.is_divided(side, side):
        assert tiled == whole
    elif side >= 2 * model.decoding.tile and model.name != "shapes":
        assert tiled < whole
    overlap = model.decoding.overlap(side, side)
    assert 1 <= overlap <= (model.decoding.tile / model.decoding.stride) ** 2 + 1e-9
