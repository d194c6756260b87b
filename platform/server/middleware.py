"""One header that Django 5.2 lacks: the content security policy of `settings.CONTENT_SECURITY_POLICY`."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

type_hint = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def ContentSecurityPolicyMiddleware(get_response: type_hint) -> type_hint:  # noqa: N802 (Django names middleware so)
    """Set the policy on every response; a view that needs another one sets the header itself."""

    def with_policy(response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response

    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> HttpResponseBase:
            response = get_response(request)
            return with_policy(await response if isinstance(response, Awaitable) else response)

        return respond_async

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return with_policy(response)

    return respond
