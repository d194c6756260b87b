"""LoRA layers go where the spec says, or the run does not start."""

from typing import Any

import pytest
import torch
from peft import get_peft_model_state_dict

from worker.contracts.sections import BaseModelSpec, LoraSpec
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.compute_copies import MasterWeightLinear
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.lora import add_lora, lora_disabled, lora_parameters
from worker.engine.models.registry import load_model


def model_with_lora(path: str, *, targets: tuple[str, ...] = (), dtype: str = "fp32", seed: int = 0) -> ModelAdapter:
    model = load_model(BaseModelSpec.model_validate({"dtype": dtype}), path)
    spec = LoraSpec(rank=4, alpha=8.0, targets=targets)
    add_lora(model.transformer, spec, model.default_lora_targets, seed=seed)
    return model


def velocity(model: ModelAdapter) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    conditioning = Conditioning(prompt=model.encode_prompt("a red square"), height=32, width=32, guidance_scale=1.0)
    with torch.no_grad():
        latents = torch.randn(2, 16, 16, generator=generator)
        return model.predict_velocity(latents, torch.full((2,), 0.5), conditioning)


def test_only_lora_parameters_train_and_they_are_fp32_on_any_base(tiny_checkpoint: str) -> None:
    model = model_with_lora(tiny_checkpoint, dtype="bf16")
    lora = lora_parameters(model.transformer)
    trained = [parameter for parameter in model.transformer.parameters() if parameter.requires_grad]
    assert {id(parameter) for parameter in trained} == {id(parameter) for parameter in lora.values()}
    assert {parameter.dtype for parameter in trained} == {torch.float32}


def test_names_are_pefts_own(tiny_checkpoint: str) -> None:
    transformer = model_with_lora(tiny_checkpoint).transformer
    assert set(lora_parameters(transformer)) == set(get_peft_model_state_dict(transformer))


def test_default_targets_cover_attention_mlp_and_projections(tiny_checkpoint: str) -> None:
    names = lora_parameters(model_with_lora(tiny_checkpoint).transformer)
    for part in ("attn.to_q", "attn.add_k_proj", "ff.net.2", "ff_context.net.0.proj", "proj_mlp", "proj_out"):
        assert any(f"{part}.lora_A" in name for name in names), part


def test_the_output_layer_has_no_lora_by_default_though_blocks_have_layers_of_its_name(tiny_checkpoint: str) -> None:
    names = lora_parameters(model_with_lora(tiny_checkpoint).transformer)
    assert "single_transformer_blocks.0.proj_out.lora_A.weight" in names
    assert "proj_out.lora_A.weight" not in names
    chosen = lora_parameters(model_with_lora(tiny_checkpoint, targets=("proj_out",)).transformer)
    assert "proj_out.lora_A.weight" in chosen


def test_on_a_bf16_base_lora_layers_compute_in_bf16_and_have_fp32_gradients(tiny_checkpoint: str) -> None:
    model = model_with_lora(tiny_checkpoint, dtype="bf16")
    seen: set[torch.dtype] = set()
    for module in model.transformer.modules():
        if isinstance(module, MasterWeightLinear):
            module.register_forward_hook(lambda _, inputs, output: seen.update({inputs[0].dtype, output.dtype}))
    conditioning = Conditioning(prompt=model.encode_prompt("a red square"), height=32, width=32, guidance_scale=1.0)
    model.predict_velocity(torch.randn(2, 16, 16), torch.full((2,), 0.5), conditioning).square().sum().backward()
    assert seen == {torch.bfloat16}
    gradients = {name: parameter.grad for name, parameter in lora_parameters(model.transformer).items()}
    assert {None if each is None else each.dtype for each in gradients.values()} == {torch.float32}
    assert any(float(each.norm()) > 0 for each in gradients.values() if each is not None)


def test_without_a_lora_a_bf16_prediction_is_the_transformers_own(tiny_checkpoint: str) -> None:
    """To the bit: nothing around the transformer casts what diffusers would not."""
    model = load_model(BaseModelSpec(dtype="bf16"), tiny_checkpoint)
    calls: list[dict[str, Any]] = []
    hook = model.transformer.register_forward_pre_hook(lambda _, __, named: calls.append(named), with_kwargs=True)
    ours = velocity(model)
    hook.remove()
    with torch.no_grad():
        theirs = model.transformer(**calls[0])[0]
    assert theirs.dtype is torch.bfloat16
    assert torch.equal(ours, theirs.float())


def test_a_target_that_matches_nothing_is_refused_with_what_exists(tiny_checkpoint: str) -> None:
    with pytest.raises(ModelLoadError, match=r"got 'attn.to_z', which matches none: choose among .*attn.to_q"):
        model_with_lora(tiny_checkpoint, targets=("attn.to_q", "attn.to_z"))


def test_a_fresh_lora_changes_nothing_and_its_seed_decides_it(tiny_checkpoint: str) -> None:
    base = load_model(BaseModelSpec(), tiny_checkpoint)
    one, same, other = (model_with_lora(tiny_checkpoint, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(velocity(base), velocity(one))
    first, second, third = (lora_parameters(model.transformer) for model in (one, same, other))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], third[name]) for name in first)


def test_disabling_the_lora_gives_the_reference_policy_and_back(tiny_checkpoint: str) -> None:
    base, model = load_model(BaseModelSpec(), tiny_checkpoint), model_with_lora(tiny_checkpoint)
    with torch.no_grad():
        for parameter in lora_parameters(model.transformer).values():
            parameter.add_(0.05)
    moved = velocity(model)
    with lora_disabled(model.transformer):
        assert torch.equal(velocity(model), velocity(base))
    assert torch.equal(velocity(model), moved)
    assert not torch.equal(moved, velocity(base))
