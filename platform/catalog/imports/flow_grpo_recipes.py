"""Recipes of flow_grpo (github.com/yifan123/flow_grpo, `config/grpo.py` and `config/base.py`, read in October 2025).

Where a number is not in the file but in its training scripts, or means something else there, `source` says so.
"""

import math
from collections.abc import Mapping
from typing import Any

from catalog.imports.config_source import read_configuration
from catalog.imports.imported import Import
from catalog.imports.model_names import carry_dtype, carry_model
from worker.contracts.names import ModelFamily, RewardName, SdeType

BASE: Mapping[str, Any] = {
    "seed": 42,
    "mixed_precision": "bf16",
    "use_lora": True,
    "save_freq": 20,
    "eval_freq": 20,
    "num_checkpoint_limit": 5,
    "resolution": 768,
    "pretrained.revision": "main",
    "sample.num_steps": 40,
    "sample.eval_num_steps": 40,
    "sample.guidance_scale": 4.5,
    "sample.train_batch_size": 1,
    "sample.num_image_per_prompt": 1,
    "sample.num_batches_per_epoch": 2,
    "sample.global_std": True,
    "sample.noise_level": 0.7,
    "train.batch_size": 1,
    "train.learning_rate": 3e-4,
    "train.adam_beta1": 0.9,
    "train.adam_beta2": 0.999,
    "train.adam_weight_decay": 1e-4,
    "train.gradient_accumulation_steps": 1,
    "train.max_grad_norm": 1.0,
    "train.num_inner_epochs": 1,
    "train.cfg": True,
    "train.adv_clip_max": 5,
    "train.clip_range": 1e-4,
    "train.timestep_fraction": 1.0,
    "train.beta": 0.0,
    "train.ema": False,
}
"""What its `config/base.py` sets, of what is carried."""
LORA: Mapping[ModelFamily, tuple[int, float]] = {ModelFamily.QWEN_IMAGE: (64, 128.0)}
"""Rank and alpha that its training scripts set; 32 and 64 elsewhere."""
OTHER_LORA = (32, 64.0)
REWARDS: Mapping[str, RewardName] = {
    "ocr": RewardName.OCR,
    "video_ocr": RewardName.OCR,
    "pickscore": RewardName.PICK_SCORE,
    "clipscore": RewardName.CLIP_SCORE,
    "imagereward": RewardName.IMAGE_REWARD,
    "aesthetic": RewardName.AESTHETIC,
    "jpeg_compressibility": RewardName.JPEG_COMPRESSIBILITY,
}
EMA = (0.9, 8)
"""Decay, and optimizer steps between two updates, of its `EMAModuleWrapper`."""
AS_THEY_ARE = {
    "seed": "seed",
    "save_freq": "checkpoint.every_num_batches",
    "eval_freq": "evaluation.every_num_batches",
    "num_checkpoint_limit": "checkpoint.num_kept",
    "sample.num_steps": "sampling.num_denoising_steps",
    "sample.eval_num_steps": "sampling.num_eval_denoising_steps",
    "sample.guidance_scale": "sampling.guidance_scale",
    "sample.noise_level": "sampling.noise_level",
    "sample.num_image_per_prompt": "batch.group_size",
    "train.batch_size": "batch.micro_batch_size",
    "train.num_inner_epochs": "batch.num_epochs_per_batch",
    "train.learning_rate": "optimizer.learning_rate",
    "train.adam_beta1": "optimizer.beta1",
    "train.adam_beta2": "optimizer.beta2",
    "train.adam_weight_decay": "optimizer.weight_decay",
    "train.max_grad_norm": "optimizer.max_grad_norm",
    "train.adv_clip_max": "algorithm.advantage_clip",
    "train.clip_range": "algorithm.clip_range",
    "train.beta": "algorithm.kl_coefficient",
}
NOT_OF_A_RUN = (
    *("logdir", "save_dir", "run_name", "allow_tf32", "train.use_8bit_adam", "train.adam_epsilon", "prompt_fn"),
    *("prompt_fn_kwargs", "pretrained.revision", "resume_from", "diffusion_loss", "per_prompt_stat_tracking"),
    *("sample.batch_size", "sample.test_batch_size", "sample.sample_time_per_prompt", "train.sft_batch_size"),
)
"""Where it writes, and what has no effect on what is learnt."""
DICTS = ("reward_fn", "prompt_fn_kwargs")
"""Settings that are dicts, not sections."""
DOES_NOTHING: Mapping[str, Any] = {"sample.same_latent": False, "sample.kl_reward": 0, "train.sft": 0}
"""Options that no setting of a run corresponds to, with the value by which they are off."""


def import_flow_grpo(source: str, function: str, num_gpus: int | None = None) -> Import:
    """The recipe `function` of a `config/grpo.py`. `num_gpus`: how many it was run on, where the file does not say it.

    Raises `ImportRefused`.
    """
    found = Import(read_configuration(source, function, BASE, whole=DICTS))
    found.ignore(*NOT_OF_A_RUN)
    for name, path in AS_THEY_ARE.items():
        found.take(name, path)
    family = _model(found)
    _tuning(found, family)
    _algorithm(found)
    _size(found)
    _steps(found)
    _batch(found, num_gpus)
    _rewards(found)
    if "num_epochs" in found.settings:
        found.leave("num_epochs", "its recipes are stopped by hand: set `num_batches` to what you want")
    if found.text("dataset"):
        found.leave("dataset", "its prompts are files of its repository: upload them as a prompt set")
    if found.text("train.lora_path") is not None:
        found.leave("train.lora_path", "a run begins with a new adapter, or is forked from a checkpoint of a run")
    found.ignore(*(name for name, value in DOES_NOTHING.items() if found.settings.get(name) == value))
    found.ignore(*(name for name in found.settings if name.startswith("<local>.")))
    found.finish()
    return found


def _model(found: Import) -> ModelFamily | None:
    path = (found.text("pretrained.model") or "").removeprefix("hf_cache/")
    family = carry_model(found, "pretrained.model", path)
    carry_dtype(found, "mixed_precision")
    return family


def _tuning(found: Import, family: ModelFamily | None) -> None:
    if found.flag("use_lora") is False:
        found.carry("tuning", "full", "use_lora")
    else:
        rank, alpha = LORA.get(family, OTHER_LORA) if family else OTHER_LORA
        found.carry("lora.rank", rank, "its training script")
        found.carry("lora.alpha", alpha, "its training script")
    if found.flag("train.ema"):
        decay, every = EMA
        found.carry("ema.decay", decay, "train.ema, and its EMAModuleWrapper")
        found.carry("ema.every_num_optimizer_steps", every, "train.ema, and its EMAModuleWrapper")


def _algorithm(found: Import) -> None:
    window = found.count("sample.sde_window_size")
    found.carry("algorithm.name", "flow_grpo_fast" if window else "flow_grpo", "sample.sde_window_size")
    if window:
        found.carry("algorithm.window_size", window, "sample.sde_window_size")
    kind = SdeType.CPS if found.text("sample.sde_type") == "cps" else SdeType.FLOW
    found.carry("sampling.sde_type", kind.value, "sample.sde_type")
    if found.flag("train.cfg") is False:
        found.carry("sampling.train_guidance_scale", 1.0, "train.cfg")
    std = "group" if found.flag("sample.global_std") is False else "batch"
    found.carry("algorithm.advantage_std", std, "sample.global_std")


def _size(found: Import) -> None:
    resolution = found.count("resolution")
    for side in ("height", "width"):
        own = found.count(side)
        size, source = (resolution, "resolution") if own is None else (own, side)
        if size is not None:
            found.carry(f"sampling.{side}", size, source)
    found.take("frames", "sampling.num_frames")


def _steps(found: Import) -> None:
    """It trains on the first `timestep_fraction` of the steps, or in a window among those of `sde_window_range`."""
    fraction, steps = found.number("train.timestep_fraction"), found.count("sample.num_steps")
    begin_and_end = found.pair("sample.sde_window_range")
    if begin_and_end is not None:
        begin, end = begin_and_end
        found.carry("sampling.sde_start", begin, "sample.sde_window_range")
        found.carry("sampling.num_sde_steps", end - begin, "sample.sde_window_range")
    elif fraction is not None and steps is not None and 0 < fraction < 1:
        # Its last step is stochastic too, though not trained on.
        found.carry("sampling.num_sde_steps", max(1, math.floor(steps * fraction)), "train.timestep_fraction")


def _batch(found: Import, num_gpus: int | None) -> None:
    """An epoch there is a batch here: so many pictures on each GPU, in groups; and the updates made of them."""
    per_gpu, rounds = found.count("sample.train_batch_size"), found.count("sample.num_batches_per_epoch")
    group, gpus = found.count("sample.num_image_per_prompt"), num_gpus or found.count("<local>.gpu_number")
    if per_gpu and rounds and group and gpus:
        source = "sample.train_batch_size × num_batches_per_epoch × GPUs / num_image_per_prompt"
        found.carry("batch.num_prompts_per_batch", max(1, round(per_gpu * rounds * gpus / group)), source)
    else:
        found.leave("sample.num_batches_per_epoch", "the number of prompts of a batch needs the number of GPUs")
    accumulated = found.count("train.gradient_accumulation_steps")
    if rounds and accumulated:
        source = "sample.num_batches_per_epoch / train.gradient_accumulation_steps"
        found.carry("batch.num_minibatches", max(1, rounds // accumulated), source)


def _rewards(found: Import) -> None:
    wanted = found.numbers("reward_fn")
    known = [
        {"name": REWARDS[name].value, "weight": float(weight)} for name, weight in wanted.items() if name in REWARDS
    ]
    unknown = sorted(wanted.keys() - REWARDS.keys())
    if known:
        found.carry("rewards", known, "reward_fn")
    if unknown:
        found.leave("reward_fn", f"no scorer is called {', '.join(unknown)}: serve it as a `remote` reward")
