"""Answers as Arrow streams, beside JSON: chosen by `Accept`, sent while they are read."""

from collections.abc import Iterator

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.decorators import decorator_from_middleware
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from api.chosen_fields import NAME, FieldsRenderer
from live.streamed_bodies import streamed
from telemetry.arrow.arrow_stream import MEDIA_TYPE

JSON = JSONRenderer.media_type


class ArrowRenderer(JSONRenderer):
    """Lets a client ask for Arrow alone. What it renders are refusals, which are JSON."""

    media_type = MEDIA_TYPE
    format = "arrow"


JSON_OR_ARROW = (FieldsRenderer, ArrowRenderer)


def wants_arrow(request: Request) -> bool:
    """Raises `ValidationError` where fields of JSON are chosen, too."""
    if not isinstance(request.accepted_renderer, ArrowRenderer):
        return False
    if NAME in request.query_params:
        raise ValidationError({NAME: [f"`{NAME}` chooses among the fields of JSON: leave it away with {MEDIA_TYPE}"]})
    return True


def arrow_answer(request: Request, stream: Iterator[bytes]) -> HttpResponseBase:
    # nginx would hold the stream back until its buffer is full.
    headers = {"X-Accel-Buffering": "no", "Vary": "Accept"}
    return StreamingHttpResponse(streamed(request._request, stream), content_type=MEDIA_TYPE, headers=headers)


class _WholeBodies(GZipMiddleware):
    def process_response(self, request: Request, response: HttpResponseBase) -> HttpResponseBase:
        return response if response.streaming else super().process_response(request, response)


gzip_json = decorator_from_middleware(_WholeBodies)
"""Compresses whole answers of a view. Arrow's streams are compressed already, by column."""
