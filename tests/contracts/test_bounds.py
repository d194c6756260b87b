"""Every number, text and list of a spec is bounded, and what lies beyond is refused in a sentence."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from worker.contracts.error_sentences import error_sentences
from worker.contracts.events import run_event_adapter
from worker.contracts.gpu_tests import GpuTestReport
from worker.contracts.ingest import BootstrapRequest
from worker.contracts.node_reports import NodeReports
from worker.contracts.previews import PreviewDone
from worker.contracts.run_spec import RunSpec
from worker.contracts.setting_names import setting_names

SCHEMA = RunSpec.model_json_schema()
GOOD: dict[str, Any] = {"prompts": {"inline": ["a red square"]}, "rewards": [{"name": "shape_match"}]}
EXTREMES: list[Any] = [
    *(10**12, 2**31, 2**63, 10**400, -1, 0, 1.5, 1e308, float("nan"), float("inf"), "", "x", "9" * 400, "x" * 10_000),
    *("a\0b", "\ud800", "../" * 500, True, None, [], ["x"] * 5000, [None], {}, {"x": 1}, {"": {}}, [[[[[]]]]]),
]
OF_ONE_LENGTH = ("^[0-9a-f]{64}$",)
"""Patterns that bound the length by themselves."""
REPORTED: tuple[TypeAdapter[Any], ...] = (
    run_event_adapter,
    TypeAdapter(NodeReports),
    TypeAdapter(GpuTestReport),
    TypeAdapter(PreviewDone),
    TypeAdapter(BootstrapRequest),
)
"""What programs on the cluster send."""
PYDANTICS_OWN = re.compile(r"[Ii]nput should|Value error|NoneType|[Tt]uple|<class|unicode string|permitted|is refused,")


def unbounded(
    node: dict[str, Any], path: str, document: dict[str, Any] = SCHEMA, seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Places of a JSON schema at which a value may be as large as it likes, with the keyword that is missing."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from unbounded(document["$defs"][name], path, document, seen | {name})
        return
    for inner in (one for word in ("anyOf", "oneOf", "allOf") for one in node.get(word, ())):
        yield from unbounded(inner, path, document, seen)
    if {"enum", "const", "format"} & node.keys() or node.get("pattern") in OF_ONE_LENGTH:
        return
    missing: dict[str, list[tuple[str, ...]]] = {
        "integer": [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")],
        "number": [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")],
        "string": [("maxLength",)],
        "array": [("maxItems",)],
        "object": [("properties", "maxProperties")],
    }
    for words in missing.get(node.get("type", ""), []):
        if not set(words) & set(node):
            yield f"{path} has no {words[0]}"
    for name, inner in node.get("properties", {}).items():
        yield from unbounded(inner, f"{path}.{name}", document, seen)
    for name in ("items", "additionalProperties", "propertyNames"):
        if isinstance(node.get(name), dict):
            yield from unbounded(node[name], f"{path}.*", document, seen)


def test_no_place_of_a_spec_is_unbounded() -> None:
    assert sorted(set(unbounded(SCHEMA, "spec"))) == []


@pytest.mark.parametrize("adapter", REPORTED, ids=lambda adapter: str(adapter.core_schema.get("ref", "event"))[:20])
def test_no_number_or_text_of_a_report_is_unbounded(adapter: TypeAdapter[Any]) -> None:
    schema = adapter.json_schema()
    # Lists and mappings are bounded by the size of a body.
    found = {place for place in unbounded(schema, "report", schema) if not place.endswith(("maxItems", "properties"))}
    assert found == set()


def test_the_walk_finds_what_has_no_bound() -> None:
    fields = {"a": {"type": "integer", "minimum": 0}, "b": {"type": "array", "items": {"type": "string"}}}
    found = list(unbounded({"type": "object", "properties": fields}, "x"))
    assert found == ["x.a has no maximum", "x.b has no maxItems", "x.b.* has no maxLength"]


def places(path: str = "", depth: int = 3) -> Iterator[str]:
    """The dotted paths of a spec's settings; index 0 stands for the items of `rewards`."""
    for name in setting_names(path):
        below = f"{path}.{name}".lstrip(".")
        yield below
        if depth:
            yield from places(below, depth - 1)
    if path == "rewards":
        yield from places("rewards.0", depth)


def with_value(path: str, value: Any) -> dict[str, Any]:
    """A spec that holds `value` at `path`, with the algorithm and the reward that have such a setting."""
    names = path.split(".")
    document: Any = value
    for name in reversed(names):
        document = [document] if name == "0" else {name: document}
    spec = {**GOOD, **document}
    if names[:2] == ["rewards", "0"] and len(names) > 2 and names[2] != "name":
        spec["rewards"] = [{"name": "ocr", **document["rewards"][0]}]
    return spec


@pytest.mark.parametrize("path", sorted(set(places())))
def test_an_extreme_value_anywhere_is_taken_or_refused_in_a_sentence(path: str) -> None:
    for value in EXTREMES:
        try:
            spec = RunSpec.model_validate(with_value(path, value))
        except ValidationError as error:
            sentences = [text for texts in error_sentences(error, setting_names).values() for text in texts]
            assert sentences
            for text in sentences:
                assert not PYDANTICS_OWN.search(text), text
                assert len(text) < 900, text
                assert text.startswith("`") or " `" in text, text
        else:
            assert RunSpec.model_validate_json(spec.model_dump_json()) == spec


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("num_batches", 10**12, "`num_batches` must be ≤ 1000000, got 1000000000000"),
        ("batch.group_size", 1, "`batch.group_size` must be ≥ 2, got 1"),
        ("batch.group_size", "many", "`batch.group_size` must be a whole number, got 'many'"),
        ("batch.group_size", 2.5, "`batch.group_size` must be a whole number, got 2.5"),
        ("batch.group_size", None, "`batch.group_size` must be a whole number, got nothing"),
        ("batch.groupsize", 3, "`batch.groupsize` is no setting: did you mean `group_size`?"),
        ("rewards", [], "`rewards` must be a list of ≥ 1, got a list of 0: give at least one"),
        ("rewards", [{}], "`rewards.0.name` is missing: give it a value"),
        ("sampling.height", 33, "`sampling.height` must be a multiple of 8, got 33: take 32 or 40"),
        ("optimizer.learning_rate", float("nan"), "`optimizer.learning_rate` must be a finite number, got nan"),
        ("sampling", "x", "`sampling` must be a mapping of settings, got 'x'"),
        ("base_model.path", "a\0b", "`base_model.path` must not hold a NUL character (code 0): remove it; is its file"),
        ("algorithm.name", "ppo", "`algorithm.name` must be one of flow_grpo, flow_grpo_fast,"),
        ("base_model.dtype", "fp8", "`base_model.dtype` must be one of fp32 or bf16, got 'fp8'"),
    ],
)
def test_a_refusal_names_key_bound_and_value(path: str, value: Any, sentence: str) -> None:
    with pytest.raises(ValidationError) as refused:
        RunSpec.model_validate(with_value(path, value))
    found = error_sentences(refused.value, setting_names)
    assert any(text.startswith(sentence) for texts in found.values() for text in texts), found
