"""How long the web takes over requests, by route: counted in this process, and read by `GET /api/v1/metrics`."""

import time
from collections.abc import Awaitable, Callable
from http import HTTPMethod

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from prometheus_client import Histogram

OTHER_METHOD = "other"
"""Stands for methods that HTTP does not define: a client may send any word, and each would be a series of its own
that is kept for as long as the process works."""

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

REQUESTS = Histogram(
    "tandem_http_request_seconds",
    "Seconds until an answer begins.",
    labelnames=["method", "route", "status"],
)


@sync_and_async_middleware
def RequestTimesMiddleware(get_response: GetResponse) -> GetResponse:  # noqa: N802 (Django names middleware so)
    """Observe every request that has a route; those of addresses that are none are one series."""

    def observe(request: HttpRequest, response: HttpResponseBase, began: float) -> HttpResponseBase:
        route = request.resolver_match.route if request.resolver_match else "none"
        method = request.method if request.method in HTTPMethod.__members__ else OTHER_METHOD
        REQUESTS.labels(method, route, str(response.status_code)).observe(time.perf_counter() - began)
        return response

    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> HttpResponseBase:
            began = time.perf_counter()
            response = get_response(request)
            return observe(request, await response if isinstance(response, Awaitable) else response, began)

        return respond_async

    def respond(request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return observe(request, response, began)

    return respond
