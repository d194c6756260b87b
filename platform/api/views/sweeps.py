"""Sweeps: preview, make, list, read, stop, delete."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts.access import get_project
from accounts.models import TokenScope
from api.contract_schema import component
from api.pages import NewestFirst
from api.request_parsing import checked, user_of
from api.serializers import sweeps as bodies
from runs.models import Sweep
from runs.selectors import get_run
from sweeps import selectors, services
from sweeps.rungs import rungs
from sweeps.sweep_body import ListedSweep, SweepBody


class SweepPreviewView(APIView):
    write_scope = TokenScope.READ

    @extend_schema(request=bodies.SweepToPreview, responses=bodies.SweepPreview)
    def post(self, request: Request) -> Response:
        """Check a sweep without making it: every error by field, or the points that it would run."""
        asked = checked(bodies.SweepToPreview(data=request.data))
        project = get_project(request.user, asked["project"])
        plan, found = services.checked_plan(project, asked["sweep"])
        return Response(
            {
                "plan": plan.model_dump(mode="json"),
                "points": found.points,
                "num_runs": len(found.points) * plan.num_seeds,
                "num_samples": sum(found.num_samples) * plan.num_seeds,
                "num_invalid_draws": found.num_invalid_draws,
                "invalid_draw": found.invalid_draw,
                "rungs": rungs(plan.pruner, max(found.num_samples)),
            }
        )


class SweepViewSet(GenericViewSet[Any]):
    """Runs that differ in some settings and in their seeds, compared at equal samples."""

    write_scope = TokenScope.RUN
    pagination_class = NewestFirst
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Sweep]:
        return selectors.visible_sweeps(self.request.user)

    @extend_schema(parameters=[bodies.SweepsQuery], responses={200: component(ListedSweep)})
    def list(self, request: Request) -> Response:
        """Sweeps of your projects, newest first."""
        rows = self.get_queryset()
        asked = checked(bodies.SweepsQuery(data=request.query_params))
        page = self.paginate_queryset(rows.filter(**asked)) or []
        return self.get_paginated_response(selectors.listed_sweeps(request.user, page))

    @extend_schema(request=bodies.NewSweep, responses={201: component(SweepBody)})
    def create(self, request: Request) -> Response:
        """Make a sweep. Its runs are created in the background, as many at a time as it says."""
        asked = checked(bodies.NewSweep(data=request.data))
        project = get_project(request.user, asked["project"])
        parent = None if asked.get("parent") is None else get_run(request.user, asked["parent"])
        sweep = services.create_sweep(user=user_of(request), project=project, document=asked["sweep"], parent=parent)
        return Response(selectors.sweep_body(request.user, sweep), status=201)

    @extend_schema(responses={200: component(SweepBody)})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """A sweep with its points, their runs, and how the best point grew with what the sweep cost."""
        return Response(selectors.sweep_body(request.user, selectors.get_sweep(request.user, pk)))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete an ended sweep. Its runs stay."""
        services.delete_sweep(user=user_of(request), sweep=selectors.get_sweep(request.user, pk))
        return Response(status=204)


class StopSweepView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(request=None, responses={200: component(SweepBody)})
    def post(self, request: Request, sweep_id: UUID) -> Response:
        """Stop its runs, and start no more. 409 for a sweep that does so already, or has ended."""
        sweep = services.stop_sweep(user=user_of(request), sweep=selectors.get_sweep(request.user, sweep_id))
        return Response(selectors.sweep_body(request.user, sweep))
