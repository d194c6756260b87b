"""The `performance` section: off by default, and what cannot go together is refused with the spec."""

from typing import Any

import pytest

from worker.contracts.performance import AttentionBackend, Compilation
from worker.contracts.run_spec import RunSpec


def spec_with(**sections: Any) -> RunSpec:
    document = {"prompts": {"inline": ["a", "b"]}, "rewards": [{"name": "colorfulness"}], **sections}
    return RunSpec.model_validate({"batch": {"num_prompts_per_batch": 2}, **document})


def test_everything_is_off_by_default() -> None:
    performance = spec_with().performance
    assert (performance.compilation, performance.attention) == (Compilation.OFF, AttentionBackend.DEFAULT)


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
            "`performance.attention` must be _native_math or default with `pipeline.deterministic`, got flash",
        ),
        (
            {"performance": {"attention": "flash"}, "base_model": {"family": "sd3"}},
            "`performance.attention` must be default for sd3, got flash",
        ),
        (
            {"performance": {"attention": "flash"}, "base_model": {"family": "hunyuan_video"}},
            "`performance.attention` must not be flash for hunyuan_video: it takes no attention mask",
        ),
        (
            {
                "performance": {"attention": "_native_flash"},
                "base_model": {"family": "qwen_image"},
                "sampling": {"batched_cfg": True, "guidance_scale": 4.0},
            },
            "must not be _native_flash for qwen_image with `sampling.batched_cfg`",
        ),
        (
            {"performance": {"compilation": "aot_eager"}, "base_model": {"family": "sd3"}},
            "`performance.compilation` must be off for sd3, got aot_eager",
        ),
    ],
)
def test_what_cannot_go_together_is_refused(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec_with(**sections)


def test_repeatable_kernels_go_with_determinism() -> None:
    spec_with(performance={"compilation": "aot_eager", "attention": "_native_math"}, pipeline={"deterministic": True})
