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
from catalog.checked_prompts import MAX_PROMPTS, PromptsRefused, check_prompts
from catalog.prompt_pictures import with_resolved_pictures
from catalog.selectors import get_prompt_set, prompts_of_set, visible_prompt_sets
from worker.contracts.prompts import MAX_PROMPT_CHARACTERS, Prompt, dump_prompts, parse_prompts

TWO = ["a red square", "a blue circle"]
OBJECT_FIELDS = ("prompt", "text", "negative", "pictures", "metadata", "id", "tag")


@pytest.mark.parametrize(
    "prompts",
    [
        [" a red square\n", "", "a blue circle \r\n"],
        [{"prompt": "a red square", "tag": 1}, {"text": "a blue circle"}],
        [{"prompt": " "}, *TWO],
    ],
)
def test_texts_and_objects_give_the_same_prompts(prompts: list[Any]) -> None:
    assert [prompt.text for prompt in check_prompts(prompts)] == TWO


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ([], "there is no prompt in it"),
        (["", " \n"], "there is no prompt in it"),
        (["one", "two", "one"], r"prompt 3 repeats prompt 1 \(`one`\): remove"),
        (["one", "one", "two", "two", "one"], r"prompt 2 repeats prompt 1 \(`one`\), and 2 more repeat others"),
        (["x" * (MAX_PROMPT_CHARACTERS + 1)], "prompt 1: `text` must be a text of ≤ 2000 characters"),
        (["a\x00b"], "NUL character"),
        ([str(number) for number in range(MAX_PROMPTS + 1)], "must hold ≤ 100000 prompts, got 100001"),
        ([1], "prompt 1 must be a text or an object with `prompt` or `text`, got 1"),
        (["one", {"words": "two"}], r"prompt 2 must be a text or an object .* got \['words'\]"),
        (["one", {"text": "two", "pictures": "a.png"}], "prompt 2: `pictures` must be a list, got 'a.png'"),
        ([{"text": "a", "metadata": [1]}], "prompt 1: `metadata`"),
    ],
)
def test_what_is_no_prompt_is_refused_in_plain_words(prompts: list[Any], message: str) -> None:
    with pytest.raises(PromptsRefused, match=message):
        check_prompts(prompts)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(OBJECT_FIELDS), inner, max_size=4),
    max_leaves=6,
)


@given(prompts=st.lists(ANY_JSON, max_size=6))
def test_any_list_is_read_or_refused(prompts: list[Any]) -> None:
    try:
        checked = check_prompts(prompts)
    except PromptsRefused:
        return
    assert len({prompt.id for prompt in checked}) == len(checked) > 0
    assert all(prompt.text == prompt.text.strip() for prompt in checked)
    assert list(parse_prompts(dump_prompts(checked))) == checked


GENEVAL = {"tag": "counting", "include": [{"class": "cat", "count": 2}], "prompt": "a photo of two cats"}


@pytest.mark.parametrize(
    "item",
    [GENEVAL, {"text": GENEVAL["prompt"], "metadata": {name: GENEVAL[name] for name in ("tag", "include")}}],
)
def test_fields_that_a_prompt_does_not_know_become_its_metadata(item: dict[str, Any]) -> None:
    (prompt,) = check_prompts([item])
    assert (prompt.text, prompt.metadata) == (GENEVAL["prompt"], {"tag": "counting", "include": GENEVAL["include"]})


def test_fields_that_are_empty_say_nothing() -> None:
    first, second = check_prompts(
        [
            {"id": "cat-1", "prompt": "a cat", "negative": "blurred", "style": "oil"},
            {"id": "cat-2", "prompt": "a cat", "negative": "", "style": "ink"},
        ]
    )
    assert (first.id, first.text, first.negative, first.metadata) == ("cat-1", "a cat", "blurred", {"style": "oil"})
    assert (second.id, second.negative, second.metadata) == ("cat-2", None, {"style": "ink"})


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
    made = services.create_prompt_set(user=bob, project=project, name=" Two ", prompts=TWO)
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
        services.create_prompt_set(user=alice, project=project, name="Other", prompts=["one", "one"])
    assert list(caught.value.message_dict) == ["prompts"]
    with pytest.raises(ValidationError, match="already exists"):
        services.create_prompt_set(user=alice, project=project, name="Two", prompts=TWO)
