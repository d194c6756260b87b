"""Every answer carries the security policy; static files answer whole, with ranges and not-modified."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory, RequestFactory
from pytest_django import Settings

from server.middleware import ContentSecurityPolicyMiddleware, StaticFilesMiddleware


def test_every_answer_has_the_policy_unless_it_brings_its_own(settings: Settings) -> None:
    def plain(request: HttpRequest) -> HttpResponse:
        return HttpResponse(headers={"Content-Security-Policy": "own"} if request.path == "/own" else {})

    middleware = ContentSecurityPolicyMiddleware(plain)
    answers = {path: middleware(RequestFactory().get(path)) for path in ("/own", "/other")}
    assert isinstance(answers["/own"], HttpResponse) and isinstance(answers["/other"], HttpResponse)
    assert answers["/own"]["Content-Security-Policy"] == "own"
    assert answers["/other"]["Content-Security-Policy"] == settings.CONTENT_SECURITY_POLICY
    assert "script-src" not in settings.CONTENT_SECURITY_POLICY, "scripts fall under default-src 'self'"


async def _respond(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


def test_an_asynchronous_view_gets_the_policy_too() -> None:
    middleware = ContentSecurityPolicyMiddleware(_respond)

    async def ask() -> HttpResponse:
        answer = middleware(AsyncRequestFactory().get("/"))
        assert not isinstance(answer, HttpResponse)
        return await answer  # type: ignore[misc]

    assert "Content-Security-Policy" in async_to_sync(ask)()


@pytest.fixture
def static(settings: Settings, tmp_path: Path) -> Iterator[StaticFilesMiddleware]:
    (tmp_path / "app.js").write_text("let answer = 42")
    settings.STATIC_ROOT = tmp_path
    yield StaticFilesMiddleware(lambda request: HttpResponse(status=404))


def test_a_static_file_answers_whole(static: StaticFilesMiddleware) -> None:
    response = static(RequestFactory().get("/static/app.js"))
    assert (response.status_code, response.content) == (200, b"let answer = 42")
    assert response["Content-Type"].startswith("text/javascript")
    assert not response.streaming
    assert static(RequestFactory().head("/static/app.js")).content == b""
    assert static(RequestFactory().get("/static/nothing.js")).status_code == 404


def test_a_static_file_answers_in_part_and_not_at_all_when_unchanged(static: StaticFilesMiddleware) -> None:
    part = static(RequestFactory().get("/static/app.js", headers={"Range": "bytes=4-9"}))
    assert (part.status_code, part.content) == (206, b"answer")
    etag = static(RequestFactory().get("/static/app.js"))["ETag"]
    assert static(RequestFactory().get("/static/app.js", headers={"If-None-Match": etag})).status_code == 304
