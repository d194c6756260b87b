"""What the JSON schema says about fields that do not apply is what validation does."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest
from pydantic import ValidationError

from worker.contracts.algorithms import ALGORITHM_SPECS
from worker.contracts.names import ModelFamily, RewardName
from worker.contracts.rewards import SETTINGS_OF
from worker.contracts.run_spec import RunSpec

SCHEMA = RunSpec.model_json_schema()
RULES: list[dict[str, Any]] = SCHEMA["inapplicable"]
NO_DEMAND = object()

VALID_FOR_ALL: dict[str, Any] = {
    "prompts": {"inline": ["one", "two"]},
    "rewards": [{"name": "shape_match"}],
    "batch": {"num_prompts_per_batch": 2, "group_size": 4},
}
"""A spec that any family and any algorithm takes, but for what a rule says must be otherwise."""

OTHER_VALUES: dict[str, Any] = {
    "base_model.path": "org/other",
    "batch.fragment_size": 2,
    "batch.group_size": 8,
    "batch.num_minibatches": 2,
    "batch.num_prompts_per_batch": 1,
    "deepspeed.overrides": ["zero_optimization.overlap_comm=true"],
    "evaluation.prompts": ["another"],
    "lanes.pool": "other",
    "lora.targets": ["to_q"],
    "mirrors": ["papers"],
    "prompts": {"inline": ["three", "four"]},
    "rewards": [{"name": "shape_match", "weight": 2.0}],
    "sampling.guidance_scale": 2.0,
    "sampling.guidance_scale_2": 2.0,
    "sampling.negative_prompt": "blurred",
    "sampling.num_frames": 5,
    "sampling.num_sde_steps": 5,
    "sampling.sde_type": "cps",
    "sampling.train_guidance_scale": 2.0,
}
"""A valid value other than the default for fields where neither their type nor their choices give one."""
COMPANIONS: dict[str, dict[str, Any]] = {
    "sampling.guidance_scale_2": {"sampling.guidance_scale": 4.0},
    "pipeline.importance_cap": {"pipeline.max_staleness": 1},
}
"""What else a field's other value takes, whatever the family."""
OF_SOME_CHOICES = {
    "sampling.sde_type": "cps",
    "base_model.family": None,
    "performance.compilation": "aot_eager",
    "performance.attention": "_native_math",
    "pipeline.placement": "auto",
}
"""The choice that is tried of a field with choices; the first other one elsewhere. None: the field is not tried."""


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def leaves(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every field by dotted path; a list, a union and the prompts, whose fields exclude each other, are one each."""
    for name, field in resolved(schema)["properties"].items():
        path, inner = f"{prefix}{name}", resolved(field)
        if "properties" in inner and path != "prompts":
            yield from leaves(inner, f"{path}.")
        elif path != "algorithm":
            yield path, {**inner, **field}


def other_value(path: str, field: Mapping[str, Any]) -> Any:
    """A valid value of the field that is not its default."""
    if path in OF_SOME_CHOICES or path in OTHER_VALUES:
        return OF_SOME_CHOICES.get(path, OTHER_VALUES.get(path))
    default = field.get("default")
    options = [resolved(option) for option in field.get("anyOf", (field,))]
    (kind, *_) = [option for option in options if option.get("type") != "null"]
    choices = [choice["const"] for choice in kind.get("oneOf", ())] or kind.get("enum", ())
    if choices:
        return next(choice for choice in choices if choice != default)
    match kind["type"]:
        case "boolean":
            return not default
        case "integer":
            return (default or 0) + kind.get("multipleOf", 1)
        case "number":
            return kind.get("minimum", 0) + 0.5 if default is None else default * 0.5 or 0.5
    raise AssertionError(f"say in OTHER_VALUES what to try for {path}")


def with_values(document: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """`document` with values at dotted paths; numbers index lists."""
    made = dict(document)
    for path, value in values.items():
        head, _, rest = path.partition(".")
        if not rest:
            made[head] = value
        elif isinstance(made.get(head), list):
            index, _, below = rest.partition(".")
            made[head] = [
                with_values(item, {below: value}) if place == int(index) else item
                for place, item in enumerate(made[head])
            ]
        else:
            made[head] = with_values(made.get(head, {}), {rest: value})
    return made


def problem_of(document: Mapping[str, Any]) -> str:
    """Why the spec is refused; empty where it is accepted."""
    try:
        RunSpec.model_validate(document)
    except ValidationError as error:
        return str(error)
    return ""


def required_value(field: str, values: Mapping[str, Any]) -> Any:
    """What `must_be` of the rules asks of the field beside these values; `NO_DEMAND` where there is no such rule."""
    held = {**DEFAULTS, **values}
    for rule in RULES:
        holds = all(held.get(path) in allowed for path, allowed in rule["where"].items())
        if rule["field"] == field and "must_be" in rule and holds:
            return rule["must_be"]
    return NO_DEMAND


DEFAULTS = {path: field.get("default") for path, field in leaves(SCHEMA)} | {"algorithm.name": "flow_grpo"}
FIELDS = tuple(path for path, field in leaves(SCHEMA) if other_value(path, field) is not None)
VALUES = {path: other_value(path, field) for path, field in leaves(SCHEMA)}


def needed_by(algorithm: str) -> dict[str, Any]:
    """What an algorithm needs to be accepted at all, by the rules' own `must_be`."""
    return {
        rule["field"]: rule["must_be"]
        for rule in RULES
        if rule["where"].get("algorithm.name") == [algorithm] and "must_be" in rule and "*" not in rule["field"]
    }


@pytest.mark.parametrize("family", ModelFamily)
def test_a_family_refuses_a_field_exactly_where_the_schema_says_so(family: ModelFamily) -> None:
    for field in FIELDS:
        values = {"base_model.family": family.value, **COMPANIONS.get(field, {}), field: VALUES[field]}
        problem = problem_of(with_values(VALID_FOR_ALL, values))
        is_ruled_out = required_value(field, values) is not NO_DEMAND
        assert bool(problem) == is_ruled_out, (field, problem)
        assert not problem or f"`{field}`" in problem


@pytest.mark.parametrize("algorithm", ALGORITHM_SPECS)
def test_an_algorithm_refuses_a_field_exactly_where_the_schema_says_so(algorithm: str) -> None:
    needed = needed_by(algorithm)
    for field in FIELDS:
        values = {"algorithm.name": algorithm, **needed, **COMPANIONS.get(field, {}), field: VALUES[field]}
        problem = problem_of(with_values(VALID_FOR_ALL, values))
        is_ruled_out = required_value(field, values) is not NO_DEMAND
        if (algorithm, field) in ONE_CHOICE_TOO_MANY:
            continue
        assert bool(problem) == is_ruled_out, (field, problem)
        assert not problem or f"`{field}`" in problem


ONE_CHOICE_TOO_MANY = {("grpo_guard", "sampling.sde_type"), ("flow_dppo", "sampling.sde_type")}
"""Fields that apply, with one of their choices left out."""


@pytest.mark.parametrize(("algorithm", "reward"), [*product(ALGORITHM_SPECS, RewardName)])
def test_a_reward_may_be_trained_on_exactly_where_the_schema_does_not_rule_it_out(
    algorithm: str, reward: RewardName
) -> None:
    settings = {"weights": "org/scorer"} if reward is RewardName.IMAGE_REWARD else {}
    settings |= {"url": "https://scorer.example"} if reward is RewardName.REMOTE else {}
    chosen = {"name": reward.value, **({"settings": settings} if settings else {})}
    clip = {"base_model": {"family": "wan"}, "sampling": {"num_frames": 5}}
    document = {**VALID_FOR_ALL, **clip, "rewards": [{"name": "shape_match", "label": "trained"}, chosen]}
    document = with_values(document, {"algorithm.name": algorithm, **needed_by(algorithm)})
    values = {"algorithm.name": algorithm, "rewards.*.name": reward.value}
    must_be = required_value("rewards.*.watched", values)
    assert bool(problem_of(document)) == (must_be is True)
    assert problem_of(with_values(document, {"rewards.1.watched": True})) == ""


@pytest.mark.parametrize("reward", RewardName)
def test_a_reward_takes_settings_exactly_where_the_schema_names_their_kind(reward: RewardName) -> None:
    kinds = SCHEMA["$defs"]["RewardSpec"]["properties"]["settings"]["settings_of"]
    document = {**VALID_FOR_ALL, "rewards": [{"name": reward.value, "settings": {"no_such_setting": 1}}]}
    assert (reward.value in kinds) == (reward in SETTINGS_OF) == ("must be empty" not in problem_of(document))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule['field']}-{'-'.join(rule['where'])}")
def test_every_rule_names_fields_and_values_that_there_are(rule: dict[str, Any]) -> None:
    known = {path for path, _ in leaves(SCHEMA)} | {"algorithm.name", *OF_REWARDS}
    assert {rule["field"], *rule["where"]} <= known
    assert rule["why"].endswith(".")
    for path, values in rule["where"].items():
        assert len(values) == len(set(values)) > 0, path


OF_REWARDS = {f"rewards.*.{name}" for name in SCHEMA["$defs"]["RewardSpec"]["properties"]}


def test_a_rule_follows_those_that_bring_its_condition_about() -> None:
    for place, rule in enumerate(RULES):
        for later in RULES[place + 1 :]:
            brings_about = "must_be" in later and later["must_be"] in rule["where"].get(later["field"], ())
            assert not brings_about, f"{rule['field']} must come after {later['field']}"
