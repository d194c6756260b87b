"""The node agent's HTTP interface, see `worker.contracts.node_reports`."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from fleet.reports.node_agents import AgentFollowed, AgentRefused, authorise, trade_code
from fleet.reports.report_intake import take
from telemetry.ingest.ingest_views import bearer_token, refusal
from worker.contracts.ingest import BootstrapRequest
from worker.contracts.node_reports import AGENT_HEADER, NodeReports


@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    try:
        answer = trade_code(BootstrapRequest.model_validate_json(request.body).code)
    except ValidationError as error:
        return refusal(422, f'the body must be {{"code": "..."}}: {error.errors()[0]["msg"]}')
    except AgentRefused as error:
        return refusal(401, str(error))
    return HttpResponse(answer.model_dump_json(), content_type="application/json")


@csrf_exempt
@require_POST
def reports(request: HttpRequest) -> HttpResponse:
    try:
        agent = authorise(bearer_token(request), request.headers.get(AGENT_HEADER, ""))
        take(agent, NodeReports.model_validate_json(request.body))
    except AgentRefused as error:
        return refusal(401, str(error))
    except AgentFollowed as error:
        return refusal(410, str(error))
    except ValidationError as error:
        found = error.errors()[0]
        return refusal(422, f"`{'.'.join(map(str, found['loc']))}`: {found['msg']}")
    return HttpResponse(status=HTTPStatus.NO_CONTENT)
