"""The HTTP interface of the jobs that test GPUs, see `worker.contracts.gpu_tests`."""

from http import HTTPStatus
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from fleet.health.gpu_test_reports import GpuTestOver, GpuTestRefused, authorise, take, trade_code
from telemetry.ingest.ingest_answers import bearer_token, guesses_held_back, refusal, traded_code
from telemetry.ingest.stored_text import without_nul
from worker.contracts.gpu_tests import GpuTestReport


@guesses_held_back
@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    return traded_code(request, trade_code, {GpuTestRefused: 401, GpuTestOver: 410})


@guesses_held_back
@csrf_exempt
@require_POST
def report(request: HttpRequest, test_id: UUID) -> HttpResponse:
    try:
        test = authorise(test_id, bearer_token(request))
        take(test, GpuTestReport.model_validate_json(without_nul(request.body)))
    except ValidationError as error:
        found = error.errors()[0]
        return refusal(422, f"`{'.'.join(map(str, found['loc']))}`: {found['msg']}")
    except GpuTestRefused as error:
        return refusal(401, str(error))
    except GpuTestOver as error:
        return refusal(410, str(error))
    return HttpResponse(status=HTTPStatus.NO_CONTENT)
