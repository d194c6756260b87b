"""Runs: list, create, read, change, delete, duplicate, and send them commands."""

from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts.access import get_project
from accounts.models import TokenScope
from api.chosen_fields import chosen_fields
from api.contract_schema import component
from api.field_errors import WHOLE
from api.filters import filter_runs
from api.pages import NewestFirst
from api.request_parsing import checked, user_of
from api.serializers import plans
from api.serializers import runs as bodies
from api.serializers.run_lists import RunsQuery
from gallery.checkpoints import fork_point
from runs import command_services, selectors, services
from runs.forks import ForkPoint
from runs.models import Run
from runs.operation_ids import OperationKind, operation_id
from runs.planning.auto_placement import hypothetical_plan
from runs.planning.plan_body import PlanPreview
from runs.queue.asked_lanes import set_priority
from runs.run_body import ListedRun, RunBody
from runs.run_lines import ALL_FIELDS, columns_of, run_lines
from runs.spec_check import WHOLE_SPEC, check_spec, warnings_of
from runs.start_checks.start_checks import start_checks


class ValidateView(APIView):
    """Check a spec without creating a run: every error by field, or the normalised spec and its batch algebra."""

    write_scope = TokenScope.READ

    @extend_schema(request=bodies.SpecToValidate, responses=bodies.Validation)
    def post(self, request: Request) -> Response:
        asked = checked(bodies.SpecToValidate(data=request.data))
        project = get_project(request.user, asked["project"]) if "project" in asked else None
        fork = _parent_and_fork(request, asked)[1]
        report = check_spec(asked["yaml"] if "yaml" in asked else asked["spec"], project, fork=fork)
        spec = report.spec
        return Response(
            {
                "ok": report.ok,
                "errors": {WHOLE if path == WHOLE_SPEC else path: texts for path, texts in report.errors.items()},
                "lines": {WHOLE if path == WHOLE_SPEC else path: line for path, line in report.lines.items()},
                "document": report.document,
                "algebra": spec and spec.algebra.model_dump(mode="json"),
                "algebra_text": spec and spec.algebra.describe(),
                "warnings": warnings_of(spec) if spec else [],
                "spec": spec and spec.model_dump(mode="json"),
                "yaml": spec and spec.to_yaml(),
            }
        )


class StartChecksView(APIView):
    """Look at what stops, delays or breaks runs, before one is created: what is fine, what is not, what is unknown."""

    write_scope = TokenScope.READ

    @extend_schema(request=bodies.RunToCheck, responses=bodies.StartChecks)
    def post(self, request: Request) -> Response:
        asked = checked(bodies.RunToCheck(data=request.data))
        project = get_project(request.user, asked["project"])
        found = start_checks(asked["spec"], project, fork=_parent_and_fork(request, asked)[1])
        return Response(bodies.StartChecks(found).data)


class PlansView(APIView):
    write_scope = TokenScope.READ

    @extend_schema(request=plans.SpecToPlan, responses={200: component(PlanPreview)})
    def post(self, request: Request) -> Response:
        """What the planner would choose for a spec on the pool's lanes, ignoring the spec's own placement; may take
        seconds."""
        report = check_spec(checked(plans.SpecToPlan(data=request.data))["spec"], is_hypothetical=True)
        if report.spec is None:
            raise DjangoValidationError({f"spec.{path}": texts for path, texts in report.errors.items()})
        return Response(hypothetical_plan(report.spec))


class RunViewSet(GenericViewSet[Any]):
    write_scope = TokenScope.RUN
    edited = ("name", "notes", "tags", "archived_at", "spec")
    pagination_class = NewestFirst
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Run]:
        return selectors.visible_runs(self.request.user)

    @extend_schema(parameters=[RunsQuery], responses={200: component(ListedRun)})
    def list(self, request: Request) -> Response:
        """Runs, newest first, with what a list shows; `GET /runs/{id}` has all of one, with its spec."""
        asked = checked(RunsQuery(data=request.query_params))
        user = user_of(request)
        rows = filter_runs(selectors.visible_runs(user), user=user, **asked)
        fields = chosen_fields(request) or ALL_FIELDS
        # Pages are told apart by the time of creation and the id.
        page = self.paginate_queryset(rows.values(*columns_of(fields) | {"id", "created_at"}))
        return self.get_paginated_response(run_lines(user, page or (), fields))

    @extend_schema(request=bodies.NewRun, responses={201: component(RunBody)})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.NewRun(data=request.data))
        project = get_project(request.user, asked.pop("project"))
        parent, fork = _parent_and_fork(request, asked)
        run = services.create_run(user=user_of(request), project=project, parent=parent, fork=fork, **asked)
        return Response(selectors.run_body_for(request.user, run), status=201)

    @extend_schema(responses={200: component(RunBody)})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(selectors.run_body_for(request.user, selectors.get_run(request.user, pk)))

    @extend_schema(request=bodies.RunChanges, responses={200: component(RunBody)})
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Rename, annotate, archive, set the priority of a waiting run. Only what is sent changes."""
        asked = checked(bodies.RunChanges(data=request.data))
        run = selectors.get_run(request.user, pk)
        with transaction.atomic():
            self._change(user_of(request), run, asked)
        return Response(selectors.run_body_for(request.user, selectors.get_run(request.user, pk)))

    def _change(self, user: Any, run: Run, asked: dict[str, Any]) -> None:
        if "name" in asked:
            services.rename_run(user=user, run=run, name=asked["name"])
        if "notes" in asked or "tags" in asked:
            services.set_notes_and_tags(user=user, run=run, notes=asked.get("notes"), tags=asked.get("tags"))
        if "priority" in asked:
            set_priority(user=user, run=run, priority=asked["priority"])
        if "archived" in asked:
            (services.archive_run if asked["archived"] else services.unarchive_run)(user=user, run=run)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete an ended run with its rows and files."""
        services.delete_run(user=user_of(request), run=selectors.get_run(request.user, pk))
        return Response(status=204)


def _parent_and_fork(request: Request, asked: dict[str, Any]) -> tuple[Run | None, ForkPoint | None]:
    """The parent that a call names and the checkpoint to begin from, taken out of `asked`."""
    parent_id, checkpoint_id = asked.pop("parent", None), asked.pop("checkpoint", None)
    if parent_id is None:
        return None, None
    parent = selectors.get_run(request.user, parent_id)
    return parent, None if checkpoint_id is None else fork_point(parent, checkpoint_id)


class DuplicateView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(request=bodies.DuplicateRequest, responses={201: component(RunBody)})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Create a run like this one; `spec`, if given, replaces the spec."""
        asked = checked(bodies.DuplicateRequest(data=request.data))
        run = selectors.get_run(request.user, run_id)
        copy = services.duplicate_run(user=user_of(request), run=run, **asked)
        return Response(selectors.run_body_for(request.user, copy), status=201)


class ActionsView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(request=bodies.ActionRequest, responses={202: bodies.ActionAnswer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Send the run a command. 409 names its state and the commands that are legal in it."""
        asked = checked(bodies.ActionRequest(data=request.data))
        run = selectors.get_run(request.user, run_id)
        command = command_services.request_command(
            user=user_of(request), run=run, kind=asked["action"], prompts=asked.get("prompts", ())
        )
        begun = operation_id(OperationKind.COMMAND, command.pk)
        return Response({"command_id": str(command.pk), "operation": begun}, status=202)
