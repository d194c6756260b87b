"""The `performance` section of a `RunSpec`: kernels of the transformer, the same in rollout, replay and training.

Where there is one switch already it is not here: true CFG in one pass is `sampling.batched_cfg`, bf16 is
`base_model.dtype` (frozen weights and forward pass; LoRA, optimizer and the policy's maths stay fp32).
"""

from worker.contracts.base import Contract
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import ExplainedName, ModelFamily
from worker.contracts.sections import SamplingSpec


class Compilation(ExplainedName):
    """Backends of `torch.compile`."""

    OFF = "off", "As diffusers wrote it."
    INDUCTOR = "inductor", "Fused kernels. On a CPU lane it is left off."
    AOT_EAGER = "aot_eager", "Captured, forward and backward, but not fused: to find out what a capture changes."


class AttentionBackend(ExplainedName):
    """Of diffusers, by its own names; those without a gradient, and those that download code, are left out."""

    DEFAULT = "default", "Whatever diffusers and torch choose."
    MATH = "_native_math", "Plain matrix products: slow, the most exact, on any device."
    FLASH_SDPA = "_native_flash", "Torch's own FlashAttention."
    EFFICIENT_SDPA = "_native_efficient", "Torch's own memory-efficient attention."
    CUDNN = "_native_cudnn", "cuDNN's, for NVIDIA GPUs."
    FLASH = "flash", "The package flash-attn."
    XFORMERS = "xformers", "The package xformers."
    NPU = "_native_npu", "Ascend NPUs' own."


REPEATABLE_BACKENDS = frozenset({AttentionBackend.DEFAULT, AttentionBackend.MATH})
"""Of which the same bits can be promised: the others' gradients may be summed in any order."""

WITHOUT_MASKS = frozenset({AttentionBackend.FLASH_SDPA, AttentionBackend.FLASH})
"""Which take no attention mask."""

NOT_ON_A_CPU = frozenset(
    {
        AttentionBackend.EFFICIENT_SDPA,
        AttentionBackend.CUDNN,
        AttentionBackend.FLASH,
        AttentionBackend.XFORMERS,
        AttentionBackend.NPU,
    }
)
"""Left off on a lane without an accelerator, as `inductor` is."""

WITHOUT_KERNEL_CHOICE = frozenset({ModelFamily.SD3})
"""Families whose transformer diffusers neither compiles block by block nor lets choose its attention."""


class PerformanceSpec(Contract):
    """Off by default. Each reaches every lane that generates, replays or trains."""

    compilation: Compilation = Compilation.OFF
    """Compile the transformer's repeated blocks at their first use. New adapters need no new compilation; new shapes
    do."""
    attention: AttentionBackend = AttentionBackend.DEFAULT
    """Kernel of the transformer's attention. On a CPU lane those of accelerators are left off."""


def performance_problems(
    performance: PerformanceSpec,
    family: ModelFamily,
    sampling: SamplingSpec,
    deepspeed: DeepSpeedSpec,
    *,
    deterministic: bool,
) -> list[str]:
    """What cannot go together, each as a sentence for the user."""
    found = []
    if family in WITHOUT_KERNEL_CHOICE:
        chosen = {"compilation": performance.compilation, "attention": performance.attention}
        found += [
            f"`performance.{name}` must be {default} for {family}, got {chosen[name]}: its transformer in diffusers "
            "offers no choice"
            for name, default in (("compilation", Compilation.OFF), ("attention", AttentionBackend.DEFAULT))
            if chosen[name] is not default
        ]
    if performance.attention in WITHOUT_MASKS and (why := _why_masked(family, sampling)) is not None:
        found.append(
            f"`performance.attention` must not be {performance.attention} for {family}{why}: it takes no attention "
            f"mask, which padded prompts need; take {AttentionBackend.DEFAULT}"
        )
    if performance.compilation is not Compilation.OFF and deepspeed.zero_stage == 3:
        found.append(
            f"`performance.compilation` must be off for ZeRO 3, got {performance.compilation}: weights that are "
            "gathered layer by layer cannot be captured; take ZeRO 2, or leave it off"
        )
    if performance.compilation is Compilation.INDUCTOR and deterministic:
        found.append(
            "`performance.compilation` must not be inductor with `pipeline.deterministic`, got both: its kernels "
            "depend on the order in which a lane meets shapes"
        )
    if performance.attention not in REPEATABLE_BACKENDS and deterministic:
        repeatable = " or ".join(sorted(REPEATABLE_BACKENDS))
        found.append(
            f"`performance.attention` must be {repeatable} with `pipeline.deterministic`, got {performance.attention}: "
            "its gradients are summed in no fixed order"
        )
    return found


def _why_masked(family: ModelFamily, sampling: SamplingSpec) -> str | None:
    """When a family's transformer masks tokens, as the end of a clause; `None`: it does not."""
    if family is ModelFamily.HUNYUAN_VIDEO:
        return ""
    is_guided = max(sampling.guidance_scale, sampling.training_guidance) > 1
    if family in (ModelFamily.QWEN_IMAGE, ModelFamily.Z_IMAGE) and sampling.batched_cfg and is_guided:
        return " with `sampling.batched_cfg`"
    return None
