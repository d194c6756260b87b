"""Bodies that are sent while they are made: a few at a time in memory, whatever serves the request."""

from collections.abc import AsyncIterator, Iterator

from channels.db import database_sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest


def streamed(request: HttpRequest, chunks: Iterator[bytes]) -> Iterator[bytes] | AsyncIterator[bytes]:
    """`chunks`, as a `StreamingHttpResponse` of this request takes them one by one. Over ASGI, Django would consume a
    synchronous iterator before it answers."""
    return _asynchronous(chunks) if isinstance(request, ASGIRequest) else chunks


async def _asynchronous(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    read = database_sync_to_async(lambda: next(chunks, None))
    while (chunk := await read()) is not None:
        yield chunk
