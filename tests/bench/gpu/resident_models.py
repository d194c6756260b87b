"""Models of full shape without their files: published configurations, random weights that are made on the device.

    tiny checkpoint of the family ─ configs, scheduler, tokenizers ─┐
    published configs of transformer and autoencoder ───────────────┴─► folder without weights
    random weights on the device ─► `resident` ─► load_model, Sampler.load, TrainerRank of that folder use them

Inside `resident`, the engine loads a model as always, from the folder, only that transformer and autoencoder are given
to it: each load gets a module tree of its own over one set of weights, so that LoRA layers, compiled blocks and hooks
of one variant do not reach the next. ZeRO 3, whose ranks shard the weights, has a copy of its own. Invariant: no weight
of such a model is ever on the CPU.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import diffusers
import torch
from accelerate import init_empty_weights

from worker.contracts.names import ModelFamily
from worker.engine.models.embeddings import EmbeddingsInMemory, PromptEmbeds
from worker.engine.models.pipeline_loading import Part
from worker.engine.models.precision import DTYPES
from worker.engine.models.registry import MODEL_ADAPTERS
from worker.engine.models.trainable import copy_with_shared_base
from worker.engine.trainer.policy import trained_policy
from worker.engine.trainer.zero.sharded_loading import _Sharder

_PARTS = {"transformer": Part.TRANSFORMER, "transformer_2": Part.TRANSFORMER, "vae": Part.VAE}
"""By the pipeline's component name. Wan2.2 A14B has a transformer for each of its experts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidentModel:
    """One model on the device, and the folder that stands for its checkpoint."""

    family: ModelFamily
    path: str
    modules: Mapping[str, torch.nn.Module]
    """By the pipeline's component name."""
    embeddings: Mapping[str, PromptEmbeds]
    """Of the bench's prompts."""

    @property
    def transformer(self) -> torch.nn.Module:
        """The first, where there are several."""
        return self.modules["transformer"]

    @property
    def transformers(self) -> dict[str, torch.nn.Module]:
        """All of them, by the pipeline's component name."""
        return {name: module for name, module in self.modules.items() if _PARTS[name] is Part.TRANSFORMER}

    def with_own_transformer(self) -> "ResidentModel":
        """The same model with transformers of equal weights that are not shared."""
        return replace(self, modules={**self.modules, **copy.deepcopy(self.transformers)})

    @property
    def num_bytes(self) -> int:
        """Bytes of all weights."""
        return sum(p.numel() * p.element_size() for module in self.modules.values() for p in module.parameters())


def random_module(folder: Path, component: str, *, device: torch.device, dtype: torch.dtype, seed: int) -> Any:
    """The module that a checkpoint's configs describe, with random weights of a scale at which outputs stay finite."""
    class_name = json.loads((folder / "model_index.json").read_text())[component][1]
    module_class = getattr(diffusers, class_name)
    # Buffers, such as tables of positions, are computed and not drawn: only parameters are left without memory.
    with init_empty_weights(include_buffers=False):
        module = module_class.from_config(module_class.load_config(str(folder), subfolder=component))
    return fill_on_device(module, device=device, dtype=dtype, seed=seed)


def fill_on_device(module: Any, *, device: torch.device, dtype: torch.dtype, seed: int) -> Any:
    """`module` with random weights in place of parameters without memory, frozen, on `device`."""
    in_fp32 = frozenset(getattr(module, "_keep_in_fp32_modules", None) or ())
    generator = torch.Generator(device).manual_seed(seed)
    for name, parameter in list(module.named_parameters()):
        owner, _, leaf = name.rpartition(".")
        # As `from_pretrained` does, which keeps these in fp32 over a base in half precision.
        own = torch.float32 if in_fp32 & set(name.split(".")) else dtype
        drawn = _drawn(parameter, leaf, generator, device, own)
        module.get_submodule(owner).register_parameter(leaf, torch.nn.Parameter(drawn, requires_grad=False))
    return module.to(device).eval()


def _drawn(
    parameter: torch.Tensor, leaf: str, generator: torch.Generator, device: torch.device, dtype: torch.dtype
) -> torch.Tensor:
    """Values of a parameter: matrices keep the scale of what they multiply, norms are 1, biases 0."""
    values = torch.empty(parameter.shape, device=device, dtype=dtype)
    if parameter.ndim >= 2:
        return values.normal_(0.0, parameter[0].numel() ** -0.5, generator=generator)
    return values.fill_(float(leaf == "weight"))


def configured_folder(tiny: Path, folder: Path, configs: Mapping[str, Mapping[str, Any]]) -> Path:
    """A copy of a tiny checkpoint's folder without weights, in which `configs` of components replace its own."""
    for file in tiny.rglob("*.json"):
        target = folder / file.relative_to(tiny)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    for component, config in configs.items():
        file = folder / component / "config.json"
        class_name = json.loads(file.read_text())["_class_name"]
        file.write_text(json.dumps({"_class_name": class_name, **config}))
    return folder


def transformer_names(folder: Path) -> list[str]:
    """The transformers among a pipeline's components; one that a checkpoint lacks is listed as `[null, null]`."""
    index = json.loads((folder / "model_index.json").read_text())
    return [name for name, listed in index.items() if _PARTS.get(name) is Part.TRANSFORMER and listed[1]]


def make_resident(
    family: ModelFamily,
    folder: Path,
    embeddings: Callable[[Any], Mapping[str, PromptEmbeds]],
    *,
    device: torch.device,
    dtype: str,
    with_vae: bool = True,
) -> ResidentModel:
    """The model that `folder` describes, on `device`; `embeddings` are made for its transformer's config."""
    base_dtype = DTYPES[dtype]
    dtypes = dict.fromkeys(transformer_names(folder), base_dtype)
    if with_vae:
        dtypes["vae"] = MODEL_ADAPTERS[family].vae_dtype or base_dtype
    modules = {
        name: random_module(folder, name, device=device, dtype=of_component, seed=seed)
        for seed, (name, of_component) in enumerate(dtypes.items())
    }
    prompts = embeddings(modules["transformer"].config)
    return ResidentModel(family=family, path=str(folder), modules=modules, embeddings=prompts)


@contextmanager
def resident(model: ResidentModel) -> Iterator[None]:
    """Inside the block, the engine loads the family's checkpoints from `model` instead of from files."""
    adapter: Any = MODEL_ADAPTERS[model.family]

    class Resident(adapter):
        @classmethod
        def load(cls, path: str, device: Any, dtype: Any, *, wanted: Any, given: Any = None) -> Any:
            shared = {
                name: copy_with_shared_base(module, {})
                for name, module in model.modules.items()
                if _PARTS[name] in wanted
            }
            loaded = super().load(
                path, device, dtype, wanted=wanted - {Part.TEXT_ENCODERS}, given={**shared, **(given or {})}
            )
            loaded.embeddings = EmbeddingsInMemory(model.embeddings)
            return loaded

    with (
        patch.dict(MODEL_ADAPTERS, {model.family: Resident}),
        patch.object(trained_policy, "load_sharded", partial(_sharded, model)),
    ):
        yield


def _sharded(
    model: ResidentModel, path: str, dtype: torch.dtype, config: dict[str, Any], *, on_cpu: bool = False
) -> dict[str, torch.nn.Module]:
    """The transformers as `load_sharded` shards them from files, layer by layer; of copies, whose weights it takes."""
    transformers = copy.deepcopy(model.transformers)
    sharder = _Sharder(config, on_cpu=on_cpu)
    for transformer in transformers.values():
        for layer in transformer.modules():
            sharder(list(layer.parameters(recurse=False)))
    return transformers


def random_embeddings(like: PromptEmbeds, config: Any, num_tokens: int, prompts: tuple[str, ...]) -> dict[str, Any]:
    """Embeddings of a full model's width and `num_tokens`, for each of `prompts`, named as the tiny checkpoint's.

    Raises:
        KeyError: for a name that is not known here.
    """
    names = ("joint_attention_dim", "text_embed_dim", "text_dim", "cap_feat_dim")
    widths = [config.get(name) for name in names]
    width = next(width for width in widths if width)
    made: dict[str, Any] = {
        "embeds": lambda: torch.randn(1, num_tokens, width),
        "pooled": lambda: torch.randn(1, config["pooled_projection_dim"]),
        "text_ids": lambda: _text_positions(like["text_ids"], num_tokens),
        "mask": lambda: torch.ones(1, num_tokens),
    }
    return {prompt: {name: made[name]().to(tensor.dtype) for name, tensor in like.items()} for prompt in prompts}


def _text_positions(like: torch.Tensor, num_tokens: int) -> torch.Tensor:
    """The positions of text tokens: all 0 in FLUX.1, of (tokens, 3); counted in FLUX.2, of (1, tokens, 4)."""
    if like.ndim == 2:
        return torch.zeros(num_tokens, like.shape[-1])
    positions: torch.Tensor = diffusers.Flux2Pipeline._prepare_text_ids(torch.empty(1, num_tokens, 1))
    return positions
