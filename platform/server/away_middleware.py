"""Answers at once while the database is away: 503, and when to come again."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from api.database_circuit import CIRCUIT
from server.error_pages import database_away

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
HEALTH = "/api/v1/health/"
"""Probes, which tell of the database themselves."""


@sync_and_async_middleware
def DatabaseAwayMiddleware(get_response: GetResponse) -> GetResponse:  # noqa: N802 (Django names middleware so)
    """Refuse requests before anything is read for them, while `api.database_circuit` is open."""
    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> HttpResponseBase:
            if (refusal := _refusal(request)) is not None:
                return refusal
            response = get_response(request)
            return await response if isinstance(response, Awaitable) else response

        return respond_async

    def respond(request: HttpRequest) -> HttpResponseBase:
        if (refusal := _refusal(request)) is not None:
            return refusal
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return response

    return respond


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    if request.path.startswith(HEALTH) or (seconds := CIRCUIT.refuse()) is None:
        return None
    return database_away(request, seconds)
