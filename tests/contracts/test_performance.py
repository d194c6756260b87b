"""The `performance` section: what `auto` means for a run, and what cannot go together is refused with the spec."""

from typing import Any

import pytest

from worker.contracts.performance import AttentionBackend, Compilation, ContextParallel
from worker.contracts.run_spec import RunSpec


def spec_with(**sections: Any) -> RunSpec:
    document = {"prompts": {"inline": ["a", "b"]}, "rewards": [{"name": "colorfulness"}], **sections}
    return RunSpec.model_validate({"batch": {"num_prompts_per_batch": 2}, **document})


BF16 = {"base_model": {"dtype": "bf16"}}
FREE = (Compilation.INDUCTOR, AttentionBackend.AUTO)
PLAIN = (Compilation.OFF, AttentionBackend.DEFAULT)
QWEN_WITH_CUDNN = {"base_model": {"family": "qwen_image"}, "performance": {"attention": "_native_cudnn"}}
BATCHED_CFG = {"batched_cfg": True, "guidance_scale": 4.0}
"""Both prompts of guidance in one pass, where the shorter one is padded."""


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({}, PLAIN),
        (BF16, FREE),
        ({**BF16, "pipeline": {"deterministic": True}}, PLAIN),
        ({**BF16, "deepspeed": {"config": "zero3"}}, (Compilation.OFF, AttentionBackend.AUTO)),
        ({"base_model": {"dtype": "bf16", "family": "sd3"}}, (Compilation.INDUCTOR, AttentionBackend.DEFAULT)),
        ({**BF16, "performance": {"compilation": "off"}}, (Compilation.OFF, AttentionBackend.AUTO)),
        ({"performance": {"attention": "_native_math"}}, (Compilation.OFF, AttentionBackend.MATH)),
        (
            {
                "base_model": {"dtype": "bf16", "family": "qwen_image"},
                "sampling": BATCHED_CFG,
            },
            (Compilation.INDUCTOR, AttentionBackend.DEFAULT),
        ),
    ],
)
def test_auto_is_fast_in_bf16_and_exact_where_single_elements_are_judged(
    sections: dict[str, Any], expected: tuple[Compilation, AttentionBackend]
) -> None:
    kernels = spec_with(**sections).kernels
    assert (kernels.compilation, kernels.attention) == expected


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"performance": {"compilation": "inductor"}, "deepspeed": {"config": "zero3"}},
            "`performance.compilation` must be off for ZeRO 3, got inductor",
        ),
        (
            {"performance": {"compilation": "inductor"}, "pipeline": {"deterministic": True}},
            "must not be inductor with `pipeline.deterministic`",
        ),
        (
            {"performance": {"attention": "flash"}, "pipeline": {"deterministic": True}},
            "`performance.attention` must be one of _native_math, auto, default with `pipeline.deterministic`, got "
            "flash",
        ),
        (
            {"performance": {"attention": "flash"}, "base_model": {"family": "sd3"}},
            "`performance.attention` must be auto for sd3, got flash",
        ),
        (
            {
                "performance": {"attention": "_native_flash"},
                "base_model": {"family": "qwen_image"},
                "sampling": BATCHED_CFG,
            },
            "must not be _native_flash for qwen_image with `sampling.batched_cfg`",
        ),
    ],
)
def test_what_cannot_go_together_is_refused(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec_with(**sections)


def test_repeatable_kernels_go_with_determinism() -> None:
    spec_with(performance={"compilation": "aot_eager", "attention": "_native_math"}, pipeline={"deterministic": True})


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({}, ContextParallel.ULYSSES),
        ({"performance": {"context_parallel": "off"}}, ContextParallel.OFF),
        ({"base_model": {"family": "sd3"}}, ContextParallel.OFF),
        ({"base_model": {"family": "hunyuan_video"}}, ContextParallel.OFF),
        ({"performance": {"attention": "_native_math"}}, ContextParallel.OFF),
        ({"pipeline": {"deterministic": True}}, ContextParallel.OFF),
        (QWEN_WITH_CUDNN, ContextParallel.ULYSSES),
        ({**QWEN_WITH_CUDNN, "sampling": BATCHED_CFG}, ContextParallel.OFF),
    ],
)
def test_auto_spreads_predictions_where_family_kernel_and_determinism_allow_it(
    sections: dict[str, Any], expected: ContextParallel
) -> None:
    assert spec_with(**sections).kernels.context_parallel is expected


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"base_model": {"family": "z_image"}}, "must be auto or off for z_image, got ulysses: diffusers has plans"),
        ({"performance": {"attention": "xformers"}}, "with `performance.attention` xformers, got ulysses: take one of"),
        ({"pipeline": {"deterministic": True}}, "with `pipeline.deterministic`, got ulysses: matrix products"),
        ({**QWEN_WITH_CUDNN, "sampling": BATCHED_CFG}, "got ulysses: on divided heads it takes no attention mask"),
    ],
)
def test_spreading_that_cannot_be_is_refused_with_the_spec(sections: dict[str, Any], reason: str) -> None:
    performance = {**sections.get("performance", {}), "context_parallel": "ulysses"}
    with pytest.raises(ValueError, match=f"`performance.context_parallel` .*{reason}"):
        spec_with(**{**sections, "performance": performance})
