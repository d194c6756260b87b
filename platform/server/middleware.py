"""Middleware of every response: the content security policy, problems of REST, and static files for an ASGI server."""

from collections.abc import Awaitable, Callable
from contextlib import closing

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from server.error_pages import as_problem

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def ContentSecurityPolicyMiddleware(get_response: GetResponse) -> GetResponse:  # noqa: N802 (Django names middleware so)
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


class ApiProblemsMiddleware(MiddlewareMixin):
    """Whatever is refused below `/api/` is a problem. It knows one form alone, as `FrameOptionsMiddleware` does."""

    async_capable = False

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return as_problem(request, response)


class FrameOptionsMiddleware(XFrameOptionsMiddleware):
    """Django's, without its asynchronous form, to be the innermost: then Django runs the chain of middleware in one
    thread, instead of going to a thread and back for each of them, which takes as long as a short view."""

    async_capable = False


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise, answering with whole bodies.

    Its own file responses are iterators that an ASGI server would have to drain in a thread first, with a warning for
    every start; static files are small.
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with closing(found.file) as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response
