"""YAML that is no spec: refused with its line, in time and memory in proportion to its length."""

import time

import pytest

from worker.contracts.spec_yaml import YamlRefused, lines_of, read_yaml


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "line 2, column 1: a value is missing, or a bracket is not closed"),
        ("a: 1\n b: 2", "line 2, column 3: a `:` stands where no setting can begin"),
        ("a: !!int ''", "line 1, column 4: '' cannot be read as `int`"),
        ("a: !!bool x", "line 1, column 4: 'x' cannot be read as `bool`"),
        ("a: !!set {b, c}", "line 1, column 4: this tag is not read"),
        (f"a: {'9' * 5000}", "cannot be read as `int`"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: `a` is given twice"),
        ("a: &x [1]\nb: *x", "line 2, column 4: the alias `*x` is not read"),
        ("a: b\0c", "line 1, column 5: the character U+0000 is not allowed"),
        ("a:\n  - \ud800", "line 2, column 5: the character U+D800 is not allowed"),
        ("!!python/object/apply:os.system [ls]", "this tag is not read"),
        ("[" * 100_000, "nested ≤ 32 deep"),
        ("a: 1\n---\nb: 2", "a spec is one document"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(YamlRefused) as refused:
        read_yaml(text)
    assert problem in str(refused.value)


def test_a_bomb_of_aliases_costs_no_more_than_its_text() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(60))
    begin = time.perf_counter()
    with pytest.raises(YamlRefused, match="alias"):
        read_yaml(bomb)
    assert time.perf_counter() - begin < 1


def test_paths_have_the_lines_on_which_they_are_written() -> None:
    text = "prompts:\n  inline:\n  - a\n  - b\nbatch: {group_size: 1}\n"
    found = lines_of(text, ["prompts.inline.1", "batch.group_size", "batch.num_minibatches", "seed", ""])
    assert found == {"prompts.inline.1": 4, "batch.group_size": 5, "batch.num_minibatches": 5}


def test_a_date_is_a_text() -> None:
    assert read_yaml("a: 2026-05-01\nb: 2026-99-99") == {"a": "2026-05-01", "b": "2026-99-99"}
