"""Small pictures come within the answer; what cannot be inlined keeps its address."""

from base64 import b64decode
from collections.abc import Callable
from typing import Any

import pytest

from gallery import storage
from gallery.inline import MAX_INLINE_BYTES, sample_uris
from gallery.models import Artifact
from gallery.selectors import samples
from runs.models import Run
from tests.web.valid_files import valid_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown(run: Run, report: Callable[..., None]) -> Callable[..., dict[tuple[int, str], str]]:
    """`shown(path, …)`: the URIs of samples at those paths."""

    def ask(*paths: str) -> dict[tuple[int, str], str]:
        sample = {"prompt": "p", "prompt_id": "p", "prompt_index": 0, "seed": 1, "rewards": {}, "reward": None}
        described = [{**sample, "member": member, "artifact": path} for member, path in enumerate(paths)]
        event: dict[str, Any] = {"type": "samples", "purpose": "train", "batch": 1, "policy_version": 1}
        report({**event, "samples": described})
        return sample_uris(run.pk, samples(run.pk))

    return ask


def test_small_pictures_are_inlined_and_large_ones_are_not(
    put: Callable[..., Artifact], shown: Callable[..., dict[tuple[int, str], str]]
) -> None:
    most = MAX_INLINE_BYTES - len(valid_file("a.png"))
    put("samples/small.png", b"s" * most)
    put("samples/large.png", b"l" * (most + 1))
    put("samples/clip.webm", b"c")
    uris = shown("samples/small.png", "samples/large.png", "samples/clip.webm", "samples/never-uploaded.png")
    assert set(uris) == {(1, "samples/small.png")}
    head, _, content = uris[1, "samples/small.png"].partition(",")
    assert (head, b64decode(content)) == ("data:image/png;base64", valid_file("a.png", b"s" * most))


def test_a_picture_of_another_attempt_is_not_mistaken_for_it(
    put: Callable[..., Artifact], shown: Callable[..., dict[tuple[int, str], str]]
) -> None:
    put("samples/a.png", b"theirs", attempt=2)
    assert shown("samples/a.png") == {}


def test_a_clip_is_shown_by_its_poster(run: Run, put: Callable[..., Artifact], report: Callable[..., None]) -> None:
    put("samples/a.webm", b"clip")
    put("samples/a.png", b"poster")
    info = {"prompt": "p", "prompt_id": "p", "prompt_index": 0, "member": 0, "seed": 1, "rewards": {}, "reward": None}
    event: dict[str, Any] = {"type": "samples", "purpose": "train", "batch": 1, "policy_version": 1}
    report({**event, "samples": [{**info, "artifact": "samples/a.webm", "poster": "samples/a.png"}]})
    assert set(sample_uris(run.pk, samples(run.pk))) == {(1, "samples/a.png")}


def test_a_picture_whose_bytes_are_gone_is_left_out(
    put: Callable[..., Artifact], shown: Callable[..., dict[tuple[int, str], str]]
) -> None:
    put("samples/kept.png", b"kept")
    gone = put("samples/gone.png", b"gone")
    storage.delete_tree(gone.storage_key)
    assert set(shown("samples/kept.png", "samples/gone.png")) == {(1, "samples/kept.png")}
