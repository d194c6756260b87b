"""Which fields of a `RunSpec` do not apply beside which values of others, as data. The JSON schema of `RunSpec` carries
it to the form, which disables those fields and shows the reason.

The rules are computed from the same tables that validation reads (`FAMILY_TRAITS`, `ALGORITHM_SPECS`,
`DIFFERENTIABLE_REWARDS`, …). Invariant, held by a test: validation refuses a field exactly where a rule with `must_be`
says that it does not apply.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from worker.contracts.algorithms import ALGORITHM_SPECS, DIFFERENTIABLE_REWARDS
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.families import FAMILY_TRAITS, FamilyTraits
from worker.contracts.names import (
    GuidanceKind,
    ModelFamily,
    OldLogProbs,
    Placement,
    Publishing,
    RewardName,
    StaleClip,
    TrainerAssist,
    Tuning,
)
from worker.contracts.performance import WITHOUT_ATTENTION_CHOICE, AttentionBackend

Scalar = str | int | float | bool | None
"""A value of a field, as JSON."""


@with_config(use_attribute_docstrings=True)
class Inapplicable(TypedDict):
    """One field that does not apply where other fields hold certain values, as the JSON schema carries it."""

    field: str
    """Dotted path of the field; `*` stands for each item of a list."""
    where: Mapping[str, Sequence[Scalar]]
    """Values by dotted path: the field does not apply where each of these paths holds one of its values. `*` stands
    for the same item as in `field`."""
    why: str
    """The reason, a sentence for the user."""
    must_be: NotRequired[Scalar]
    """The only value that validation accepts there; absent where any value is accepted and none has an effect."""


Condition = Mapping[str, Sequence[Scalar]]
"""Values by dotted path, as in `Inapplicable.where`."""


def inapplicable() -> list[Inapplicable]:
    """Every rule. A rule whose condition another rule's `must_be` brings about comes after it, so that one pass over
    the list settles a spec."""
    return [*_placement(), *_algorithm(), *_groups_without_spread(), *_family(), *_rewards(), *_switches()]


def _unused(field: str, where: Condition, why: str) -> Inapplicable:
    """A field whose value is accepted and has no effect."""
    return {"field": field, "where": where, "why": why}


def _fixed(field: str, where: Condition, why: str, must_be: Scalar) -> Inapplicable:
    """A field that accepts a single value."""
    return {"field": field, "where": where, "why": why, "must_be": must_be}


def _placement() -> Iterator[Inapplicable]:
    colocated = {"pipeline.placement": [Placement.COLOCATED.value]}
    planned = {"pipeline.placement": [Placement.AUTO.value]}
    in_step = {**colocated, **_named("deepspeed.config", (config.value for config in ZeroConfig if config.stage >= 2))}
    yield _unused("pipeline.gap", in_step, "Colocated ranks in step train once the whole batch is scored.")
    yield _fixed("pipeline.tag", colocated, "Every colocated lane generates anyway.", TrainerAssist.OFF.value)
    yield _fixed("pipeline.max_staleness", colocated, "A lane cannot train and generate at the same time.", 0)
    yield _fixed(
        "pipeline.publishing",
        colocated,
        "Every colocated lane trains: there is no rollout lane to broadcast to.",
        Publishing.STORE.value,
    )
    for switch in ("gap", "tsp", "tag"):
        yield _unused(f"pipeline.{switch}", planned, "The planner chooses it.")
    fresh = {"pipeline.max_staleness": [0]}
    yield _unused("pipeline.stale_clip", fresh, "At staleness 0 no sample is stale.")
    yield _fixed("pipeline.importance_cap", fresh, "At staleness 0 no sample is stale.", None)
    yield _fixed(
        "pipeline.importance_cap",
        {"pipeline.stale_clip": [StaleClip.BEHAVIOUR.value]},
        "Stale samples are weighted only where they are clipped around the proximal policy.",
        None,
    )


def _algorithm() -> Iterator[Inapplicable]:
    for name, kind in ALGORITHM_SPECS.items():
        if len(kind.sde_types) == 1:
            (kernel,) = kind.sde_types
            yield _fixed(
                "sampling.sde_type",
                {"algorithm.name": [name]},
                "This algorithm has an SDE of its own.",
                kernel.value,
            )
    needs = {name: kind().needs for name, kind in ALGORITHM_SPECS.items()}
    deterministic = _named("algorithm.name", (name for name in needs if not needs[name].log_probs))
    for field in (
        "sampling.sde_type",
        "sampling.noise_level",
        "sampling.sde_start",
        "sampling.num_sde_steps",
        "replay_gate.max_mean_error",
        "replay_gate.max_rms_error",
        "replay_gate.max_quantile_error",
        "replay_gate.max_ratio_error",
    ):
        yield _unused(field, deterministic, "This algorithm generates without stochastic denoising steps.")
    without_ratio = _named(
        "algorithm.name", (name for name, kind in ALGORITHM_SPECS.items() if not kind.is_policy_gradient)
    )
    why = "The loss of this algorithm has no importance ratio."
    yield _unused("pipeline.stale_clip", without_ratio, why)
    yield _fixed("pipeline.importance_cap", without_ratio, why, None)
    yield _unused("sampling.old_log_probs", without_ratio, why)
    yield _fixed(
        "sampling.old_log_probs",
        {"pipeline.max_staleness": [1]},
        "Stale samples are clipped around log-probs of the trainer's own anyway.",
        OldLogProbs.ROLLOUT.value,
    )
    yield _fixed(
        "tuning",
        _named("algorithm.name", (name for name in needs if needs[name].second_adapter)),
        "The older policy of this algorithm is a second LoRA adapter.",
        Tuning.LORA.value,
    )
    yield _fixed(
        "rewards.*.watched",
        {
            **_named("algorithm.name", (name for name in needs if needs[name].differentiable_reward)),
            **_named("rewards.*.name", (name.value for name in RewardName if name not in DIFFERENTIABLE_REWARDS)),
        },
        "This algorithm trains on differentiable rewards only.",
        True,
    )


def _groups_without_spread() -> Iterator[Inapplicable]:
    kinds = ALGORITHM_SPECS.items()
    yield _fixed(
        "batch.filter_groups",
        _named("algorithm.name", (name for name, kind in kinds if not kind.ignores_equal_rewards)),
        "The loss of this algorithm has a gradient on groups of equal rewards too.",
        False,
    )
    yield _fixed(
        "batch.max_resamples",
        _named("algorithm.name", (name for name, kind in kinds if not kind.learns_from_spread)),
        "This algorithm follows the gradient of the reward, whether or not a group's rewards differ.",
        0,
    )


def _family() -> Iterator[Inapplicable]:
    yield _fixed(
        "sampling.num_frames",
        _families(lambda traits: not traits.makes_clips),
        "This model family makes pictures, not clips.",
        1,
    )
    yield _fixed(
        "sampling.guidance_scale_2",
        _families(lambda traits: not traits.may_have_two_experts),
        "This model family has no second expert for low noise.",
        None,
    )
    yield _fixed(
        "sampling.negative_prompt",
        _families(lambda traits: not traits.takes_negative_prompt),
        "The pipeline of this model family takes no negative prompt.",
        "",
    )
    yield _unused(
        "sampling.batched_cfg",
        _families(lambda traits: traits.guidance is GuidanceKind.EMBEDDED),
        "Guidance is an input of this model, so one forward pass is enough in any case.",
    )
    yield _fixed(
        "performance.attention",
        _named("base_model.family", (family.value for family in sorted(WITHOUT_ATTENTION_CHOICE))),
        "This family's transformer offers no choice of kernels.",
        AttentionBackend.AUTO.value,
    )


def _rewards() -> Iterator[Inapplicable]:
    watched = {"rewards.*.watched": [True]}
    yield _unused("rewards.*.weight", watched, "A watched reward is not trained on.")
    yield _unused("rewards.*.required", watched, "A watched reward never fails a run.")


def _switches() -> Iterator[Inapplicable]:
    for field in ("rank", "alpha", "targets"):
        yield _unused(f"lora.{field}", {"tuning": [Tuning.FULL.value]}, "All weights are trained: there is no LoRA.")
    yield _unused("sampling.fps", {"sampling.num_frames": [1]}, "A sample of one frame is a picture.")
    yield _unused("ema.every_num_optimizer_steps", {"ema.decay": [0]}, "A decay of 0 keeps no average.")
    yield _unused(
        "deepspeed.initialize_model_on_cpu",
        _named("deepspeed.config", (config.value for config in ZeroConfig if config.stage < 3)),
        "Only ZeRO 3 shards the weights.",
    )


def _named(path: str, values: Iterable[str]) -> Condition:
    return {path: list(values)}


def _families(lacks: Callable[[FamilyTraits], bool]) -> Condition:
    return _named("base_model.family", (family.value for family in ModelFamily if lacks(FAMILY_TRAITS[family])))
