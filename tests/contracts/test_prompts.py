"""Prompts are texts where they are nothing else, and records where they are more."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from worker.contracts.prompts import Prompt, dump_prompts, parse_prompts, prompt_of_line
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import PromptSpec

texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)
json_data = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
records = st.fixed_dictionaries(
    {"text": texts},
    optional={
        "negative": texts,
        "metadata": st.dictionaries(texts, json_data, max_size=3),
        "pictures": st.lists(texts, max_size=3),
        "id": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}", fullmatch=True),
    },
)


@given(st.lists(texts | records, max_size=5))
@example([{"text": "a backslash and u0000: \\u0000"}])
def test_what_is_dumped_is_parsed_again_with_the_same_ids(given_prompts: list[Any]) -> None:
    prompts = parse_prompts(given_prompts)
    dumped = dump_prompts(prompts)
    again = parse_prompts(json.loads(json.dumps(dumped)))
    assert again == prompts
    assert [prompt.id for prompt in again] == [prompt.id for prompt in prompts]


def test_a_prompt_of_text_alone_stays_a_line() -> None:
    record = {"text": "two cats", "metadata": {"count": 2}}
    assert dump_prompts(parse_prompts(["a red square", {"text": "a circle"}, record])) == [
        "a red square",
        "a circle",
        record,
    ]
    assert prompt_of_line("a red square") == Prompt(text="a red square")
    assert prompt_of_line(json.dumps(record)) == Prompt.model_validate(record)


def test_an_id_follows_from_all_the_rest_unless_it_is_given() -> None:
    variants: list[Any] = [
        "a",
        "b",
        {"text": "a", "negative": "b"},
        {"text": "a", "metadata": {"n": 1}},
        {"text": "a", "metadata": {"n": 2}},
        {"text": "a", "pictures": ["x.png"]},
    ]
    assert len({prompt.id for prompt in parse_prompts(variants)}) == len(variants)
    assert Prompt(text="a", metadata={"x": 1, "y": 2}).id == Prompt(text="a", metadata={"y": 2, "x": 1}).id
    assert Prompt(text="a", id="cats-1").id == "cats-1"


def test_a_spec_may_repeat_a_text_but_no_prompt() -> None:
    PromptSpec.model_validate({"inline": ["a", {"text": "a", "metadata": {"n": 1}}]})
    with pytest.raises(ValidationError, match=r"`prompts.inline` must not repeat a prompt, got `a` as number 3 and"):
        PromptSpec.model_validate({"inline": ["a", "b", {"text": "a"}]})


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("", "at least 1 character"),
        ({"text": "x" * 2001}, "at most 2000 characters"),
        ({"text": "a\x00b"}, "NUL character"),
        ({"text": "a", "metadata": {"n": "\x00"}}, "NUL character"),
        ({"text": "a", "metadata": {"n": "x" * 20_000}}, "`metadata` must be ≤ 16384 bytes as JSON, got 20009"),
        ({"text": "a", "metadata": {"n": float("nan")}}, "finite"),
        ({"text": "a", "pictures": ["x.png"] * 9}, "at most 8"),
        ({"text": "a", "id": "white space"}, "should match pattern"),
        ({"text": "a", "colour": "red"}, "Extra inputs"),
        ({"negative": "a"}, "Field required"),
    ],
)
def test_what_is_no_prompt_is_refused(record: Any, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Prompt.model_validate(record)


def test_a_spec_with_records_goes_through_yaml_unchanged() -> None:
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a", {"text": "b", "negative": "", "metadata": {"include": [{"n": 2}]}, "id": "b"}]},
            "rewards": [{"name": "colorfulness"}],
            "batch": {"num_prompts_per_batch": 2},
        }
    )
    assert RunSpec.from_yaml(spec.to_yaml()) == spec
    assert spec.prompts.inline[1].negative_or("blurred") == ""
    assert spec.prompts.inline[0].negative_or("blurred") == "blurred"
