"""A version in several files leaves as one tar, made while it is sent."""

import hashlib
import tarfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.http import StreamingHttpResponse
from django.test import RequestFactory

from gallery.archives import ArchiveIncomplete, archive, folder_of
from gallery.downloads import bytes_response
from gallery.models import Adapter
from runs.models import Run
from tests.web.valid_files import valid_file
from worker.contracts.adapter_files import AdapterFile, listing_sha256

pytestmark = pytest.mark.django_db
FOLDER = "adapters/v3"
LONG_NAME = f"{'transformer_' * 9}.json"
SHARDS = {
    path: valid_file(path, mark)
    for path, mark in {
        "transformer/config.json": b"{}",
        "transformer/model-00001-of-00002.safetensors": bytes(range(256)) * 4096,
        "transformer/model-00002-of-00002.safetensors": b"",
        f"transformer/{LONG_NAME}": b"a name of more than a hundred characters",
    }.items()
}


def listed(contents: dict[str, bytes]) -> tuple[AdapterFile, ...]:
    return tuple(
        AdapterFile(path=path, sha256=hashlib.sha256(content).hexdigest(), num_bytes=len(content))
        for path, content in contents.items()
    )


@pytest.fixture
def whole(
    run: Run, put: Callable[..., Any], report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> Adapter:
    """A version of all weights, uploaded and reported."""
    for path, content in SHARDS.items():
        put(f"{FOLDER}/{path}", content, is_valid=False)
    files = listed(SHARDS)
    report(
        adapter_event(
            FOLDER,
            sha256=listing_sha256(files),
            num_bytes=sum(file.num_bytes for file in files),
            files=[file.model_dump() for file in files],
        )
    )
    return Adapter.objects.get(run=run)


def content_of(adapter: Adapter, **headers: str) -> bytes:
    request = RequestFactory().get("/", headers=headers)
    response = bytes_response(request, archive(adapter), "application/x-tar")
    assert isinstance(response, StreamingHttpResponse)
    content = response.getvalue()
    assert response.headers["Content-Length"] == str(len(content))
    return content


def test_tar_unpacks_it_as_it_was_uploaded(whole: Adapter) -> None:
    with tarfile.open(fileobj=BytesIO(content_of(whole))) as tar:
        unpacked = {member.name: tar.extractfile(member) for member in tar}
        found = {name: file.read() for name, file in unpacked.items() if file is not None}
    assert found == {f"{folder_of(whole)}/{path}": content for path, content in SHARDS.items()}


def test_a_download_that_broke_off_goes_on(whole: Adapter) -> None:
    content = content_of(whole)
    assert content[:1000] + content_of(whole, Range="bytes=1000-") == content


def test_a_version_of_one_file_is_an_archive_too(trained: Run) -> None:
    with tarfile.open(fileobj=BytesIO(content_of(Adapter.objects.get(run=trained)))) as tar:
        assert tar.getnames() == [f"{folder_of(Adapter.objects.get(run=trained))}/pytorch_lora_weights.safetensors"]


def test_no_archive_of_what_was_never_uploaded(
    run: Run, report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> None:
    report(adapter_event())
    with pytest.raises(ArchiveIncomplete, match=r"pytorch_lora_weights\.safetensors.*never uploaded"):
        archive(Adapter.objects.get(run=run))


def test_nor_of_another_file_than_the_one_reported(
    run: Run, put: Callable[..., Any], report: Callable[..., None], adapter_event: Callable[..., dict[str, Any]]
) -> None:
    put("adapters/final/pytorch_lora_weights.safetensors", b"others")
    report(adapter_event())
    with pytest.raises(ArchiveIncomplete, match="not the file"):
        archive(Adapter.objects.get(run=run))


def test_the_folder_is_a_plain_name(whole: Adapter) -> None:
    whole.run.name = "../my run: α/2"
    assert folder_of(whole) == "my_run_α2-v2"
