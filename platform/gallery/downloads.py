"""Bytes of the artifact storage as a streamed response, in chunks under ASGI and in tests alike."""

from collections.abc import AsyncIterator, Iterator
from typing import IO

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, StreamingHttpResponse

from gallery import storage


def bytes_response(
    request: HttpRequest, storage_key: str, content_type: str, num_bytes: int, *, download_as: str = ""
) -> StreamingHttpResponse:
    """The bytes under `storage_key`; with `download_as` browsers save them under that name.

    Raises:
        Http404: the storage holds them no longer.
    """
    try:
        file = storage.open_to_read(storage_key)
    except FileNotFoundError as error:
        raise Http404("the file is gone from the artifact storage") from error
    # Django would read a plain iterator whole before it answers over ASGI.
    body: Iterator[bytes] | AsyncIterator[bytes]
    body = _chunks_async(file) if isinstance(request, ASGIRequest) else storage.chunks(file)
    response = StreamingHttpResponse(body, content_type=content_type)
    response["Content-Length"] = str(num_bytes)
    response["X-Content-Type-Options"] = "nosniff"
    if download_as:
        response["Content-Disposition"] = f'attachment; filename="{download_as}"'
    return response


async def _chunks_async(file: IO[bytes]) -> AsyncIterator[bytes]:
    chunks = storage.chunks(file)
    read = sync_to_async(lambda: next(chunks, None), thread_sensitive=False)
    while (chunk := await read()) is not None:
        yield chunk
