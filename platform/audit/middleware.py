"""Gives each request an id, unless it brings one, and sends the id back with the answer."""

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
"""Ids that a caller may send. They are written to logs, so nothing that could forge a line is accepted."""


@sync_and_async_middleware
def RequestIdMiddleware(get_response: GetResponse) -> GetResponse:  # noqa: N802 (Django names middleware so)
    """Sets the request's id in `audit.request_context` for everything that handles the request."""
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
