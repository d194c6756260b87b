"""Which fields of a `RunSpec` do not apply beside which others, as data: the JSON schema of `RunSpec` carries it to the
form, which greys those fields out with the reason.

The rules are computed from the tables that validation reads (`FAMILY_TRAITS`, `ALGORITHM_SPECS`,
`DIFFERENTIABLE_REWARDS`, …). Invariant, held by a test: validation refuses a field exactly where a rule with `must_be`
says that it does not apply.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from worker.contracts.algorithms import ALGORITHM_SPECS, DIFFERENTIABLE_REWARDS
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.families import FAMILY_TRAITS, FamilyTraits
from worker.contracts.names import GuidanceKind, ModelFamily, Placement, RewardName, TrainerAssist, Tuning
from worker.contracts.performance import WITHOUT_KERNEL_CHOICE, AttentionBackend, Compilation

Scalar = str | int | float | bool | None

_ANYTHING = object()
"""`must_be` of a field whose value is accepted and has no effect."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One field that does not apply where other fields hold certain values."""

    field: str
    """Dotted path of the field; `*` stands for each item of a list."""
    where: Mapping[str, tuple[Scalar, ...]]
    """Values by dotted path: the field does not apply where each of these paths holds one of its values. `*` stands
    for the same item as in `field`."""
    why: str
    """The reason, a sentence for the user."""
    must_be: Any = _ANYTHING
    """The only value that validation accepts there; left out where any value is accepted and none has an effect."""

    def as_json(self) -> dict[str, Any]:
        """The rule as the JSON schema carries it."""
        told = {
            "field": self.field,
            "where": {path: list(values) for path, values in self.where.items()},
            "why": self.why,
        }
        return told if self.must_be is _ANYTHING else {**told, "must_be": self.must_be}


def inapplicable() -> list[dict[str, Any]]:
    """Every rule as plain JSON. A rule whose condition another rule's `must_be` brings about comes after it, so that
    one pass over the list settles a spec."""
    return [rule.as_json() for rule in (*_placement(), *_algorithm(), *_family(), *_rewards(), *_switches())]


def _placement() -> Iterator[Rule]:
    colocated = {"pipeline.placement": (Placement.COLOCATED.value,)}
    planned = {"pipeline.placement": (Placement.AUTO.value,)}
    yield Rule("pipeline.gap", colocated, "Colocated lanes all generate first, then all train.")
    yield Rule("pipeline.tag", colocated, "Colocated lanes all generate anyway.", TrainerAssist.OFF.value)
    yield Rule(
        "pipeline.max_staleness", colocated, "Lanes that train cannot generate the next batch meanwhile.", must_be=0
    )
    for switch in ("gap", "tsp", "tag"):
        yield Rule(f"pipeline.{switch}", planned, "The planner chooses it.")
    yield Rule("pipeline.importance_cap", {"pipeline.max_staleness": (0,)}, "No sample is stale.", must_be=None)


def _algorithm() -> Iterator[Rule]:
    for name, kind in ALGORITHM_SPECS.items():
        if len(kind.sde_types) == 1:
            (kernel,) = kind.sde_types
            yield Rule(
                "sampling.sde_type", {"algorithm.name": (name,)}, "This algorithm has an SDE of its own.", kernel.value
            )
    needs = {name: kind().needs for name, kind in ALGORITHM_SPECS.items()}
    without_noise = _named("algorithm.name", (name for name in needs if not needs[name].log_probs))
    for field in (
        "sampling.sde_type",
        "sampling.noise_level",
        "sampling.sde_start",
        "sampling.num_sde_steps",
        "replay_gate.max_mean_error",
        "replay_gate.max_ratio_error",
    ):
        yield Rule(field, without_noise, "This algorithm draws its samples without noise on the way.")
    yield Rule(
        "pipeline.importance_cap",
        _named("algorithm.name", (name for name, kind in ALGORITHM_SPECS.items() if not kind.is_policy_gradient)),
        "This algorithm weighs no sample by a ratio that could be cut.",
        must_be=None,
    )
    yield Rule(
        "tuning",
        _named("algorithm.name", (name for name in needs if needs[name].second_adapter)),
        "The older policy of this algorithm is a second LoRA.",
        Tuning.LORA.value,
    )
    yield Rule(
        "rewards.*.watched",
        {
            **_named("algorithm.name", (name for name in needs if needs[name].differentiable_reward)),
            **_named("rewards.*.name", (name.value for name in RewardName if name not in DIFFERENTIABLE_REWARDS)),
        },
        "This algorithm trains on differentiable rewards alone.",
        must_be=True,
    )


def _family() -> Iterator[Rule]:
    yield Rule(
        "sampling.num_frames",
        _families(lambda traits: not traits.makes_clips),
        "This model family makes pictures, not clips.",
        must_be=1,
    )
    yield Rule(
        "sampling.guidance_scale_2",
        _families(lambda traits: not traits.may_have_two_experts),
        "This model family has no expert for low noise.",
        must_be=None,
    )
    yield Rule(
        "sampling.negative_prompt",
        _families(lambda traits: not traits.takes_negative_prompt),
        "The pipeline of this model family takes none.",
        must_be="",
    )
    yield Rule(
        "sampling.batched_cfg",
        _families(lambda traits: traits.guidance is GuidanceKind.EMBEDDED),
        "Guidance is an input of this model, which needs one forward pass in any case.",
    )
    without_choice = _named("base_model.family", (family.value for family in sorted(WITHOUT_KERNEL_CHOICE)))
    for field, default in (
        ("performance.compilation", Compilation.OFF),
        ("performance.attention", AttentionBackend.DEFAULT),
    ):
        yield Rule(field, without_choice, "The transformer of this model family offers no choice.", default.value)


def _rewards() -> Iterator[Rule]:
    watched = {"rewards.*.watched": (True,)}
    yield Rule("rewards.*.weight", watched, "A watched reward is not trained on.")
    yield Rule("rewards.*.required", watched, "A watched reward never ends a run.")


def _switches() -> Iterator[Rule]:
    for field in ("rank", "alpha", "targets"):
        yield Rule(f"lora.{field}", {"tuning": (Tuning.FULL.value,)}, "All weights are trained: there is no LoRA.")
    yield Rule("sampling.fps", {"sampling.num_frames": (1,)}, "One frame is a picture.")
    yield Rule("ema.every_num_optimizer_steps", {"ema.decay": (0,)}, "There is no average.")
    yield Rule(
        "deepspeed.initialize_model_on_cpu",
        _named("deepspeed.config", (config.value for config in ZeroConfig if config.stage < 3)),
        "Weights are sharded in ZeRO 3 alone.",
    )


def _named(path: str, values: Iterable[str]) -> dict[str, tuple[Scalar, ...]]:
    return {path: tuple(values)}


def _families(lacks: Callable[[FamilyTraits], bool]) -> dict[str, tuple[Scalar, ...]]:
    return _named("base_model.family", (family.value for family in ModelFamily if lacks(FAMILY_TRAITS[family])))
