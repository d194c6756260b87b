"""Presets, base models, prompt sets and secrets, which run specs refer to."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts.access import get_project
from accounts.models import TokenScope
from api.pages import ByName, page_of
from api.request_parsing import checked, user_of
from api.serializers import catalog as bodies
from catalog import selectors, services
from catalog.known_rewards import known_reward, known_rewards
from catalog.models import PromptSet, Secret
from worker.contracts.run_spec import RunSpec


class RunSpecSchemaView(APIView):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """The JSON schema of a run spec, with the help, bounds and choices that the form shows."""
        return Response(RunSpec.model_json_schema())


class PresetsView(APIView):
    @extend_schema(responses=page_of(bodies.PresetBody))
    def get(self, request: Request) -> Response:
        presets = [
            {
                "name": preset.name,
                "title": preset.title,
                "description": preset.description,
                "spec": preset.spec.model_dump(mode="json"),
            }
            for preset in selectors.list_presets()
        ]
        return Response({"next": None, "results": presets})


class RewardsView(APIView):
    @extend_schema(operation_id="rewards_list", responses=page_of(bodies.RewardBody))
    def get(self, request: Request) -> Response:
        """Every scorer that a spec can name: what it measures, its range, settings, weights, and how it is gamed."""
        return Response({"next": None, "results": bodies.RewardBody(known_rewards(), many=True).data})


class RewardView(APIView):
    @extend_schema(responses=bodies.RewardBody)
    def get(self, request: Request, name: str) -> Response:
        try:
            return Response(bodies.RewardBody(known_reward(name)).data)
        except LookupError as error:
            raise NotFound(str(error)) from error


class BaseModelsView(APIView):
    """Models below `TANDEM_MODEL_ROOTS`. Hub ids (`org/name`) may be used as well."""

    @extend_schema(responses=page_of(bodies.BaseModelBody))
    def get(self, request: Request) -> Response:
        models = bodies.BaseModelBody(selectors.list_base_models(), many=True).data
        return Response({"next": None, "results": models})


class PromptSetViewSet(GenericViewSet[Any]):
    write_scope = TokenScope.RUN
    serializer_class = bodies.PromptSetBody
    pagination_class = ByName
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[PromptSet]:
        return selectors.visible_prompt_sets(self.request.user)

    @extend_schema(
        parameters=[OpenApiParameter("project", UUID, description="Of this project only.")],
        responses=bodies.ListedPromptSet(many=True),
    )
    def list(self, request: Request) -> Response:
        """Prompt sets by name, each with its number of prompts and the first few; `GET /prompt-sets/{id}` has all."""
        rows = selectors.listed_prompt_sets(request.user)
        if "project" in request.query_params:
            rows = rows.filter(project=get_project(request.user, request.query_params["project"]))
        return self.get_paginated_response(bodies.ListedPromptSet(self.paginate_queryset(rows), many=True).data)

    @extend_schema(request=bodies.NewPromptSet, responses={201: bodies.PromptSetBody})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.NewPromptSet(data=request.data))
        project = get_project(request.user, asked.pop("project"))
        prompt_set = services.create_prompt_set(user=user_of(request), project=project, **asked)
        return Response(bodies.PromptSetBody(prompt_set).data, status=201)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(bodies.PromptSetBody(selectors.get_prompt_set(request.user, pk)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: UUID) -> Response:
        services.delete_prompt_set(user=user_of(request), prompt_set=selectors.get_prompt_set(request.user, pk))
        return Response(status=204)


class SecretViewSet(GenericViewSet[Any]):
    """Tokens of remote scorers. A value is stored encrypted and never shown."""

    serializer_class = bodies.SecretBody
    pagination_class = ByName
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Secret]:
        return selectors.visible_secrets(self.request.user)

    @extend_schema(parameters=[OpenApiParameter("project", UUID, description="Of this project only.")])
    def list(self, request: Request) -> Response:
        rows = self.get_queryset()
        if "project" in request.query_params:
            rows = rows.filter(project=get_project(request.user, request.query_params["project"]))
        return self.get_paginated_response(bodies.SecretBody(self.paginate_queryset(rows), many=True).data)

    @extend_schema(request=bodies.NewSecret, responses={201: bodies.SecretBody})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.NewSecret(data=request.data))
        project = get_project(request.user, asked.pop("project"))
        secret = services.create_secret(user=user_of(request), project=project, **asked)
        return Response(bodies.SecretBody(secret).data, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: UUID) -> Response:
        services.delete_secret(user=user_of(request), secret=selectors.get_secret(request.user, pk))
        return Response(status=204)
