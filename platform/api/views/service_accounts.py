"""Service accounts and their tokens: of a project for its owners, of the pool for administrators."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts import api_tokens, selectors, service_accounts
from accounts.access import get_project
from accounts.models import ApiToken, User
from api.request_parsing import checked, user_of
from api.serializers import service_accounts as bodies
from api.serializers.accounts import CreatedTokenBody, TokenBody, token_wish
from api.views.accounts import ByCreation, ByUsername


class ServiceAccountViewSet(GenericViewSet[Any]):
    """Accounts of scripts. Each is of one project, or of the pool."""

    edited = ("role", "is_active")
    serializer_class = bodies.ServiceAccountBody
    pagination_class = ByUsername
    filter_backends = ()
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[User]:
        return selectors.manageable_service_accounts(self.request.user)

    @extend_schema(parameters=[OpenApiParameter("project", UUID, description="Of this project only.")])
    def list(self, request: Request) -> Response:
        """Those of the projects that you own, and all of them for administrators, by name."""
        rows = self.get_queryset()
        if "project" in request.query_params:
            rows = rows.filter(memberships__project=get_project(request.user, request.query_params["project"]))
        return self.get_paginated_response(bodies.ServiceAccountBody(self.paginate_queryset(rows), many=True).data)

    @extend_schema(request=bodies.NewServiceAccount, responses={201: bodies.ServiceAccountBody})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.NewServiceAccount(data=request.data))
        project_id = asked.pop("project")
        project = None if project_id is None else get_project(request.user, project_id)
        made = service_accounts.create_service_account(user=user_of(request), project=project, **asked)
        return Response(self._body(made.pk), status=201)

    def retrieve(self, request: Request, pk: int) -> Response:
        return Response(self._body(pk))

    @extend_schema(request=bodies.ServiceAccountChanges)
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change its role, or switch it off and on."""
        asked = checked(bodies.ServiceAccountChanges(data=request.data))
        account = selectors.get_service_account(request.user, pk)
        service_accounts.change_service_account(user=user_of(request), account=account, changes=asked)
        return Response(self._body(pk))

    def _body(self, pk: int) -> Any:
        return bodies.ServiceAccountBody(selectors.get_service_account(self.request.user, pk)).data


class ServiceTokenViewSet(GenericViewSet[Any]):
    """Tokens of a service account."""

    answers_secrets = True
    serializer_class = TokenBody
    pagination_class = ByCreation
    filter_backends = ()
    queryset = ApiToken.objects.none()

    def list(self, request: Request, account_id: int) -> Response:
        """The account's tokens, newest first."""
        account = selectors.get_service_account(request.user, account_id)
        page = self.paginate_queryset(api_tokens.tokens_of(account).prefetch_related("projects"))
        return self.get_paginated_response(TokenBody(page, many=True).data)

    @extend_schema(request=bodies.NewServiceToken, responses={201: CreatedTokenBody})
    def create(self, request: Request, account_id: int) -> Response:
        """Make a token for the account, which this answer alone shows."""
        asked = checked(bodies.NewServiceToken(data=request.data))
        account = selectors.get_service_account(request.user, account_id)
        wish = token_wish({**asked, "projects": None})
        entry, token = api_tokens.create_token(user=user_of(request), wish=wish, account=account)
        return Response({**TokenBody(entry).data, "token": token}, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, account_id: int, token_id: str) -> Response:
        """Revoke the token at once, and close the sockets that it opened."""
        account = selectors.get_service_account(request.user, account_id)
        api_tokens.revoke_token(user=user_of(request), token_key=token_id, account=account)
        return Response(status=204)
