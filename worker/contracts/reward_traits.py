"""What is known of each scorer before it is chosen: what it looks at, its range, what it needs, how it is gamed.

Formulas are in the docstrings below `worker/engine/reward`, settings in `worker.contracts.rewards`.
Invariant, held by tests: every `RewardName` has an entry, and the table of deploy/docs/guides/rewards.md says the same.
"""

from enum import StrEnum

from worker.contracts.base import Contract
from worker.contracts.names import RewardName


class RewardInput(StrEnum):
    """What a scorer is given of a sample."""

    PICTURE = "picture"
    """Clips too: the mean over at most 8 evenly spaced frames."""
    SHAPE = "picture 32×32"
    CLIP = "clip of at least 3 frames"
    ANY = "picture or clip"
    """A clip as a whole."""

    @property
    def scores_images(self) -> bool:
        return self is not RewardInput.CLIP

    @property
    def scores_videos(self) -> bool:
        return self is not RewardInput.SHAPE


class RewardTraits(Contract):
    """What is known of a scorer."""

    looks_at: RewardInput
    """What it is given of a sample."""
    prompt: str
    """What it reads of the prompt; empty for nothing."""
    lowest: float | None
    """The least score that it can give; null where there is no bound."""
    highest: float | None
    """The greatest."""
    usual: str
    """The range that scores are in, in words."""
    needs: str
    """What must be there for it; `nothing` for nothing."""
    gamed: str
    """How policies are known to exploit it."""
    source: str
    """Where it comes from: a paper or a repository; empty for Tandem's own."""


def _traits(
    looks_at: RewardInput,
    prompt: str,
    usual: str,
    *,
    needs: str = "nothing",
    gamed: str,
    source: str = "",
    bounds: tuple[float | None, float | None] = (0.0, 1.0),
) -> RewardTraits:
    lowest, highest = bounds
    return RewardTraits(
        looks_at=looks_at,
        prompt=prompt,
        lowest=lowest,
        highest=highest,
        usual=usual,
        needs=needs,
        gamed=gamed,
        source=source,
    )


UNBOUNDED = (None, None)
"""Of what a network with a linear last layer answers."""
COSINE = (-1.0, 1.0)
PICTURE = RewardInput.PICTURE
REWARD_TRAITS: dict[RewardName, RewardTraits] = {
    RewardName.SHAPE_MATCH: _traits(
        RewardInput.SHAPE, "prompt", "0 to 1", gamed="the demo's; what it resists is in its docstring"
    ),
    RewardName.SHAPE_JUDGE: _traits(
        RewardInput.SHAPE,
        "prompt",
        "0 or 1",
        needs="the committed judge",
        gamed="meant to be watched beside `shape_match`",
    ),
    RewardName.JPEG_COMPRESSIBILITY: _traits(
        PICTURE, "", "0 to 1", gamed="flat pictures win: a test reward", source="DDPO, arXiv 2305.13301"
    ),
    RewardName.COLORFULNESS: _traits(
        PICTURE, "", "0 to 1", gamed="garish colours", source="Hasler and Süsstrunk, SPIE 2003"
    ),
    RewardName.OCR: _traits(
        PICTURE,
        'prompt with "quoted text"',
        "0 to 1",
        needs="RapidOCR, models in its package",
        gamed="letters filling the picture; watch an aesthetic reward",
        source="formula: Flow-GRPO, arXiv 2505.05470",
    ),
    RewardName.CLIP_SCORE: _traits(
        PICTURE,
        "prompt",
        "0 to 2.5, mostly below 1",
        needs="CLIP ViT-L/14",
        gamed="prompt words written into the picture, adversarial texture",
        source="CLIPScore, arXiv 2104.08718",
        bounds=(0.0, 2.5),
    ),
    RewardName.PICK_SCORE: _traits(
        PICTURE,
        "prompt",
        "about 20",
        needs="CLIP-H, PickScore v1",
        gamed="glossy, saturated style; said to keep realism better than HPSv2 (DanceGRPO issue 36)",
        source="arXiv 2305.01569",
        bounds=UNBOUNDED,
    ),
    RewardName.HPS_V2: _traits(
        PICTURE,
        "prompt",
        "about 0.2 to 0.3",
        needs="CLIP-H, HPSv2 (v2.1: converted once)",
        gamed="over-smooth, illustration-like",
        source="arXiv 2306.09341",
        bounds=COSINE,
    ),
    RewardName.IMAGE_REWARD: _traits(
        PICTURE,
        "prompt",
        "about −2 to 2",
        needs="BLIP-L, converted once",
        gamed="said to corrupt pictures when trained on alone (DanceGRPO issue 36)",
        source="arXiv 2304.05977",
        bounds=UNBOUNDED,
    ),
    RewardName.AESTHETIC: _traits(
        PICTURE,
        "",
        "about 1 to 10",
        needs="CLIP ViT-L/14 with a linear head",
        gamed="ignores the prompt: content drifts",
        source="github.com/christophschuhmann/improved-aesthetic-predictor",
        bounds=UNBOUNDED,
    ),
    RewardName.MOTION_SMOOTHNESS: _traits(
        RewardInput.CLIP,
        "",
        "0 to 1",
        needs="OpenCV's optical flow",
        gamed="still clips score 1; watch it",
        source="measure of VBench, arXiv 2311.17982, with optical flow in the place of its network",
    ),
    RewardName.REMOTE: _traits(
        RewardInput.ANY, "prompt", "yours", needs="a server of yours", gamed="yours", bounds=UNBOUNDED
    ),
}
