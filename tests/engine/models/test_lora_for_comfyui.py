"""What ComfyUI adds to the weights is what was trained, by the formula and the names that `tandem.comfyui` cites."""

import re
from pathlib import Path

import pytest
import torch
from diffusers.loaders.lora_conversion_utils import _convert_non_diffusers_wan_lora_to_diffusers
from safetensors.torch import load_file

from tandem.comfyui import write_for_comfyui
from tandem.errors import TandemError
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import load_family, with_random_lora
from worker.contracts.names import ModelFamily
from worker.engine.models.base import ModelAdapter
from worker.engine.models.lora import ADAPTER_NAME, lora_parameters
from worker.engine.trainer.export import LORA_FILE

Deltas = dict[str, torch.Tensor]


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


@pytest.mark.parametrize("family", [ModelFamily.FLUX, ModelFamily.SD3, ModelFamily.Z_IMAGE], ids=str)
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


def test_two_experts_are_two_files(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    model, files = exported(ModelFamily.WAN22, checkpoint_of, tmp_path)
    assert [file.name for file in files] == ["reds-high_noise.safetensors", "reds-low_noise.safetensors"]
    high, low = (added(load_file(file)) for file in files)
    assert len(high) + len(low) == len(trained(model.transformer))
    assert not any(torch.equal(high[name], low[name]) for name in high)


def test_a_family_whose_layers_comfyui_joins_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TandemError, match=r"hunyuan_video cannot be written .* possible are flux, flux2"):
        write_for_comfyui(tmp_path / LORA_FILE, tmp_path / "reds.safetensors", "hunyuan_video")
