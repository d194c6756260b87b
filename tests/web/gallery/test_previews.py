"""Own prompts on a LoRA: asked for, drawn by a job that reports back."""

import hashlib
import json
import uuid
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client
from django.utils import timezone

from accounts.access import NotVisible
from accounts.models import User
from fleet.services import release_preview
from gallery import previews, selectors, storage
from gallery.models import Preview, PreviewImage, PreviewState
from gallery.storage import ArtifactRefused
from runs.models import Run
from tests.web.gallery.conftest import LORA, LORA_PATH
from tests.web.valid_files import valid_file
from worker.contracts.ingest import SHA256_HEADER
from worker.contracts.previews import (
    PREVIEW_BOOTSTRAP_PATH,
    PREVIEW_DONE_PATH,
    PREVIEW_FILE_PATH,
    PREVIEW_IMAGE_PATH,
    PreviewJob,
)

pytestmark = pytest.mark.django_db


def test_blank_prompts_are_left_out(preview: Preview) -> None:
    assert preview.prompts == ["a red circle"]
    assert previews.current_state(preview) == (PreviewState.QUEUED, "")


def test_editors_try_viewers_and_outsiders_do_not(trained: Run, bob: User, viewer: User, charlie: User) -> None:
    assert previews.request_preview(user=bob, run=trained, prompts=["x"]).created_by == bob
    with pytest.raises(PermissionDenied):
        previews.request_preview(user=viewer, run=trained, prompts=["x"])
    with pytest.raises(NotVisible):
        previews.request_preview(user=charlie, run=trained, prompts=["x"])


def test_without_an_adapter_there_is_nothing_to_try(run: Run, alice: User) -> None:
    with pytest.raises(ValidationError, match="no adapter yet"):
        previews.request_preview(user=alice, run=run, prompts=["x"])


def test_any_version_can_be_previewed_whose_files_are_there(
    trained: Run, report: Callable[..., None], put: Callable[..., Any], adapter_event: Callable[..., Any], alice: User
) -> None:
    def ask(adapter_id: int) -> Preview:
        return previews.request_preview(user=alice, run=trained, prompts=["x"], adapter_id=adapter_id)

    first = selectors.adapters(trained.pk)[0]
    path = "adapters/v3/pytorch_lora_weights.safetensors"
    stored = put(path)
    # The attempt's first event was the fixture's.
    report(adapter_event(LORA_PATH), adapter_event(path, batch=3, policy_version=3, sha256=stored.sha256))
    second = selectors.adapters(trained.pk)[0]
    assert second.policy_version == 3
    assert [ask(each.pk).adapter for each in (first, second)] == [first, second]

    storage.delete_tree(stored.storage_key)
    with pytest.raises(ValidationError, match=r"version 3 of .* the storage has pytorch_lora\S+ no more"):
        ask(second.pk)
    stored.delete()
    with pytest.raises(ValidationError, match="choose another version"):
        ask(second.pk)
    with pytest.raises(ValidationError, match="must be the id of a version"):
        ask(second.pk + 1)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"prompts": []}, "prompts"),
        ({"prompts": ["x"] * 9}, "prompts"),
        ({"prompts": ["x" * 2001]}, "prompts"),
        ({"prompts": ["x"], "num_samples": 9}, "num_samples"),
        ({"prompts": ["x"], "seed": 2**31}, "seed"),
    ],
)
def test_bounds_are_reported_by_field(trained: Run, alice: User, asked: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        previews.request_preview(user=alice, run=trained, **asked)
    assert list(refused.value.message_dict) == [field]


def test_the_whole_conversation(client: Client, preview: Preview, code_of: Callable[[Preview], str]) -> None:
    code = json.dumps({"code": code_of(preview)})
    answer = client.post(PREVIEW_BOOTSTRAP_PATH, code, content_type="application/json")
    job = PreviewJob.model_validate_json(answer.content)
    assert (job.prompts, job.num_samples, job.seed, job.device) == (("a red circle",), 2, 7, "cpu")
    assert client.post(PREVIEW_BOOTSTRAP_PATH, code, content_type="application/json").status_code == 401

    bearer = {"Authorization": f"Bearer {job.token}"}
    address = PREVIEW_FILE_PATH.format(id=job.id, path=job.files[0].path)
    assert client.get(address).status_code == 401
    assert client.get(address, headers=bearer).getvalue() == LORA
    assert client.get(PREVIEW_FILE_PATH.format(id=job.id, path="other.json"), headers=bearer).status_code == 404

    for name in ("base-0-0.png", "base-0-1.png", "lora-0-0.png", "lora-0-1.png"):
        content = valid_file(name, name.encode())
        checked = {**bearer, SHA256_HEADER: hashlib.sha256(content).hexdigest()}
        put = client.put(PREVIEW_IMAGE_PATH.format(id=job.id, name=name), content, headers=checked)
        assert put.status_code == 201
    done = client.post(PREVIEW_DONE_PATH.format(id=job.id), "{}", content_type="application/json", headers=bearer)
    assert done.status_code == 204
    preview.refresh_from_db()
    assert previews.current_state(preview) == (PreviewState.DONE, "")
    assert sorted(PreviewImage.objects.filter(with_adapter=True).values_list("seed", flat=True)) == [7, 8]
    assert client.get(address, headers=bearer).status_code == 401


def test_a_nul_in_what_a_job_says_is_shown_as_another_character(
    client: Client, preview: Preview, code_of: Callable[[Preview], str]
) -> None:
    code = json.dumps({"code": code_of(preview)})
    job = PreviewJob.model_validate_json(
        client.post(PREVIEW_BOOTSTRAP_PATH, code, content_type="application/json").content
    )
    said, bearer = '{"problem": "no \\u0000 memory"}', {"Authorization": f"Bearer {job.token}"}
    done = client.post(PREVIEW_DONE_PATH.format(id=job.id), said, content_type="application/json", headers=bearer)
    preview.refresh_from_db()
    assert (done.status_code, preview.detail) == (204, "no \ufffd memory")


def test_missing_pictures_are_a_failure_whatever_the_job_says(preview: Preview) -> None:
    Preview.objects.update(state=PreviewState.RUNNING)
    previews.finish(preview, "")
    preview.refresh_from_db()
    assert (preview.state, preview.detail) == ("failed", "4 pictures did not arrive")


@pytest.mark.parametrize("name", ["lora-1-0.png", "base-0-2.png", "other.png", "../a.png"])
def test_only_pictures_that_were_asked_for_are_stored(preview: Preview, name: str) -> None:
    with pytest.raises(ArtifactRefused):
        previews.store_image(preview, name, BytesIO(b""), hashlib.sha256(b"").hexdigest())


def test_a_guessed_code_is_refused_alike(client: Client, preview: Preview) -> None:
    for code in (f"{preview.pk}.guess", f"{uuid.uuid4()}.guess", "nonsense"):
        body = json.dumps({"code": code})
        assert client.post(PREVIEW_BOOTSTRAP_PATH, body, content_type="application/json").status_code == 401


def test_an_overdue_job_gets_410(client: Client, preview: Preview, code_of: Callable[[Preview], str]) -> None:
    body = json.dumps({"code": code_of(preview)})
    Preview.objects.update(deadline=timezone.now())
    assert client.post(PREVIEW_BOOTSTRAP_PATH, body, content_type="application/json").status_code == 410


def test_a_job_whose_lane_was_taken_away_gets_410(
    client: Client, preview: Preview, code_of: Callable[[Preview], str]
) -> None:
    body = json.dumps({"code": code_of(preview)})
    release_preview(preview.pk)
    assert client.post(PREVIEW_BOOTSTRAP_PATH, body, content_type="application/json").status_code == 410
