"""The `performance` section of a `RunSpec`: kernels of the transformer, the same in rollout, replay and training, and
whether a lane of several GPUs spreads a prediction over them.

Two other settings for speed stand where they belong: `sampling.batched_cfg` and `base_model.dtype`.
"""

from typing import Literal

from worker.contracts.base import Contract
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.names import ExplainedName, ModelFamily
from worker.contracts.sections import SamplingSpec


class Compilation(ExplainedName):
    """Backends of `torch.compile`."""

    AUTO = "auto", "Inductor where the base is in bf16 and neither ZeRO 3 nor determinism forbids it, else off."
    OFF = "off", "PyTorch eager mode, as diffusers runs it."
    INDUCTOR = "inductor", "Fused kernels of torch.compile. CPU lanes run without."
    AOT_EAGER = "aot_eager", "Forward and backward captured but not fused: slower than off, for debugging."


class AttentionBackend(ExplainedName):
    """Attention backends of diffusers, by its names. Those without a gradient, and those that download code, are left
    out."""

    AUTO = "auto", "In bf16 on Hopper GPUs cuDNN's, where no tokens are masked; elsewhere default."
    DEFAULT = "default", "What diffusers and PyTorch choose."
    MATH = "_native_math", "Plain matrix products: slow, the most exact, on any device."
    FLASH_SDPA = "_native_flash", "PyTorch's FlashAttention."
    EFFICIENT_SDPA = "_native_efficient", "PyTorch's memory-efficient attention."
    CUDNN = "_native_cudnn", "cuDNN's attention, for NVIDIA GPUs: the fastest on Hopper."
    FLASH = "flash", "The package flash-attn."
    XFORMERS = "xformers", "The package xformers."
    NPU = "_native_npu", "The kernel of Ascend NPUs."


class ContextParallel(ExplainedName):
    """How a lane of several GPUs computes one prediction."""

    AUTO = "auto", "Ulysses where family, attention kernel and determinism allow it, else off."
    OFF = "off", "On the first GPU of the lane; the others are idle."
    ULYSSES = "ulysses", "Tokens are divided over all GPUs of the lane, and attention heads while they attend."


SPREADABLE_FAMILIES = frozenset(
    {
        ModelFamily.FLUX,
        ModelFamily.FLUX2,
        ModelFamily.FLUX2_KLEIN,
        ModelFamily.QWEN_IMAGE,
        ModelFamily.WAN,
        ModelFamily.WAN22,
    }
)
"""Families for whose transformer diffusers has a plan of what to divide (`_cp_plan`)."""

WHOLE_PROMPTS = frozenset({ModelFamily.WAN, ModelFamily.WAN22})
"""Of these, the families whose plan leaves prompts whole: divided tokens of a clip attend to all of it."""

MASKED_PROMPTS = frozenset({ModelFamily.QWEN_IMAGE})
"""Of these, those whose transformer takes a mask of the prompt's tokens: a prompt can be padded to any length."""

SPREADABLE_BACKENDS = frozenset(
    {
        AttentionBackend.AUTO,
        AttentionBackend.DEFAULT,
        AttentionBackend.FLASH_SDPA,
        AttentionBackend.CUDNN,
        AttentionBackend.FLASH,
        AttentionBackend.NPU,
    }
)
"""Backends that diffusers can run on divided heads."""

SPREADABLE_WITH_MASKS = frozenset({AttentionBackend.AUTO, AttentionBackend.DEFAULT, AttentionBackend.NPU})
"""Of these, those that take a mask there. diffusers hands cuDNN's a boolean one, which only PyTorch's own
`scaled_dot_product_attention` converts to what that kernel adds."""

REPEATABLE_BACKENDS = frozenset({AttentionBackend.AUTO, AttentionBackend.DEFAULT, AttentionBackend.MATH})
"""Backends that are bitwise repeatable, or give way to one that is: the others may sum gradients in any order."""

WITHOUT_MASKS = frozenset({AttentionBackend.FLASH_SDPA, AttentionBackend.FLASH})
"""Backends that take no attention mask."""

NOT_ON_A_CPU = frozenset(
    {
        AttentionBackend.EFFICIENT_SDPA,
        AttentionBackend.CUDNN,
        AttentionBackend.FLASH,
        AttentionBackend.XFORMERS,
        AttentionBackend.NPU,
    }
)
"""Backends that a lane without an accelerator replaces with the default, as it does `inductor`."""

WITHOUT_ATTENTION_CHOICE = frozenset({ModelFamily.SD3})
"""Families whose transformer's attention diffusers does not let choose."""


class PerformanceSpec(Contract):
    """Kernels of the transformer, on every lane that generates, replays or trains. Results change by rounding only,
    which the replay gate bounds."""

    compilation: Compilation = Compilation.AUTO
    """Backend of `torch.compile` for the transformer's repeated blocks. `inductor` speeds up most models on GPUs, after
    some minutes of compilation at the start and for each new shape; `auto` is usual, `off` for short runs and for
    finding errors. Not available with ZeRO 3."""
    attention: AttentionBackend = AttentionBackend.AUTO
    """Attention kernel of the transformer. `auto` is usual: on Hopper GPUs `_native_cudnn` was measured 1.7 to 2.3
    times as fast as FlashAttention-2. CPU lanes use the default in place of kernels for accelerators."""
    context_parallel: ContextParallel = ContextParallel.AUTO
    """How a lane of several GPUs computes one prediction; of no effect on lanes of one. `auto` is usual, `off` for
    comparing: lanes then generate on their first GPU, and none of several trains. Their number must divide the
    attention heads and the tokens of a sample, and to train those of a prompt: a run gets no other lanes, and is
    refused where too few are left."""

    def chosen(
        self,
        family: ModelFamily,
        sampling: SamplingSpec,
        deepspeed: DeepSpeedSpec,
        *,
        dtype: Literal["fp32", "bf16"],
        deterministic: bool,
    ) -> "PerformanceSpec":
        """The kernels with `auto` decided by what a run is; what its cards are then still decides about attention.

        In fp32 no kernel is chosen: the replay gate judges single elements there, and rounding must be the least.
        """
        is_free = dtype == "bf16" and not deterministic
        compilation, attention = self.compilation, self.attention
        if compilation is Compilation.AUTO:
            compilation = Compilation.INDUCTOR if is_free and deepspeed.zero_stage < 3 else Compilation.OFF
        is_masked = _why_masked(family, sampling) is not None
        is_fixed = family in WITHOUT_ATTENTION_CHOICE or is_masked
        if attention is AttentionBackend.AUTO and (is_fixed or not is_free):
            attention = AttentionBackend.DEFAULT
        context_parallel = self.context_parallel
        if context_parallel is ContextParallel.AUTO:
            backends = SPREADABLE_WITH_MASKS if is_masked else SPREADABLE_BACKENDS
            can_spread = family in SPREADABLE_FAMILIES and attention in backends and not deterministic
            context_parallel = ContextParallel.ULYSSES if can_spread else ContextParallel.OFF
        return PerformanceSpec(compilation=compilation, attention=attention, context_parallel=context_parallel)


DIFFUSERS_CHOICE = PerformanceSpec(
    compilation=Compilation.OFF, attention=AttentionBackend.DEFAULT, context_parallel=ContextParallel.OFF
)
"""A transformer as diffusers loads it."""


def performance_problems(
    performance: PerformanceSpec,
    family: ModelFamily,
    sampling: SamplingSpec,
    deepspeed: DeepSpeedSpec,
    *,
    deterministic: bool,
) -> list[str]:
    """Settings that cannot be combined with the rest of the spec, each as a sentence for the user."""
    found = []
    if family in WITHOUT_ATTENTION_CHOICE and performance.attention is not AttentionBackend.AUTO:
        found.append(
            f"`performance.attention` must be {AttentionBackend.AUTO} for {family}, got {performance.attention}: its "
            "transformer in diffusers offers no choice"
        )
    if performance.attention in WITHOUT_MASKS and (why := _why_masked(family, sampling)) is not None:
        found.append(
            f"`performance.attention` must not be {performance.attention} for {family}{why}: it takes no attention "
            f"mask, which padded prompts need; use {AttentionBackend.DEFAULT}"
        )
    if performance.compilation not in (Compilation.AUTO, Compilation.OFF) and deepspeed.zero_stage == 3:
        found.append(
            f"`performance.compilation` must be off for ZeRO 3, got {performance.compilation}: weights that are "
            "gathered layer by layer cannot be captured; use ZeRO 2, or turn compilation off"
        )
    if performance.compilation is Compilation.INDUCTOR and deterministic:
        found.append(
            "`performance.compilation` must not be inductor with `pipeline.deterministic`, got both: its kernels "
            "depend on the order in which a lane meets shapes"
        )
    if performance.attention not in REPEATABLE_BACKENDS and deterministic:
        repeatable = ", ".join(sorted(REPEATABLE_BACKENDS))
        found.append(
            f"`performance.attention` must be one of {repeatable} with `pipeline.deterministic`, got "
            f"{performance.attention}: "
            "its gradients are summed in no fixed order"
        )
    if performance.context_parallel is ContextParallel.ULYSSES:
        found += _why_not_spread(performance, family, sampling, deterministic=deterministic)
    return found


def _why_not_spread(
    performance: PerformanceSpec, family: ModelFamily, sampling: SamplingSpec, *, deterministic: bool
) -> list[str]:
    found, setting = [], "`performance.context_parallel` must be auto or off"
    if family not in SPREADABLE_FAMILIES:
        known = ", ".join(sorted(SPREADABLE_FAMILIES))
        found.append(f"{setting} for {family}, got ulysses: diffusers has plans of what to divide for {known} only")
    if performance.attention not in SPREADABLE_BACKENDS:
        known = ", ".join(sorted(SPREADABLE_BACKENDS))
        found.append(
            f"{setting} with `performance.attention` {performance.attention}, got ulysses: take one of {known}"
        )
    elif performance.attention not in SPREADABLE_WITH_MASKS and (why := _why_masked(family, sampling)) is not None:
        known = ", ".join(sorted(SPREADABLE_WITH_MASKS))
        found.append(
            f"{setting} with `performance.attention` {performance.attention} for {family}{why}, got ulysses: on "
            f"divided heads it takes no attention mask, which padded prompts need; take one of {known}"
        )
    if deterministic:
        found.append(
            f"{setting} with `pipeline.deterministic`, got ulysses: matrix products over a part of the tokens round "
            "differently than over all, so lanes of another number of GPUs would draw other bits"
        )
    return found


def _why_masked(family: ModelFamily, sampling: SamplingSpec) -> str | None:
    """The condition under which a family's transformer masks tokens, as the end of a clause; `None` if it never
    does. HunyuanVideo's padding is cropped."""
    is_guided = max(sampling.guidance_scale, sampling.training_guidance) > 1
    if family in (ModelFamily.QWEN_IMAGE, ModelFamily.Z_IMAGE) and sampling.batched_cfg and is_guided:
        return " with `sampling.batched_cfg`"
    return None
