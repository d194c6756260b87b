"""Bytes of the artifact storage as a streamed response, in chunks under ASGI and in tests alike.

One byte range may be requested (RFC 9110 §14), as players of clips do. A request for several ranges, or for a
conditional one, gets the whole content, which the RFC allows.
"""

import re
from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from gallery import storage
from gallery.pieces import Piece, StoredBytes, chunks
from live.streamed_bodies import streamed

_RANGE = re.compile(r"bytes=([0-9]{0,19})-([0-9]{0,19})")


def bytes_response(
    request: HttpRequest, pieces: Sequence[Piece], content_type: str, *, download_as: str = ""
) -> HttpResponseBase:
    """The bytes of all pieces, or the requested range; with `download_as` browsers save them under that name.

    Raises:
        Http404: the storage no longer holds some of them.
    """
    if storage.missing([piece.storage_key for piece in pieces if isinstance(piece, StoredBytes)]):
        raise Http404("the file is gone from the artifact storage")
    num_bytes = sum(piece.num_bytes for piece in pieces)
    part = _asked_part(request, num_bytes)
    if part is not None and not part:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{num_bytes}"})
    sent = range(num_bytes) if part is None else part
    response = StreamingHttpResponse(streamed(request, chunks(pieces, sent)), content_type=content_type)
    response["Content-Length"] = str(len(sent))
    response["Accept-Ranges"] = "bytes"
    response["X-Content-Type-Options"] = "nosniff"
    if part is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{num_bytes}"
    if disposition := content_disposition_header(bool(download_as), download_as):
        response["Content-Disposition"] = disposition
    return response


def _asked_part(request: HttpRequest, num_bytes: int) -> range | None:
    """The requested range; empty if it lies beyond the end, `None` for the whole content."""
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if asked is None or "If-Range" in request.headers or asked[0] == "bytes=-":
        return None
    if not asked[1]:
        return range(max(0, num_bytes - int(asked[2])), num_bytes)
    stop = min(int(asked[2]) + 1, num_bytes) if asked[2] else num_bytes
    return range(int(asked[1]), stop)
