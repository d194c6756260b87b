"""What events tell of one sample, and of one group of samples."""

from typing import Annotated, Literal

from pydantic import Field

from worker.contracts.artifact_paths import ArtifactPath
from worker.contracts.base import MAX_LANE_CHARS, Contract, Index, Key, Magnitude, Text, Value
from worker.contracts.prompts import MAX_ID_CHARS, MAX_PROMPT_CHARACTERS


class SampleInfo(Contract):
    """One picture or clip in the gallery: of a batch, of an evaluation, or requested by a user."""

    prompt: Annotated[str, Field(max_length=MAX_PROMPT_CHARACTERS)]
    """The prompt's text."""
    prompt_id: Annotated[str, Field(max_length=MAX_ID_CHARS)]
    """The prompt's id, by which samples of other runs can be compared with this one."""
    prompt_index: Index
    member: Index
    seed: Annotated[int, Field(ge=0, lt=2**64)]
    artifact: ArtifactPath
    """Artifact path below the run, as it was uploaded. Its ending tells a picture from a clip."""
    poster: ArtifactPath | Literal[""] = ""
    """Artifact path of the still picture that is shown until a clip plays; empty for pictures."""
    rewards: dict[Key, Value]
    missing: dict[Key, Text] = {}
    """Why a reward gave no score, by the reward's key."""
    reward: Value | None
    """Weighted sum of the trained rewards; `None` for a requested sample whose prompt a trained reward cannot score."""
    advantage: Value | None = None
    staleness: Index = 0
    lane: Annotated[str, Field(max_length=MAX_LANE_CHARS)] = ""


class GroupOutcome(Contract):
    """What became of one group of a batch once all its samples were scored."""

    prompt_index: Index
    """The prompt's index among the run's."""
    mean_reward: Value | None
    """Mean of the weighted sum of the trained rewards; `None` where no sample has one."""
    reward_std: Magnitude
    """Standard deviation of the same, of the population."""
    has_spread: bool
    """Whether some advantage of the group differs from 0: without that it teaches nothing."""
    num_dropped_draws: Index = 0
    """Draws before this one that were dropped for want of spread (`batch.max_resamples`)."""
    num_missing: Index = 0
    """Samples that lack a trained reward."""
    num_repeated_fragments: Index = 0
    """Fragments that were generated once more, because their lane was lost."""
