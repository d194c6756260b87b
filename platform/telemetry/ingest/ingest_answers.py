"""What the views of every ingest share: the bearer's token, answers, refusals, and the trade of a single-use code."""

from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from pydantic import BaseModel, ValidationError

from accounts.wrong_secrets import seconds_to_wait
from worker.contracts.ingest import BootstrapRequest

View = Callable[..., HttpResponseBase]


def guesses_held_back(view: View) -> View:
    """The view, which answers 429 to a wrong token from an address that sent too many of them."""

    @wraps(view)
    def answer(request: HttpRequest, **path: Any) -> HttpResponseBase:
        answered = view(request, **path)
        if answered.status_code == HTTPStatus.UNAUTHORIZED and (token := bearer_token(request)):
            return _waiting(request, token) or answered
        return answered

    return answer


def _waiting(request: HttpRequest, wrong: str) -> HttpResponse | None:
    """The refusal of an address that tries one wrong secret after another; senders try again, as after any 429."""
    if not (wait := seconds_to_wait(request, wrong)):
        return None
    refused = refusal(HTTPStatus.TOO_MANY_REQUESTS, f"this address sent too many wrong tokens or codes: wait {wait} s")
    refused["Retry-After"] = str(wait)
    return refused


def bearer_token(request: HttpRequest) -> str:
    """The token of `Authorization: Bearer <token>`; empty when there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""


def refusal(status: int, detail: str, **members: Any) -> JsonResponse:
    """An error as problem+json; the sender logs `detail`."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **members}
    return JsonResponse(body, status=status, content_type="application/problem+json")


def json_answer(body: BaseModel) -> HttpResponse:
    return HttpResponse(body.model_dump_json(), content_type="application/json")


def traded_code(
    request: HttpRequest, trade: Callable[[str], BaseModel], refusals: Mapping[type[Exception], int]
) -> HttpResponse:
    """What `trade` gives for the code of the request's body. Errors of `refusals` become their status, a body that
    holds no code 422."""
    try:
        code = BootstrapRequest.model_validate_json(request.body).code
    except ValidationError as error:
        return refusal(422, f'the body must be {{"code": "..."}}: {error.errors()[0]["msg"]}')
    try:
        return json_answer(trade(code))
    except tuple(refusals) as error:
        status = next(status for kind, status in refusals.items() if isinstance(error, kind))
        waiting = _waiting(request, code) if status == HTTPStatus.UNAUTHORIZED else None
        return waiting or refusal(status, str(error))
