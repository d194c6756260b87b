import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from hypothesis import given
from hypothesis import strategies as st

from accounts.access import NotVisible
from accounts.models import Project, User
from catalog import services
from catalog.prompt_files import MAX_UPLOAD_BYTES, PromptsRefused, read_prompts
from catalog.prompt_pictures import with_resolved_pictures
from catalog.selectors import get_prompt_set, prompts_of_set, visible_prompt_sets
from worker.contracts.prompts import MAX_PROMPT_CHARACTERS, Prompt, dump_prompts, parse_prompts

TWO = ["a red square", "a blue circle"]


@pytest.mark.parametrize(
    ("file_name", "content"),
    [
        ("p.txt", "a red square\n\n  a blue circle \r\n"),
        ("p", "\ufeffa red square\na blue circle"),
        ("p.json", json.dumps(TWO)),
        ("p.json", json.dumps({"prompts": TWO})),
        ("p.json", json.dumps([{"prompt": text, "tag": 1} for text in TWO])),
        ("p.jsonl", '{"prompt": "a red square"}\n\n"a blue circle"\n'),
        ("p.csv", 'id,prompt\n1,"a red square"\n2,a blue circle\n'),
        ("P.CSV", "a red square\na blue circle\n"),
    ],
)
def test_every_format_gives_the_same_prompts(file_name: str, content: str) -> None:
    assert [prompt.text for prompt in read_prompts(content.encode(), file_name)] == TWO


@pytest.mark.parametrize(
    ("file_name", "content", "message"),
    [
        ("p.txt", b"", "there is no prompt in it"),
        ("p.txt", b"\n \n", "there is no prompt in it"),
        ("p.txt", b"\xff\xfe", "must be UTF-8 text"),
        ("p.txt", b"one\ntwo\none\n", r"line 3 repeats line 1 \(`one`\): remove"),
        ("p.txt", b"one\none\ntwo\ntwo\none\n", r"line 2 repeats line 1 \(`one`\), and 2 more repeat others"),
        ("p.txt", b"x" * (MAX_PROMPT_CHARACTERS + 1), "line 1: `text` must be a text of ≤ 2000 characters"),
        ("p.txt", b"x" * (MAX_UPLOAD_BYTES + 1), "must be ≤ 24 MiB"),
        ("p.txt", b"a\x00b", "NUL character"),
        ("p.txt", b"\n".join(str(n).encode() for n in range(100_001)), "must hold ≤ 100000 prompts, got 100001"),
        ("p.json", b"{", "is not valid JSON"),
        ("p.json", b'"one"', "must be a list of prompts, got 'one'"),
        ("p.json", b"[1]", "item 1 must be a text or an object with `prompt` or `text`, got 1"),
        ("p.jsonl", b'"one"\n{', "line 2 is not valid JSON"),
        ("p.csv", b"id,words\n1,one", "must have a column named `prompt`, got id, words"),
        ("p.csv", b"", "there is no prompt in it"),
    ],
)
def test_what_is_no_prompt_file_is_refused_in_plain_words(file_name: str, content: bytes, message: str) -> None:
    with pytest.raises(PromptsRefused, match=message):
        read_prompts(content, file_name)


@given(content=st.binary(max_size=300), ending=st.sampled_from(["txt", "json", "jsonl", "csv"]))
def test_any_bytes_are_read_or_refused(content: bytes, ending: str) -> None:
    try:
        prompts = read_prompts(content, f"p.{ending}")
    except PromptsRefused:
        return
    assert len({prompt.id for prompt in prompts}) == len(prompts) > 0
    assert all(prompt.text == prompt.text.strip() for prompt in prompts)
    assert list(parse_prompts(dump_prompts(prompts))) == prompts


GENEVAL = {"tag": "counting", "include": [{"class": "cat", "count": 2}], "prompt": "a photo of two cats"}


@pytest.mark.parametrize(
    ("file_name", "content"),
    [
        ("p.jsonl", json.dumps(GENEVAL)),
        ("p.json", json.dumps([GENEVAL])),
        ("p.json", json.dumps([{"text": GENEVAL["prompt"], "metadata": {k: GENEVAL[k] for k in ("tag", "include")}}])),
    ],
)
def test_fields_that_a_prompt_does_not_know_become_its_metadata(file_name: str, content: str) -> None:
    (prompt,) = read_prompts(content.encode(), file_name)
    assert (prompt.text, prompt.metadata) == (GENEVAL["prompt"], {"tag": "counting", "include": GENEVAL["include"]})


def test_columns_beside_the_prompt_are_metadata_too_and_empty_ones_say_nothing() -> None:
    content = "id,prompt,negative,style\ncat-1,a cat,blurred,oil\ncat-2,a cat,,ink\n"
    first, second = read_prompts(content.encode(), "p.csv")
    assert (first.id, first.text, first.negative, first.metadata) == ("cat-1", "a cat", "blurred", {"style": "oil"})
    assert (second.id, second.negative, second.metadata) == ("cat-2", None, {"style": "ink"})


def test_a_record_that_is_none_says_where_and_which_field(project: Project, alice: User) -> None:
    with pytest.raises(PromptsRefused, match=r"line 2: `pictures` must be a list, got 'a.png'"):
        read_prompts(b'"one"\n{"text": "two", "pictures": "a.png"}', "p.jsonl")
    with pytest.raises(ValidationError, match=r"prompt 1: `metadata`"):
        services.create_prompt_set(user=alice, project=project, name="N", prompts=[{"text": "a", "metadata": [1]}])


def test_pictures_must_lie_below_a_model_root(project: Project, alice: User, tmp_path: Path, settings: Any) -> None:
    root = tmp_path / "models"
    (root / "references").mkdir(parents=True)
    (root / "references/cat.png").write_bytes(b"png")
    (tmp_path / "secret.png").write_bytes(b"png")
    settings.TANDEM_MODEL_ROOTS = [root]

    def create(name: str, picture: str) -> tuple[Prompt, ...]:
        prompts = [{"text": "a cat", "pictures": [picture]}]
        made = services.create_prompt_set(user=alice, project=project, name=name, prompts=prompts)
        return prompts_of_set(project, str(made.pk))

    kept = create("good", "references/cat.png")
    (resolved,) = with_resolved_pictures(kept)
    assert resolved.pictures == (str(root / "references/cat.png"),)
    assert resolved.id == kept[0].id, "samples are compared by it, wherever the roots lie"
    for bad in ("../secret.png", str(tmp_path / "secret.png"), "references/none.png", "references"):
        with pytest.raises(ValidationError, match="prompt 1: `pictures` must"):
            create(bad, bad)


def test_members_see_the_uploaded_set_and_outsiders_do_not(project: Project, bob: User, charlie: User) -> None:
    made = services.upload_prompt_set(
        user=bob, project=project, name=" Two ", content="\n".join(TWO).encode(), file_name="p.txt"
    )
    assert (made.name, made.num_prompts) == ("Two", 2)
    assert get_prompt_set(bob, made.pk).prompts == TWO
    assert prompts_of_set(project, str(made.pk)) == parse_prompts(TWO)
    assert list(visible_prompt_sets(charlie)) == []
    with pytest.raises(NotVisible):
        get_prompt_set(charlie, made.pk)
    with pytest.raises(NotVisible):
        services.delete_prompt_set(user=charlie, prompt_set=made)


def test_a_project_cannot_use_the_set_of_another(
    make_project: Callable[..., Project], project: Project, alice: User
) -> None:
    made = services.create_prompt_set(user=alice, project=project, name="Two", prompts=TWO)
    with pytest.raises(LookupError, match="choose one of none yet"):
        prompts_of_set(make_project("Other"), str(made.pk))
    with pytest.raises(LookupError, match="Two"):
        prompts_of_set(project, "no-uuid")


def test_viewers_upload_nothing(project: Project, viewer: User) -> None:
    with pytest.raises(PermissionDenied):
        services.create_prompt_set(user=viewer, project=project, name="Two", prompts=TWO)


def test_refusals_name_the_field(project: Project, alice: User) -> None:
    services.create_prompt_set(user=alice, project=project, name="Two", prompts=TWO)
    with pytest.raises(ValidationError) as caught:
        services.upload_prompt_set(user=alice, project=project, name="Other", content=b"", file_name="p.txt")
    assert list(caught.value.message_dict) == ["file"]
    with pytest.raises(ValidationError) as caught:
        services.create_prompt_set(user=alice, project=project, name="Other", prompts=["one", "one"])
    assert list(caught.value.message_dict) == ["prompts"]
    with pytest.raises(ValidationError, match="already exists"):
        services.create_prompt_set(user=alice, project=project, name="Two", prompts=TWO)
