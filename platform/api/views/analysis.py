"""Conclusions from a run's record: its report, and replays under other settings."""

from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import TokenScope
from analysis.replay.replay_body import ReplayBody
from analysis.replay.replays import replay
from analysis.report.run_report import render_report
from api.contract_schema import component
from api.request_parsing import checked, user_of
from api.serializers import replay_requests as bodies
from api.views.telemetry import RunDataView
from runs.selectors import run_body_for


class ReportView(RunDataView):
    @extend_schema(responses={(200, "text/html"): OpenApiTypes.BINARY})
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The run's report: curves, pictures, lane time, spec and versions in one HTML file that refers to nothing
        outside itself. Its size is bounded; the report says what it leaves out."""
        run = self.run(run_id)
        response = HttpResponse(render_report(run, run_body_for(request.user, run)), content_type="text/html")
        name = f"{slugify(run.name) or 'run'}-report.html"
        response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
        response["Cache-Control"] = "private, no-cache"
        return response


class ReplaysView(RunDataView):
    write_scope = TokenScope.READ

    @extend_schema(request=bodies.ReplayRequest, responses={200: component(ReplayBody)})
    def post(self, request: Request, run_id: UUID) -> Response:
        """The run's newest recorded batches under other switches, lanes or devices, with the error of the same replay
        under its own. Nothing is stored; it may take seconds, and one at a time is computed for a user."""
        asked = checked(bodies.ReplayRequest(data=request.data))
        return Response(replay(user=user_of(request), run=self.run(run_id), asked=asked))
