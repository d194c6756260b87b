"""What ComfyUI adds to the weights is what was trained, by the formula and the names that `tandem.comfyui` cites."""

import re
from pathlib import Path

import pytest
import torch
from diffusers.loaders.lora_conversion_utils import _convert_non_diffusers_wan_lora_to_diffusers
from diffusers.loaders.single_file_utils import convert_flux2_transformer_checkpoint_to_diffusers
from safetensors.torch import load_file

from tandem.comfyui import write_for_comfyui
from tandem.comfyui_names import comfyui_name
from tandem.errors import TandemError
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import LORA, load_family, with_random_lora
from tests.engine.stored_lora import LORA_FILE
from worker.contracts.lora_targets import linear_layers_of
from worker.contracts.names import ModelFamily
from worker.engine.models.base import ModelAdapter
from worker.engine.models.lora import ADAPTER_NAME, add_lora, lora_parameters

Deltas = dict[str, torch.Tensor]
OWN_NAMES = {ModelFamily.WAN, ModelFamily.WAN22, ModelFamily.HUNYUAN_VIDEO}
UNKNOWN_TO_COMFYUI = {
    ModelFamily.WAN: ("attn2.add_", "condition_embedder.", "proj_out"),
    ModelFamily.WAN22: ("attn2.add_", "condition_embedder.", "proj_out"),
}
"""Parts of the names of the only layers that are refused."""


def exported(family: ModelFamily, checkpoint_of: CheckpointOf, folder: Path) -> tuple[ModelAdapter, list[Path]]:
    """A model with a LoRA, and the LoRA's files for ComfyUI."""
    model = with_random_lora(load_family(family, checkpoint_of(family)))
    model.save_lora(str(folder), lora_parameters(model.transformer))
    return model, write_for_comfyui(folder / LORA_FILE, folder / "comfyui" / "reds.safetensors", family.value)


def trained(transformer: torch.nn.Module) -> Deltas:
    """What peft adds to each layer, by the name of diffusers' file."""
    return {
        f"transformer.{name}": module.get_delta_weight(ADAPTER_NAME)
        for name, module in transformer.named_modules()
        if hasattr(module, "get_delta_weight")
    }


def added(stored: Deltas) -> Deltas:
    """What ComfyUI adds to each layer at strength 1: alpha / rank · B·A."""
    layers = [name.removesuffix(".alpha") for name in stored if name.endswith(".alpha")]
    factors = {name: (stored[f"{name}.lora_B.weight"], stored[f"{name}.lora_A.weight"]) for name in layers}
    return {name: stored[f"{name}.alpha"].item() / a.shape[0] * (b @ a) for name, (b, a) in factors.items()}


def assert_same(left: Deltas, right: Deltas) -> None:
    assert set(left) == set(right) != set()
    for name in left:
        torch.testing.assert_close(left[name], right[name])


@pytest.mark.parametrize("family", [family for family in ModelFamily if family not in OWN_NAMES], ids=str)
def test_layers_keep_diffusers_names_and_the_strength_of_their_training(
    family: ModelFamily, checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    model, (file,) = exported(family, checkpoint_of, tmp_path)
    assert_same(added(load_file(file)), trained(model.transformer))


def test_wan_gets_the_names_that_diffusers_reads_as_those_of_wans_own_checkpoints(
    checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    model, (file,) = exported(ModelFamily.WAN, checkpoint_of, tmp_path)
    read_back = _convert_non_diffusers_wan_lora_to_diffusers(load_file(file))
    layers = {re.sub(r"\.lora_[AB]\.weight$", "", name) for name in read_back}
    # Diffusers multiplies alpha / rank into the factors.
    deltas = {name: read_back[f"{name}.lora_B.weight"] @ read_back[f"{name}.lora_A.weight"] for name in layers}
    assert_same(deltas, trained(model.transformer))


def test_what_the_blocks_of_flux2_share_gets_the_names_that_diffusers_reads_as_those_of_its_checkpoints() -> None:
    layers = [layer for layer in linear_layers_of(ModelFamily.FLUX2) if "modulation" in layer or "_embed." in layer]
    ours = {str(comfyui_name(layer, "flux2")).removeprefix("diffusion_model."): layer for layer in layers}
    checkpoint = {f"{name}.weight": torch.zeros(2, 1) for name in ours}
    read_back = convert_flux2_transformer_checkpoint_to_diffusers(checkpoint)
    assert len(ours) == 7
    assert set(read_back) == {f"{layer}.weight" for layer in ours.values()}


@pytest.mark.parametrize("family", sorted(set(ModelFamily) - {ModelFamily.HUNYUAN_VIDEO}), ids=str)
def test_every_layer_has_a_name_in_comfyui_but_for_those_that_are_refused(family: ModelFamily) -> None:
    layers = {layer.replace("*", "0") for layer in linear_layers_of(family)}
    nameless = {layer for layer in layers if comfyui_name(layer, family.value) is None}
    parts = UNKNOWN_TO_COMFYUI.get(family, ())
    assert nameless == {layer for layer in layers if any(part in layer for part in parts)}
    assert comfyui_name("transformer_blocks.0.made_up", family.value) is None


def test_a_layer_that_comfyui_would_leave_out_is_refused(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    model = load_family(ModelFamily.WAN, checkpoint_of(ModelFamily.WAN))
    outside = LORA.model_copy(update={"targets": ("condition_embedder.time_proj",)})
    add_lora(model.transformer, outside, model.default_lora_targets, seed=1)
    model.save_lora(str(tmp_path), lora_parameters(model.transformer))
    with pytest.raises(TandemError, match=r"no name for the layer condition_embedder.time_proj of wan"):
        write_for_comfyui(tmp_path / LORA_FILE, tmp_path / "reds.safetensors", "wan")


def test_two_experts_are_two_files(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    model, files = exported(ModelFamily.WAN22, checkpoint_of, tmp_path)
    assert [file.name for file in files] == ["reds-high_noise.safetensors", "reds-low_noise.safetensors"]
    high, low = (added(load_file(file)) for file in files)
    assert len(high) + len(low) == len(trained(model.transformer))
    assert not any(torch.equal(high[name], low[name]) for name in high)


def test_a_family_whose_layers_comfyui_joins_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TandemError, match=r"hunyuan_video cannot be written .* possible are flux, flux2"):
        write_for_comfyui(tmp_path / LORA_FILE, tmp_path / "reds.safetensors", "hunyuan_video")
