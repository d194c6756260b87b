"""Arguments of diffusers' training scripts (github.com/huggingface/diffusers, `examples/dreambooth`: whole models and
LoRAs; read at 0050dea4 of `train_dreambooth_lora_flux.py`), as the beginning of a run.

They train on pictures, and a run on prompts and rewards: it takes over the model, its adapter, the optimizer and sizes.
"""

from catalog.imports.imported import Import
from catalog.imports.model_names import carry_dtype, carry_model
from catalog.imports.training_arguments import read_arguments

MODEL = "pretrained_model_name_or_path"
AS_THEY_ARE = {
    "seed": "seed",
    "rank": "lora.rank",
    "learning_rate": "optimizer.learning_rate",
    "adam_beta1": "optimizer.beta1",
    "adam_beta2": "optimizer.beta2",
    "adam_weight_decay": "optimizer.weight_decay",
    "max_grad_norm": "optimizer.max_grad_norm",
    "guidance_scale": "sampling.guidance_scale",
    "max_sequence_length": "sampling.max_sequence_length",
    "train_batch_size": "batch.micro_batch_size",
    "num_validation_images": "evaluation.num_samples_per_prompt",
    "checkpoints_total_limit": "checkpoint.num_kept",
}
NOT_OF_A_RUN = (
    *("output_dir", "logging_dir", "report_to", "tracker_project_name", "cache_dir", "push_to_hub", "hub_token"),
    *("hub_model_id", "revision", "variant", "allow_tf32", "local_rank", "dataloader_num_workers", "adam_epsilon"),
    *("use_8bit_adam", "gradient_checkpointing", "cache_latents", "offload", "upcast_before_saving"),
    *("prior_generation_precision", "image_interpolation_mode", "enable_xformers_memory_efficient_attention"),
    *("enable_npu_flash_attention", "set_grads_to_none", "sample_batch_size"),
    # Of options that are left out where they are asked for.
    *("prior_loss_weight", "num_class_images", "text_encoder_lr", "adam_weight_decay_text_encoder", "lr_num_cycles"),
    *("lr_power", "prodigy_beta3", "prodigy_decouple", "prodigy_use_bias_correction", "prodigy_safeguard_warmup"),
)
"""Where it writes, and what has no effect on what is learnt."""
OFF_BY_DEFAULT = ("train_text_encoder", "with_prior_preservation", "scale_lr", "random_flip", "center_crop", "do_fp8")
"""Options that no setting of a run corresponds to, which are off unless they are asked for."""
PICTURES = "a run draws its own pictures from prompts, and is told what is good by rewards: add both"
LENGTH = "a run is as long as its batches, each of pictures that it draws: set `num_batches` to what you want"
WHY = {
    **dict.fromkeys(("dataset_name", "dataset_config_name", "train_data_dir", "instance_data_dir"), PICTURES),
    **dict.fromkeys(("image_column", "caption_column", "class_data_dir", "class_prompt", "repeats"), PICTURES),
    "max_train_samples": PICTURES,
    "instance_prompt": "it is the caption of the pictures: add it to the prompts where it should be trained on",
    **dict.fromkeys(("max_train_steps", "num_train_epochs"), LENGTH),
    "gradient_accumulation_steps": "a mini-batch is as large as its groups: see `batch.num_minibatches`",
    "checkpointing_steps": "it counts optimizer steps: set `checkpoint.every_num_batches`",
    **dict.fromkeys(
        ("validation_epochs", "validation_steps"), "it counts otherwise: set `evaluation.every_num_batches`"
    ),
    **dict.fromkeys(
        ("weighting_scheme", "logit_mean", "logit_std", "mode_scale"),
        "it weights noise levels of pictures that are given; a run learns from the steps by which it draws its own",
    ),
    "resume_from_checkpoint": "a run begins with a new adapter, or is forked from a checkpoint of a run",
}
"""Why a setting is left out, where that can be told better than that nothing corresponds to it."""


def import_diffusers(text: str) -> Import:
    """The command of a training script, or its arguments as YAML or JSON. Raises `ImportRefused`."""
    settings, script = read_arguments(text)
    found = Import(settings)
    found.ignore(*NOT_OF_A_RUN)
    for name, path in AS_THEY_ARE.items():
        found.take(name, path)
    carry_model(found, MODEL, found.text(MODEL) or "")
    if "mixed_precision" in settings:
        carry_dtype(found, "mixed_precision")
    _tuning(found, script)
    _size(found)
    _schedule(found)
    if (prompt := found.text("validation_prompt")) is not None:
        found.carry("evaluation.prompts", [prompt], "validation_prompt")
    found.ignore(*(name for name in OFF_BY_DEFAULT if settings.get(name) is False))
    found.ignore(*(name for name, value in settings.items() if value is None))
    for name in WHY:
        if settings.get(name) is not None:
            found.leave(name, WHY[name])
    found.finish()
    return found


def _tuning(found: Import, script: str) -> None:
    rank = found.count("rank")
    if rank is None and script and "lora" not in script:
        found.carry("tuning", "full", script)
        return
    if found.number("lora_alpha") is not None:
        found.take("lora_alpha", "lora.alpha")
    elif rank is not None:
        found.carry("lora.alpha", float(rank), "rank, which its training script takes for alpha too")
    if (layers := found.text("lora_layers")) is not None:
        found.carry("lora.targets", [name.strip() for name in layers.split(",") if name.strip()], "lora_layers")


def _size(found: Import) -> None:
    for side in ("height", "width"):
        name = side if found.count(side) is not None else "resolution"
        if (size := found.count(name)) is not None:
            found.carry(f"sampling.{side}", size, name)
    found.take("max_num_frames", "sampling.num_frames")


def _schedule(found: Import) -> None:
    """A run's learning rate is constant, and its optimizer AdamW."""
    scheduler, optimizer = found.text("lr_scheduler"), found.text("optimizer")
    found.ignore("lr_warmup_steps")
    if scheduler not in (None, "constant"):
        for name in ("lr_scheduler", "lr_warmup_steps"):
            if found.settings.get(name):
                found.leave(name, "the learning rate of a run is constant")
    if optimizer is not None and optimizer.lower() != "adamw":
        found.leave("optimizer", "a run is optimized by AdamW: choose its learning rate anew")
