"""Every family that makes pictures, on its tiny checkpoint: it draws what diffusers draws, to the bit."""

from typing import Any

import numpy as np
import pytest
import torch
from diffusers import DiffusionPipeline

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.proofs import (
    Drawn,
    drawn_by_diffusers,
    drawn_here,
    loaded,
    noise_for,
    sampling_of,
)
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily
from worker.contracts.sections import SamplingSpec
from worker.engine.models.base import ModelAdapter

FAMILIES = [family for family, traits in FAMILY_TRAITS.items() if not traits.makes_clips]
GUIDED = {"guidance_scale": 3.0}
IN_ONE_PASS = {ModelFamily.SD3, ModelFamily.Z_IMAGE}
"""Pipelines that make both predictions of true CFG in one forward pass."""


@pytest.fixture(scope="module", params=FAMILIES, ids=str)
def family(request: pytest.FixtureRequest) -> ModelFamily:
    chosen: ModelFamily = request.param
    return chosen


@pytest.fixture(scope="module")
def model(family: ModelFamily, checkpoint_of: CheckpointOf) -> ModelAdapter:
    return loaded(family, checkpoint_of(family))


@pytest.fixture(scope="module")
def pipeline(family: ModelFamily, checkpoint_of: CheckpointOf) -> Any:
    return DiffusionPipeline.from_pretrained(checkpoint_of(family))


def pipelines_noise(model: ModelAdapter, sampling: SamplingSpec) -> torch.Tensor:
    """x_T as the family's pipeline takes it: FLUX.2's packs what it is given."""
    noise = noise_for(model, sampling)
    if model.family not in (ModelFamily.FLUX2, ModelFamily.FLUX2_KLEIN):
        return noise
    return noise.permute(0, 2, 1).unflatten(2, (4, 4))


def diffusers_draws(pipeline: Any, model: ModelAdapter, sampling: SamplingSpec) -> Drawn:
    return drawn_by_diffusers(pipeline, model, sampling, pipelines_noise(model, sampling))


def test_unguided_sampling_equals_the_pipeline(family: ModelFamily, model: ModelAdapter, pipeline: Any) -> None:
    sampling = sampling_of(family)
    ours, theirs = drawn_here(model, sampling), diffusers_draws(pipeline, model, sampling)
    assert torch.equal(ours.latents, theirs.latents)
    np.testing.assert_array_equal(ours.pictures, theirs.pictures)
    assert ours.pictures.shape == (2, 32, 32, 3) and ours.pictures.std() > 1


def test_guided_sampling_equals_the_pipeline(family: ModelFamily, model: ModelAdapter, pipeline: Any) -> None:
    sampling = sampling_of(family, **GUIDED, batched_cfg=family in IN_ONE_PASS)
    ours, theirs = drawn_here(model, sampling), diffusers_draws(pipeline, model, sampling)
    assert torch.equal(ours.latents, theirs.latents)
    np.testing.assert_array_equal(ours.pictures, theirs.pictures)
    assert not torch.allclose(ours.latents, drawn_here(model, sampling_of(family)).latents, atol=1e-2)
