"""The `rewards` section of a `RunSpec`: one `RewardSpec` for each scorer, with the scorer's settings.

The type of `settings` follows from the reward's name: `name: remote` alone says that they are `RemoteSettings`. A
reward without an entry in `SETTINGS_OF` has none.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator

from worker.contracts.base import Contract, Name
from worker.contracts.names import RemoteFormat, RewardName
from worker.contracts.spec_bounds import MAX_PICTURES_PER_CALL, PositiveCoefficient

Weights = Annotated[str, Field(min_length=1, max_length=400)]
SECRET_NAME = r"^[a-z0-9][a-z0-9_-]*$"
SecretName = Annotated[str, Field(pattern=SECRET_NAME, max_length=64)]


ScorerDtype = Literal["fp32", "bf16"]


class WeightsSettings(Contract):
    """Settings of scorers with a network."""

    weights: Weights
    """Weights of the scorer's network: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
    Safetensors only. Change it to use a mirror or a model of the same architecture of your own."""
    pictures_per_call: Annotated[int, Field(ge=1, le=MAX_PICTURES_PER_CALL)] = 16
    """Pictures, or frames of clips, in one forward pass of the scorer. 16 fits beside other work on a GPU of 24 GB;
    lower it when the reward lane runs out of memory, raise it when scoring is slow on a GPU."""
    dtype: ScorerDtype | None = None
    """Precision of the scorer's network. Empty: bf16 on a GPU, several times as fast, and fp32 on a CPU. Similarity,
    rating head and score are computed in fp32 either way. Take fp32 to compare scores with published ones to the last
    digit."""


class ClipScoreSettings(WeightsSettings):
    """CLIP score: cosine of picture and prompt in a CLIP model."""

    weights: Weights = "openai/clip-vit-large-patch14"
    """Weights of a CLIP model in transformers format: a hub id (`org/name`), or a folder below one of
    `TANDEM_MODEL_ROOTS`. Safetensors only. ViT-L/14 is the usual one; scores of different models are not comparable."""


class PickScoreSettings(WeightsSettings):
    """PickScore (arXiv 2305.01569): CLIP-H trained on choices between two pictures. Scores lie near 20."""

    weights: Weights = "yuvalkirstain/PickScore_v1"
    """Weights of PickScore: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`. Safetensors only.
    Change it only to use a mirror."""
    processor: Weights = "laion/CLIP-ViT-H-14-laion2B-s32B-b79K"
    """Tokenizer and picture processor: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
    PickScore's model card names the default, the CLIP-H that it was trained from; change it only to use a mirror."""


class HpsV2Settings(WeightsSettings):
    """HPS v2 (arXiv 2306.09341): CLIP-H trained on ranked pictures."""

    weights: Weights = "adams-story/HPSv2-hf"
    """Weights of HPS v2 as a transformers CLIP: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
    The default is a conversion of the authors' checkpoint; deploy/docs/guides/rewards.md says how to convert others."""


class ImageRewardSettings(WeightsSettings):
    """ImageReward (arXiv 2304.05977) is published as a pickle, which is refused: convert it once and give the folder as
    `weights` (deploy/docs/guides/rewards.md)."""


class AestheticSettings(WeightsSettings):
    """LAION's aesthetic predictor: a rating head on CLIP ViT-L/14."""

    weights: Weights = "shunk031/aesthetics-predictor-v2-sac-logos-ava1-l14-linearMSE"
    """Weights of CLIP and rating head together: a hub id (`org/name`), or a folder below one of `TANDEM_MODEL_ROOTS`.
    Change it only to use a mirror or another head."""


class OcrSettings(Contract):
    """Text recognition, as PaddleOCR's models do it."""

    shortest_side: Annotated[int, Field(ge=32, le=4096)] = 736
    """Length in pixels to which a picture's shorter side is enlarged before text is looked for; larger pictures stay as
    they are. 736 is PaddleOCR's default. Raise it when small letters are missed; scoring time grows with the area."""


class RemoteSettings(Contract):
    """A scorer of your own behind HTTP. The protocol, with an example server, is in deploy/docs/guides/rewards.md."""

    url: Annotated[str, Field(min_length=1, max_length=2000)]
    """Address that fragments are posted to, such as https://scorer.example/score. Its host must be reachable from the
    reward lanes, and public, or one that an administrator allows in `TANDEM_SCORER_HOSTS`, as one without TLS must be.
    It holds no user or password: use `secret` for a token."""
    scorer: Annotated[str, Field(max_length=200)] = ""
    """Name of the scorer, on a server that has several. Empty: the server's only one."""
    secret: SecretName | None = None
    """Name of a project secret that is sent as bearer token. The token itself is stored encrypted and is never part of
    a spec. Empty: no token is sent."""
    format: RemoteFormat = RemoteFormat.MSGPACK
    """Encoding of requests. `msgpack` sends pictures as bytes and is usual; `json` sends them as base64 text, a third
    larger, for servers without msgpack."""

    @field_validator("url")
    @classmethod
    def _http_without_credentials(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            host.encode("idna")
            is_address = parts.scheme in ("http", "https") and bool(host) and parts.port != 0 and " " not in host
        except ValueError:  # a port above 65535 or not a number, or a host name that IDNA cannot encode
            is_address = False
        if not is_address:
            raise ValueError(f"`url` must be an http or https address, got {url!r}: e.g. https://scorer.example/score")
        if parts.username is not None or parts.password is not None:
            raise ValueError("`url` must hold no user or password: specs are shown; store the token as a `secret`")
        return url


VERDICT_REWARDS = frozenset({RewardName.SHAPE_JUDGE})
"""Rewards that are 1 for a right sample and 0 for a wrong one, so that their mean is the share of right samples."""

MIN_MOTION_FRAMES = 3
"""Fewest frames of a clip whose motion can be scored: a frame and its two neighbours."""

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


MAX_RETRY_WAIT_SECONDS = 30.0
"""The longest wait before a retry, also where a scorer asks for more: the run waits meanwhile."""


class RewardSpec(Contract):
    """One scorer: what it counts in training, and what happens when it fails. `watched` rewards are measured and shown
    but not trained on, to make reward hacking visible."""

    name: RewardName
    """Which scorer computes the reward. Preference models (`pick_score`, `hps_v2`) are usual for pictures, `ocr` for
    text in pictures; `remote` is a scorer of your own."""
    label: Name | None = None
    """Name of its curves and columns, in lower case with underscores. Empty: the scorer's name. Needed only where a
    scorer is used twice, such as two `remote` ones."""
    weight: PositiveCoefficient = 1.0
    """Weight of the reward among those trained on, without unit; see `reward_mixing` for what is weighted. 1 is usual
    with a single reward, where the weight makes no difference."""
    watched: bool = False
    """Measure and show the reward without training on it. Watch one or two rewards besides the trained ones: if they
    fall while the trained one rises, the policy is exploiting the scorer."""
    required: bool = True
    """Whether the run fails when a sample cannot be scored, after all retries. Off: the sample is trained on without
    this reward, and the share of missing scores is a curve. Turn it off for a remote scorer that may be down for a
    while; watched rewards never fail a run."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """Longest time in seconds that one call may take to score a fragment. 120 is usual; raise it for slow remote
    scorers and for networks on CPU slots."""
    num_retries: Annotated[int, Field(ge=0, le=10)] = 2
    """Further calls after a time-out, or after a failure that may pass, before a score counts as missing. 2 is usual;
    raise it for a remote scorer that is restarted now and then."""
    settings: Annotated[
        Settings | None,
        Field(
            validate_default=True,
            json_schema_extra={"settings_of": {name.value: kind.__name__ for name, kind in SETTINGS_OF.items()}},
        ),
    ] = None
    """Settings of the scorer, which depend on `name`; scorers that compute from pixels have none. Empty: the
    defaults."""

    @property
    def key(self) -> str:
        """The name under which its scores are stored and drawn: the label, else the scorer's name."""
        return self.label or self.name.value

    @property
    def max_seconds(self) -> float:
        """The longest time in which a fragment is scored, or given up."""
        return (self.num_retries + 1) * self.timeout_seconds + self.num_retries * MAX_RETRY_WAIT_SECONDS

    @property
    def may_be_missing(self) -> bool:
        """Whether a sample that cannot be scored is trained on without it."""
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
            raise ValueError("`label` must not be `reward`: that is the name of all rewards together")
        return self


def clip_problems(rewards: Iterable[RewardSpec], num_frames: int) -> list[str]:
    """Rewards that score motion in a run whose samples have too few frames for it, each as a sentence for the user."""
    judges_motion = RewardName.MOTION_SMOOTHNESS in (reward.name for reward in rewards)
    if not judges_motion or num_frames >= MIN_MOTION_FRAMES:
        return []
    return [
        f"`sampling.num_frames` must be ≥ {MIN_MOTION_FRAMES} for the reward motion_smoothness, got {num_frames}: "
        "it scores motion between frames"
    ]
