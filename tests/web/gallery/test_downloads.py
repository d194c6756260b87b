"""Bytes leave in chunks, over ASGI as well as in the test client."""

import hashlib
from collections.abc import AsyncIterable, Iterable
from io import BytesIO

import pytest
from asgiref.sync import async_to_sync
from django.http import Http404
from django.test import AsyncRequestFactory, RequestFactory

from gallery import storage
from gallery.downloads import bytes_response

CONTENT = bytes(range(256)) * 10_000


@pytest.fixture
def key() -> str:
    return storage.write("run/1/w.safetensors", BytesIO(CONTENT), hashlib.sha256(CONTENT).hexdigest()).key


def test_over_asgi_the_chunks_are_read_one_by_one(key: str) -> None:
    async def read() -> list[bytes]:
        request = AsyncRequestFactory().get("/")
        response = bytes_response(request, key, "application/octet-stream", len(CONTENT), download_as="w.safetensors")
        assert response.headers["Content-Length"] == str(len(CONTENT))
        assert isinstance(response.streaming_content, AsyncIterable)
        return [chunk async for chunk in response.streaming_content]

    chunks = async_to_sync(read)()
    assert len(chunks) > 1
    assert b"".join(chunks) == CONTENT


def test_over_wsgi_too(key: str) -> None:
    response = bytes_response(RequestFactory().get("/"), key, "application/octet-stream", len(CONTENT))
    assert isinstance(response.streaming_content, Iterable)
    assert b"".join(response.streaming_content) == CONTENT


def test_bytes_that_are_gone_are_not_found() -> None:
    with pytest.raises(Http404):
        bytes_response(RequestFactory().get("/"), "run/1/none.png", "image/png", 1)
