"""What a backward pass keeps of each block, by tracing diffusers' classes with published configurations."""

import pytest
import torch

from tests.scheduling.profiles.kept_activations import kept_bytes
from tests.scheduling.profiles.published_models import PUBLISHED, Published
from worker.contracts.names import Tuning
from worker.contracts.sections import LoraSpec
from worker.engine.models.lora import add_lora
from worker.engine.models.registry import MODEL_ADAPTERS

TOLERANCE = 0.03
"""Relative: profiles are rounded to whole bytes."""
QUICK = {"flux.2-klein-4b", "z-image-6b", "wan2.1-1.3b"}
"""One of each kind: joined streams, gated feed-forward layers of its own width, cross-attention."""


def traced_bytes(published: Published, tuning: Tuning) -> float:
    """Bytes per token, unit of width and block."""
    profile = published.profile
    with torch.device("meta"):
        model = published.kind(**published.config).to(torch.bfloat16)
        if tuning is Tuning.LORA:
            targets = MODEL_ADAPTERS[published.family].default_lora_targets
            add_lora(model, LoraSpec(rank=32, alpha=64.0), targets, seed=0)
        found = kept_bytes(model, published.meta_inputs())
    tokens = profile._num_joined_tokens(published.num_tokens)
    return found / tokens / profile.width / profile.num_layers


CASES = [
    pytest.param(
        published, id=published.profile.name, marks=[] if published.profile.name in QUICK else pytest.mark.slow
    )
    for published in PUBLISHED
]


@pytest.mark.parametrize("published", CASES)
def test_a_backward_pass_keeps_what_the_profile_says(published: Published) -> None:
    profile = published.profile
    assert traced_bytes(published, Tuning.LORA) == pytest.approx(profile.lora_activation_bytes, rel=TOLERANCE)
    assert traced_bytes(published, Tuning.FULL) == pytest.approx(profile.full_activation_bytes, rel=TOLERANCE)
