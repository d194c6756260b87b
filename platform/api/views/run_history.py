"""The history of a run: transitions, attempts, commands, and the plan behind its placement."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from api.contract_schema import component
from api.pages import CursorPage, page_of
from api.serializers import runs as bodies
from api.views.telemetry import RunDataView
from runs import selectors
from telemetry.curves.plan_grades import RunPlan, graded


class InStreamOrder(CursorPage):
    ordering = ("stream_seq",)


class InOrderOfAttempts(CursorPage):
    ordering = ("number",)


class NewestCommandsFirst(CursorPage):
    ordering = ("-created_at", "-pk")


class HistoryView(RunDataView):
    """One page of rows of a run."""

    body: type[Serializer[Any]]
    pages: type[CursorPage]

    def page(self, request: Request, rows: QuerySet[Any]) -> Response:
        paginator = self.pages()
        found: list[Any] | None = paginator.paginate_queryset(rows, request, view=self)
        return paginator.get_paginated_response(self.body(found, many=True).data)


class TransitionsView(HistoryView):
    body, pages = bodies.TransitionBody, InStreamOrder

    @extend_schema(responses=page_of(bodies.TransitionBody))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Every change of state, oldest first."""
        return self.page(request, selectors.transitions(request.user, self.run(run_id)))


class AttemptsView(HistoryView):
    body, pages = bodies.AttemptBody, InOrderOfAttempts

    @extend_schema(responses=page_of(bodies.AttemptBody))
    def get(self, request: Request, run_id: UUID) -> Response:
        """The run's attempts, oldest first: one driver each."""
        return self.page(request, selectors.attempts_of(request.user, self.run(run_id)))


class CommandsView(HistoryView):
    body, pages = bodies.CommandBody, NewestCommandsFirst

    @extend_schema(responses=page_of(bodies.CommandBody))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Commands that users sent to the run and their results, newest first."""
        return self.page(request, selectors.commands_of(request.user, self.run(run_id)))


class PlanView(RunDataView):
    @extend_schema(responses={200: component(RunPlan)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What the planner chose for the newest attempt of a run with `placement: auto`, and why; and all plans that
        the run has worked by, each with what it predicted and what was measured."""
        run = self.run(run_id)
        answer: RunPlan = {
            "plan": selectors.plan_of(request.user, run),
            "steps": graded(run.pk, selectors.plan_steps(request.user, run)),
        }
        return Response(answer)
