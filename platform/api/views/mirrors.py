"""Mirrors of a project, for its owners to manage; a run's mirrors, for its members."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts.access import get_project
from accounts.models import TokenScope
from api.pages import ByName
from api.request_parsing import checked, user_of
from api.serializers import mirrors as bodies
from catalog.mirror_services import change_mirror, create_mirror, delete_mirror
from catalog.models import Mirror
from catalog.selectors import get_mirror
from mirrors import selectors, services
from runs.selectors import get_run


class MirrorViewSet(GenericViewSet[Any]):
    """Other tools that show a project's runs: W&B, MLflow, TensorBoard. A credential is stored encrypted and never
    shown."""

    edited = ("is_for_every_run", "is_active")
    serializer_class = bodies.MirrorBody
    pagination_class = ByName
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Mirror]:
        return selectors.mirrors_with_counts(self.request.user)

    @extend_schema(parameters=[OpenApiParameter("project", UUID, description="Of this project only.")])
    def list(self, request: Request) -> Response:
        """Mirrors of your projects, by name."""
        rows = self.get_queryset()
        if "project" in request.query_params:
            rows = rows.filter(project=get_project(request.user, request.query_params["project"]))
        return self.get_paginated_response(bodies.MirrorBody(self.paginate_queryset(rows), many=True).data)

    @extend_schema(request=bodies.NewMirror, responses={201: bodies.MirrorBody})
    def create(self, request: Request) -> Response:
        """It follows the project's runs from now on; `POST /runs/{run_id}/mirrors` adds one that has ended."""
        asked = checked(bodies.NewMirror(data=request.data))
        project = get_project(request.user, asked.pop("project"))
        return Response(self._body(create_mirror(user=user_of(request), project=project, **asked)), status=201)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self._body(get_mirror(request.user, pk)))

    @extend_schema(request=bodies.MirrorChanges)
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change what is given. Where it writes stays: make another mirror for another place."""
        asked = checked(bodies.MirrorChanges(data=request.data))
        return Response(self._body(change_mirror(user=user_of(request), mirror=get_mirror(request.user, pk), **asked)))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Stop mirroring. What was written stays where it is."""
        delete_mirror(user=user_of(request), mirror=get_mirror(request.user, pk))
        return Response(status=204)

    def _body(self, mirror: Mirror) -> Any:
        return bodies.MirrorBody(self.get_queryset().get(pk=mirror.pk)).data


class TryMirrorAgainView(APIView):
    @extend_schema(request=None, responses={202: bodies.TriedAgain})
    def post(self, request: Request, mirror_id: UUID) -> Response:
        """Try its runs again at once whose last try failed, those given up too."""
        mirror = get_mirror(request.user, mirror_id)
        num_runs = services.try_mirror_again(user=user_of(request), mirror=mirror)
        return Response(bodies.TriedAgain({"num_runs": num_runs}).data, status=202)


class RunMirrorsView(APIView):
    write_scope = TokenScope.RUN

    @extend_schema(operation_id="run_mirrors_list", responses=bodies.MirroredRunBody(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """How far each mirror has got with the run, by name."""
        rows = selectors.mirrored_of(get_run(request.user, run_id).pk)
        return Response(bodies.MirroredRunBody(rows, many=True).data)

    @extend_schema(
        operation_id="run_mirrors_create", request=bodies.RunToMirror, responses={202: bodies.MirroredRunBody}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Write the run to the mirror at once: also one that has ended, or that was given up."""
        asked = checked(bodies.RunToMirror(data=request.data))
        run, mirror = get_run(request.user, run_id), get_mirror(request.user, asked["mirror"])
        row = services.mirror_run(user=user_of(request), run=run, mirror=mirror, from_beginning=asked["from_beginning"])
        return Response(bodies.MirroredRunBody(row).data, status=202)
