"""Every scorer that a spec can name, put together from what the contracts and the presets say of it."""

from dataclasses import dataclass
from typing import Any

from catalog.presets import Preset, list_presets
from catalog.scorers import WEIGHTS
from worker.contracts.algorithms import DIFFERENTIABLE_REWARDS
from worker.contracts.names import RewardName
from worker.contracts.reward_traits import REWARD_TRAITS, RewardTraits
from worker.contracts.rewards import SETTINGS_OF, VERDICT_REWARDS


@dataclass(frozen=True, slots=True)
class KnownReward:
    name: str
    description: str
    traits: RewardTraits
    is_verdict: bool
    """1 for a right sample and 0 for a wrong one, so that its mean is a share."""
    is_differentiable: bool
    """Whether algorithms that follow its gradient may train on it."""
    settings: dict[str, Any] | None
    """JSON schema of `settings`; None for a scorer that has none."""
    weights: dict[str, str | None]
    """What its network is loaded from by default, by setting; None where the spec has to name it."""
    presets: list[str]
    """Names of the presets that use it."""


def known_rewards() -> list[KnownReward]:
    presets = list_presets()
    return [_known(name, presets) for name in RewardName]


def known_reward(name: str) -> KnownReward:
    """Raises `LookupError` that lists the scorers."""
    found = next((one for one in RewardName if one == name), None)
    if found is None:
        raise LookupError(f"there is no reward `{name[:64]}`: choose one of {', '.join(RewardName)}")
    return _known(found, list_presets())


def _known(name: RewardName, presets: list[Preset]) -> KnownReward:
    kind = SETTINGS_OF.get(name)
    schema = None if kind is None else kind.model_json_schema()
    fields = {} if schema is None else schema["properties"]
    return KnownReward(
        name=name.value,
        description=name.help,
        traits=REWARD_TRAITS[name],
        is_verdict=name in VERDICT_REWARDS,
        is_differentiable=name in DIFFERENTIABLE_REWARDS,
        settings=schema,
        weights={field: fields[field].get("default") for field in WEIGHTS if field in fields},
        presets=[preset.name for preset in presets if any(reward.name == name for reward in preset.spec.rewards)],
    )
