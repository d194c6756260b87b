"""The HTTP interface of the jobs that test GPUs, see `worker.contracts.gpu_tests`."""

from http import HTTPStatus
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from fleet.health.gpu_test_reports import GpuTestOver, GpuTestRefused, authorise, take, trade_code
from telemetry.ingest.ingest_views import bearer_token, refusal
from worker.contracts.gpu_tests import GpuTestReport
from worker.contracts.ingest import BootstrapRequest


@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    try:
        job = trade_code(BootstrapRequest.model_validate_json(request.body).code)
    except ValidationError as error:
        return refusal(422, f'the body must be {{"code": "..."}}: {error.errors()[0]["msg"]}')
    except GpuTestRefused as error:
        return refusal(401, str(error))
    except GpuTestOver as error:
        return refusal(410, str(error))
    return HttpResponse(job.model_dump_json(), content_type="application/json")


@csrf_exempt
@require_POST
def report(request: HttpRequest, test_id: UUID) -> HttpResponse:
    try:
        test = authorise(test_id, bearer_token(request))
        take(test, GpuTestReport.model_validate_json(request.body))
    except ValidationError as error:
        found = error.errors()[0]
        return refusal(422, f"`{'.'.join(map(str, found['loc']))}`: {found['msg']}")
    except GpuTestRefused as error:
        return refusal(401, str(error))
    except GpuTestOver as error:
        return refusal(410, str(error))
    return HttpResponse(status=HTTPStatus.NO_CONTENT)
