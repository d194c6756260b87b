"""Each request gets an id, or keeps the one that it came with, and the answer says it."""

import re
import uuid
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from audit.request_context import RequestContext, request_context

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
HEADER = "X-Request-ID"
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What a caller may send: it goes into logs, so nothing that could forge a line."""


@sync_and_async_middleware
def RequestIdMiddleware(get_response: GetResponse) -> GetResponse:  # noqa: N802 (Django names middleware so)
    """Everything below knows the request's id by `audit.request_context`."""
    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> HttpResponseBase:
            request_id = _id_of(request)
            with request_context(RequestContext(request_id)):
                answer = get_response(request)
                response = await answer if isinstance(answer, Awaitable) else answer
            response.headers[HEADER] = request_id
            return response

        return respond_async

    def respond(request: HttpRequest) -> HttpResponseBase:
        request_id = _id_of(request)
        with request_context(RequestContext(request_id)):
            response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        response.headers[HEADER] = request_id
        return response

    return respond


def _id_of(request: HttpRequest) -> str:
    given = request.headers.get(HEADER, "")
    return given if _ACCEPTED.fullmatch(given) else uuid.uuid4().hex
