"""Profiles have the values that torch counts of diffusers' classes with published configurations, on the meta
device."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.scheduling.profiles.published_models import AUTOENCODERS, PUBLISHED, Published
from tests.slow_params import slow_but
from worker.engine.models.registry import MODEL_ADAPTERS

TOLERANCE = 0.05
"""Relative: profiles are rounded, and leave out layers of which a model has only one."""
QUICK = {"flux.2-klein-4b", "z-image-6b", "wan2.1-1.3b"}
"""One of each kind: joined streams, gated feed-forward layers of its own width, cross-attention."""
EACH = pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.profile.name)


def _built(published: Published) -> torch.nn.Module:
    with torch.device("meta"):
        model: torch.nn.Module = published.kind(**published.config).to(torch.bfloat16)
    return model


def _meta(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, device="meta", dtype=torch.bfloat16)


@EACH
def test_parameters_are_the_models_and_lora_trains_what_the_family_adapts(published: Published) -> None:
    model, profile = _built(published), published.profile
    assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(profile.parameters, rel=0.01)
    endings = MODEL_ADAPTERS[published.family].default_lora_targets
    adapted = [
        module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear)
        and f".{name}".endswith(tuple(f".{end}" for end in endings))
        and any(part.isdigit() for part in name.split("."))
    ]
    assert sum(module.in_features + module.out_features for module in adapted) == profile.lora_parameters_per_rank


@EACH
def test_embeddings_have_the_widths_that_the_published_transformer_takes(published: Published) -> None:
    config = _built(published).config
    widths = ("joint_attention_dim", "text_dim", "cap_feat_dim", "text_embed_dim")
    assert published.profile.embedding.width == next(config[name] for name in widths if name in config)
    assert published.profile.embedding.pooled_width == config.get("pooled_projection_dim", 0)


@pytest.mark.parametrize(
    "published",
    slow_but([published for published in PUBLISHED if published.profile.name in QUICK], PUBLISHED),
    ids=lambda published: published.profile.name,
)
def test_operations_of_a_forward_are_those_that_torch_counts(published: Published) -> None:
    model, profile = _built(published), published.profile
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(**published.meta_inputs())
    assert profile.forward_flops(published.num_tokens) == pytest.approx(counter.get_total_flops(), rel=TOLERANCE)


@pytest.mark.parametrize("name", AUTOENCODERS)
def test_decoding_takes_the_operations_and_keeps_the_values_that_torch_counts(name: str) -> None:
    published = AUTOENCODERS[name]
    profile, num_pixels = published.profile, published.num_pixels
    with torch.device("meta"):
        vae = published.kind(**published.config).to(torch.bfloat16).requires_grad_(False)
    num_parameters = sum(parameter.numel() for parameter in vae.parameters())
    assert profile.decoder_parameters == pytest.approx(num_parameters, rel=TOLERANCE)
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[id(tensor.untyped_storage())] = tensor
        return tensor

    own = {id(parameter.untyped_storage()) for parameter in vae.parameters()}
    with FlopCounterMode(display=False) as counter, torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept):
        vae.decode(_meta(*published.latent).requires_grad_())
    num_values = sum(tensor.numel() for identity, tensor in kept.items() if identity not in own)
    assert profile.decoder_flops_per_pixel * num_pixels == pytest.approx(counter.get_total_flops(), rel=2 * TOLERANCE)
    assert profile.decoder_values_per_pixel * num_pixels == pytest.approx(num_values, rel=4 * TOLERANCE)
