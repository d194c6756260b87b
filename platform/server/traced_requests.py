"""Requests and tasks as spans, by OpenTelemetry's conventions of HTTP and messaging. Set up where traces are on."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from audit.request_context import RequestContext, current_request, request_context
from traces.trace_export import tracing

GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
UNTRACED = ("/static/", "/api/ingest/", "/api/v1/health/", "/api/v1/metrics")
"""What machines ask every few seconds: drivers' reports are in their runs' traces."""
_HEADER = "traceparent"
_propagator = TraceContextTextMapPropagator()


@sync_and_async_middleware
def TracedRequestsMiddleware(get_response: GetResponse) -> GetResponse:  # noqa: N802 (Django names middleware so)
    """A span for each request, below that of its caller; what the request begins belongs to it."""
    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> HttpResponseBase:
            if request.path.startswith(UNTRACED):
                answer = get_response(request)
                return await answer if isinstance(answer, Awaitable) else answer
            with _request_span(request) as span:
                answer = get_response(request)
                response = await answer if isinstance(answer, Awaitable) else answer
                _describe(span, request, response)
            return response

        return respond_async

    def respond(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(UNTRACED):
            untraced = get_response(request)
            assert isinstance(untraced, HttpResponseBase)
            return untraced
        with _request_span(request) as span:
            response = get_response(request)
            assert isinstance(response, HttpResponseBase)
            _describe(span, request, response)
        return response

    return respond


@contextmanager
def _request_span(request: HttpRequest) -> Iterator[Span]:
    # Neither the query nor headers: both may hold tokens.
    about = {
        "http.request.method": request.method or "",
        "url.path": request.path,
        "url.scheme": request.scheme or "",
        "server.address": request.get_host().partition(":")[0],
    }
    above = _propagator.extract({_HEADER: request.headers.get(_HEADER, "")})
    name = request.method or "HTTP"
    with (
        tracing().tracer.start_as_current_span(name, above, SpanKind.SERVER, about) as span,
        request_context(replace(current_request(), traceparent=_traceparent(span))),
    ):
        yield span


def _describe(span: Span, request: HttpRequest, response: HttpResponseBase) -> None:
    span.set_attribute("http.response.status_code", response.status_code)
    if request.resolver_match is not None:
        route = f"/{request.resolver_match.route.lstrip('/')}"
        span.set_attribute("http.route", route)
        span.update_name(f"{request.method} {route}")
    if response.status_code >= 500:
        span.set_attribute("error.type", str(response.status_code))
        span.set_status(StatusCode.ERROR)


def begin_task(task: Any, context: RequestContext) -> RequestContext:
    """Open the span of a task that a traced request enqueued. Returns the context of what the task enqueues."""
    if not context.traceparent:
        return context
    about = {
        "messaging.system": "celery",
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.destination.name": (task.request.delivery_info or {}).get("routing_key") or "",
        "messaging.message.id": task.request.id or "",
        "tandem.task": task.name,
    }
    above = _propagator.extract({_HEADER: context.traceparent})
    span = tracing().tracer.start_span(f"process {task.name}", above, SpanKind.CONSUMER, about)
    task.request.traced = span
    return replace(context, traceparent=_traceparent(span))


def end_task(task: Any, state: str | None) -> None:
    span: Span | None = getattr(task.request, "traced", None)
    if span is not None:
        if state == "FAILURE":
            span.set_status(StatusCode.ERROR)
        span.end()


def _traceparent(span: Span) -> str:
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
