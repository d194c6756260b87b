"""Rewards as a spec names them: one `RewardSpec` each, with the settings of its scorer.

Settings are typed by the reward's name, so that a spec repeats nothing: `name: remote` alone says that `settings` are
`RemoteSettings`. A reward without an entry in `SETTINGS_OF` has none.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator

from worker.contracts.base import Contract, Count, Name
from worker.contracts.names import RemoteFormat, RewardName

Weights = Annotated[str, Field(min_length=1, max_length=400)]
SECRET_NAME = r"^[a-z0-9][a-z0-9_-]*$"
SecretName = Annotated[str, Field(pattern=SECRET_NAME, max_length=64)]


class WeightsSettings(Contract):
    """What scorers with a network of their own have in common."""

    weights: Weights
    """Hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`. Safetensors only."""
    pictures_per_call: Count = 16
    """Pictures in one forward pass."""


class ClipScoreSettings(WeightsSettings):
    weights: Weights = "openai/clip-vit-large-patch14"
    """A CLIP: hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`. Safetensors only."""


class PickScoreSettings(WeightsSettings):
    weights: Weights = "yuvalkirstain/PickScore_v1"
    """PickScore: hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`. Safetensors only."""
    processor: Weights = "laion/CLIP-ViT-H-14-laion2B-s32B-b79K"
    """Where tokenizer and picture processor come from; named as the weights are."""


class HpsV2Settings(WeightsSettings):
    weights: Weights = "adams-story/HPSv2-hf"
    """HPSv2 as a transformers CLIP: hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`."""


class ImageRewardSettings(WeightsSettings):
    """ImageReward is published only as a pickle: name its converted folder here (deploy/docs/guides/rewards.md)."""


class AestheticSettings(WeightsSettings):
    weights: Weights = "shunk031/aesthetics-predictor-v2-sac-logos-ava1-l14-linearMSE"
    """CLIP with the aesthetic head: hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`."""


class OcrSettings(Contract):
    shortest_side: Annotated[int, Field(ge=32, le=4096)] = 736
    """Smaller pictures are enlarged until their shorter side has so many pixels: more finds smaller letters."""


class RemoteSettings(Contract):
    """A scorer behind HTTP; the protocol is in deploy/docs/guides/rewards.md."""

    url: Annotated[str, Field(min_length=1, max_length=2000)]
    """Where batches are posted, e.g. https://scorer.example/score."""
    scorer: Annotated[str, Field(max_length=200)] = ""
    """Which of the server's scorers to use. Empty: its only one."""
    secret: SecretName | None = None
    """Name of a secret of the project, sent as bearer token. The token itself is never part of a spec."""
    format: RemoteFormat = RemoteFormat.MSGPACK
    """msgpack sends pictures as bytes, json as base64 text."""

    @field_validator("url")
    @classmethod
    def _http_without_credentials(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            host.encode("idna")
            is_address = parts.scheme in ("http", "https") and bool(host) and parts.port != 0 and " " not in host
        except ValueError:  # of a port that is no number up to 65535, or a name that no host can have
            is_address = False
        if not is_address:
            raise ValueError(f"`url` must be an http or https address, got {url!r}: e.g. https://scorer.example/score")
        if parts.username is not None or parts.password is not None:
            raise ValueError("`url` must hold no user or password: specs are shown; store the token as a `secret`")
        return url


VERDICT_REWARDS = frozenset({RewardName.SHAPE_JUDGE})
"""Rewards that are 1 for right and 0 for wrong, so that their mean is the share of samples that are right."""

MIN_MOTION_FRAMES = 3
"""Of a clip whose motion can be judged: a frame and its two neighbours."""

Settings = (
    ClipScoreSettings
    | PickScoreSettings
    | HpsV2Settings
    | ImageRewardSettings
    | AestheticSettings
    | OcrSettings
    | RemoteSettings
)
SETTINGS_OF: dict[RewardName, type[Contract]] = {
    RewardName.CLIP_SCORE: ClipScoreSettings,
    RewardName.PICK_SCORE: PickScoreSettings,
    RewardName.HPS_V2: HpsV2Settings,
    RewardName.IMAGE_REWARD: ImageRewardSettings,
    RewardName.AESTHETIC: AestheticSettings,
    RewardName.OCR: OcrSettings,
    RewardName.REMOTE: RemoteSettings,
}


class RewardSpec(Contract):
    """One scorer. `watched` rewards are measured and shown, never trained on, to make reward hacking visible."""

    name: RewardName
    """The scorer."""
    label: Name | None = None
    """What its curves are called: needed where one scorer is used twice. Empty: the scorer's name."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """Its share in what is trained on."""
    watched: bool = False
    """Measured and shown, never trained on."""
    required: bool = True
    """A sample that it cannot score ends the run. Off: the sample goes without it, which is counted. Watched rewards
    never end a run."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """For one try at the samples of one fragment."""
    num_retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Further tries after a time-out, or after a failure that may pass."""
    settings: Annotated[
        Settings | None,
        Field(
            validate_default=True,
            json_schema_extra={"settings_of": {name.value: kind.__name__ for name, kind in SETTINGS_OF.items()}},
        ),
    ] = None
    """Of this scorer. Empty: its defaults."""

    @property
    def key(self) -> str:
        """The name of its curves and parts."""
        return self.label or self.name.value

    @property
    def may_be_missing(self) -> bool:
        """Whether a sample that it cannot score goes on without it."""
        return self.watched or not self.required

    @field_validator("settings", mode="before")
    @classmethod
    def _by_name(cls, given: Any, info: ValidationInfo) -> Any:
        name = info.data.get("name")
        kind = SETTINGS_OF.get(name) if isinstance(name, RewardName) else None
        if kind is None:
            if given and name is not None:
                raise ValueError(f"`settings` must be empty for `{name}`, got {given!r}: this reward has none")
            return None
        return kind.model_validate({} if given is None else given)

    @model_validator(mode="after")
    def _free_label(self) -> Self:
        if self.label == "reward":
            raise ValueError("`label` must not be `reward`: that is what the rewards together are called")
        return self


def clip_problems(rewards: Iterable[RewardSpec], num_frames: int) -> list[str]:
    """Rewards that judge motion, in a run whose samples have none."""
    judges_motion = RewardName.MOTION_SMOOTHNESS in (reward.name for reward in rewards)
    if not judges_motion or num_frames >= MIN_MOTION_FRAMES:
        return []
    return [
        f"`sampling.num_frames` must be ≥ {MIN_MOTION_FRAMES} for the reward motion_smoothness, got {num_frames}: "
        "it judges how clips move"
    ]
