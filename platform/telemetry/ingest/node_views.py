"""The node agent's HTTP interface, see `worker.contracts.node_reports`."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from fleet.reports.node_agents import AgentFollowed, AgentRefused, authorise, trade_code
from fleet.reports.report_intake import take
from telemetry.ingest.ingest_answers import bearer_token, guesses_held_back, refusal, traded_code
from telemetry.ingest.stored_text import without_nul
from worker.contracts.node_reports import AGENT_HEADER, NodeReports


@guesses_held_back
@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    return traded_code(request, trade_code, {AgentRefused: 401})


@guesses_held_back
@csrf_exempt
@require_POST
def reports(request: HttpRequest) -> HttpResponse:
    try:
        agent = authorise(bearer_token(request), request.headers.get(AGENT_HEADER, ""))
        take(agent, NodeReports.model_validate_json(without_nul(request.body)))
    except AgentRefused as error:
        return refusal(401, str(error))
    except AgentFollowed as error:
        return refusal(410, str(error))
    except ValidationError as error:
        found = error.errors()[0]
        return refusal(422, f"`{'.'.join(map(str, found['loc']))}`: {found['msg']}")
    return HttpResponse(status=HTTPStatus.NO_CONTENT)
