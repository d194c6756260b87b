"""What Django answers where no view does: problem+json below `/api/`, pages elsewhere."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template import loader
from django.views import defaults

from api.database_circuit import CIRCUIT, is_away, is_crowded
from api.problems import AWAY, CONTENT_TYPE, CROWDED, problem
from runs.report_storage import FULL, is_full

API_PREFIX = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    said = "the request is malformed: check its address, its headers and its size"
    return _problem(400, said) if is_api(request) else defaults.bad_request(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    said = f"there is no address {request.path[:200]}: /api/v1/docs lists those that there are"
    return _problem(404, said) if is_api(request) else defaults.page_not_found(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if not is_api(request):
        return defaults.permission_denied(request, exception)
    return _problem(403, str(exception) or "you may not do this")


def server_error(request: HttpRequest) -> HttpResponseBase:
    # Django calls it while it handles the exception, which it does not hand on.
    if is_crowded(sys.exc_info()[1]):
        return unavailable(request, CROWDED, seconds=1)
    if is_away(sys.exc_info()[1]):
        return database_away(request, CIRCUIT.retry_after)
    if is_full(sys.exc_info()[1]) and is_api(request):
        return _problem(507, FULL)
    said = "a defect of Tandem: its log has the traceback under this request's `X-Request-ID`"
    return _problem(500, said) if is_api(request) else defaults.server_error(request)


def database_away(request: HttpRequest, seconds: int) -> HttpResponseBase:
    """503: come again after so many seconds."""
    return unavailable(request, AWAY, seconds)


def unavailable(request: HttpRequest, said: str, seconds: int) -> HttpResponseBase:
    if is_api(request):
        answer: HttpResponse = _problem(503, said)
    else:
        answer = HttpResponse(loader.get_template("503.html").render({"said": _sentence(said)}), status=503)
    answer.headers["Retry-After"] = str(seconds)
    return answer


def as_problem(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """What Django or a plain view refuses below `/api/` without saying so in JSON, as a problem with the same headers.
    Every other response is left as it is."""
    is_said = response.headers.get("Content-Type", "").startswith((CONTENT_TYPE, "application/json"))
    if not is_api(request) or response.status_code < 400 or is_said:
        return response
    match response.status_code:
        case 405:
            methods = response.headers.get("Allow") or "none"
            said = f"{(request.method or '')[:20]} is not answered here: the methods of this address are {methods}"
        case 416:
            said = "the range begins beyond the last byte, whose number the header `Content-Range` tells"
        case _:
            said = "the request was refused"
    answer = _problem(response.status_code, said)
    for name, value in response.headers.items():
        answer.headers.setdefault(name, value)
    return answer


def _sentence(said: str) -> str:
    """What is told before the advice to a program."""
    first = said.partition(":")[0]
    return f"{first[0].upper()}{first[1:]}."


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith(API_PREFIX)


def _problem(status: int, detail: str) -> HttpResponse:
    return JsonResponse(problem(status, detail), status=status, content_type=CONTENT_TYPE)
