"""Bytes leave in chunks, over ASGI as well as in the test client."""

import hashlib
from collections.abc import AsyncIterable, Iterable
from io import BytesIO

import pytest
from asgiref.sync import async_to_sync
from django.http import Http404, StreamingHttpResponse
from django.test import AsyncRequestFactory, RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from gallery import storage
from gallery.downloads import bytes_response
from gallery.pieces import Literal, StoredBytes
from tests.web.valid_files import valid_file

CONTENT = valid_file("w.safetensors", (bytes(range(256)) * 5000)[:-19])
"""2,560,000 bytes."""

MANY_DIGITS = {"Range": "bytes=0-" + "9" * 5000}
"""More than Python makes a number of."""


@pytest.fixture
def key() -> StoredBytes:
    stored = storage.write("run/1/w.safetensors", BytesIO(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    return StoredBytes(stored.key, stored.num_bytes)


def test_over_asgi_the_chunks_are_read_one_by_one(key: StoredBytes) -> None:
    async def read() -> list[bytes]:
        request = AsyncRequestFactory().get("/")
        response = bytes_response(request, [key], "application/octet-stream", download_as="w.safetensors")
        assert response.headers["Content-Length"] == str(len(CONTENT))
        assert isinstance(response, StreamingHttpResponse)
        assert isinstance(response.streaming_content, AsyncIterable)
        return [chunk async for chunk in response.streaming_content]

    chunks = async_to_sync(read)()
    assert len(chunks) > 1
    assert b"".join(chunks) == CONTENT


def test_over_wsgi_too(key: StoredBytes) -> None:
    response = bytes_response(RequestFactory().get("/"), [key], "application/octet-stream")
    assert isinstance(response, StreamingHttpResponse)
    assert isinstance(response.streaming_content, Iterable)
    assert b"".join(response.streaming_content) == CONTENT


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-", 0, 2_559_999),
        ("bytes=100-199", 100, 199),
        ("bytes=2559000-9999999", 2_559_000, 2_559_999),
        ("bytes=-10", 2_559_990, 2_559_999),
        ("bytes=1000000-2200000", 1_000_000, 2_200_000),
    ],
)
def test_a_part_is_sent_as_players_ask_for_it(key: StoredBytes, asked: str, first: int, last: int) -> None:
    response = bytes_response(RequestFactory().get("/", headers={"Range": asked}), [key], "video/webm")
    assert response.status_code == 206
    assert response.headers["Content-Range"] == f"bytes {first}-{last}/2560000"
    assert response.headers["Content-Length"] == str(last - first + 1)
    assert isinstance(response, StreamingHttpResponse)
    assert response.getvalue() == CONTENT[first : last + 1]


@pytest.mark.parametrize("asked", ["bytes=2560000-", "bytes=5-4", "bytes=-0"])
def test_a_part_that_is_not_there_is_refused(key: StoredBytes, asked: str) -> None:
    response = bytes_response(RequestFactory().get("/", headers={"Range": asked}), [key], "video/webm")
    assert response.status_code == 416
    assert response.headers["Content-Range"] == "bytes */2560000"


@pytest.mark.parametrize(
    "headers",
    [{"Range": "bytes=0-1,5-6"}, {"Range": "lines=0-1"}, {"Range": "bytes=0-1", "If-Range": '"tag"'}, MANY_DIGITS],
)
def test_what_need_not_be_answered_in_part_is_answered_whole(key: StoredBytes, headers: dict[str, str]) -> None:
    response = bytes_response(RequestFactory().get("/", headers=headers), [key], "video/webm")
    assert response.status_code == 200
    assert isinstance(response, StreamingHttpResponse)
    assert response.getvalue() == CONTENT


def test_bytes_that_are_gone_are_not_found() -> None:
    with pytest.raises(Http404):
        bytes_response(RequestFactory().get("/"), [StoredBytes("run/1/none.png", 1)], "image/png")


@given(st.integers(0, 70), st.integers(0, 70))
def test_a_part_may_lie_over_several_pieces(start: int, stop: int) -> None:
    pieces = [Literal(b"a" * 20), Literal(b""), Literal(b"b" * 30), Literal(b"c" * 10)]
    whole = b"".join(piece.content for piece in pieces)
    response = bytes_response(RequestFactory().get("/", headers={"Range": f"bytes={start}-{stop}"}), pieces, "x/y")
    if start >= len(whole) or stop < start:
        assert response.status_code == 416
    else:
        assert isinstance(response, StreamingHttpResponse)
        assert response.getvalue() == whole[start : stop + 1]
