"""The user, their tokens, their projects and the members of those."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts import api_tokens, selectors, services
from accounts.access import NotVisible, get_project, is_pool_admin, roles_of, visible_projects
from accounts.models import Membership, Project
from accounts.sign_in.second_factors import reset_second_factor
from api.pages import ByName, CursorPage
from api.request_parsing import checked, user_of
from api.serializers import accounts as bodies


class MeView(APIView):
    @extend_schema(responses=bodies.MeBody)
    def get(self, request: Request) -> Response:
        # Superusers may manage the pool without the right of its own.
        return Response({**bodies.MeBody(request.user).data, "is_pool_admin": is_pool_admin(request.user)})


class ByUsername(CursorPage):
    ordering = ("username",)


class UserViewSet(GenericViewSet[Any]):
    """Accounts and their rights, for those who administer the installation. Accounts are created in Django's admin."""

    serializer_class = bodies.AccountBody
    pagination_class = ByUsername
    filter_backends = ()
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Any]:
        return selectors.users(self.request.user)

    def list(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(bodies.AccountBody(page, many=True).data)

    @extend_schema(request=bodies.AccountRights)
    def partial_update(self, request: Request, pk: int) -> Response:
        """Make somebody a pool admin, or no longer."""
        asked = checked(bodies.AccountRights(data=request.data))
        account = get_object_or_404(self.get_queryset(), pk=pk)
        changed = services.set_pool_admin(user=user_of(request), account=account, **asked)
        return Response(bodies.AccountBody(changed).data)


class SecondFactorView(APIView):
    """The second factor of an account, for those who administer the installation."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, user_id: int) -> Response:
        """Remove app and recovery codes, for somebody who has lost both."""
        account = get_object_or_404(selectors.users(request.user), pk=user_id)
        reset_second_factor(user=user_of(request), account=account)
        return Response(status=204)


class ByCreation(CursorPage):
    ordering = ("-created", "digest")


class TokenViewSet(GenericViewSet[Any]):
    """Your own API tokens. Send one as `Authorization: Bearer <token>`."""

    answers_secrets = True
    serializer_class = bodies.TokenBody
    pagination_class = ByCreation
    filter_backends = ()
    lookup_value_converter = "str"

    def get_queryset(self) -> QuerySet[Any]:
        return api_tokens.tokens_of(user_of(self.request)).prefetch_related("projects")

    def list(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(bodies.TokenBody(page, many=True).data)

    @extend_schema(request=bodies.NewToken, responses={201: bodies.CreatedTokenBody})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.NewToken(data=request.data))
        entry, token = api_tokens.create_token(user=user_of(request), wish=bodies.token_wish(asked))
        return Response({**bodies.TokenBody(entry).data, "token": token}, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Revoke the token at once."""
        api_tokens.revoke_token(user=user_of(request), token_key=pk)
        return Response(status=204)


class ProjectViewSet(GenericViewSet[Any]):
    edited = ("name",)
    serializer_class = bodies.ProjectBody
    pagination_class = ByName
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Project]:
        return visible_projects(self.request.user)

    def list(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(bodies.ProjectBody(self._with_roles(page), many=True).data)

    @extend_schema(request=bodies.ProjectName, responses={201: bodies.ProjectBody})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.ProjectName(data=request.data))
        project = services.create_project(user=user_of(request), name=asked["name"])
        return Response(self._body(project.pk), status=201)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self._body(pk))

    @extend_schema(request=bodies.ProjectName)
    def partial_update(self, request: Request, pk: UUID) -> Response:
        asked = checked(bodies.ProjectName(data=request.data))
        project = get_project(request.user, pk)
        services.rename_project(user=user_of(request), project=project, name=asked["name"])
        return Response(self._body(pk))

    def _body(self, pk: UUID) -> Any:
        project = self.get_queryset().filter(pk=pk).first()
        if project is None:
            raise NotVisible("no such project")
        return bodies.ProjectBody(self._with_roles([project])[0]).data

    def _with_roles(self, projects: Sequence[Any]) -> Sequence[Any]:
        roles = roles_of(self.request.user)
        for project in projects:
            project.role = roles[project.pk]
        return projects


class ByMembership(CursorPage):
    ordering = ("created_at", "pk")


class MemberViewSet(GenericViewSet[Any]):
    """Members of one project. Viewers see them; owners change them; everybody may leave."""

    serializer_class = bodies.MemberBody
    pagination_class: type[BasePagination] = ByMembership
    filter_backends = ()
    queryset = Membership.objects.none()

    def list(self, request: Request, project_id: UUID) -> Response:
        page = self.paginate_queryset(selectors.members(request.user, get_project(request.user, project_id)))
        return self.get_paginated_response(bodies.MemberBody(page, many=True).data)

    @extend_schema(request=bodies.NewMember, responses={201: bodies.MemberBody})
    def create(self, request: Request, project_id: UUID) -> Response:
        asked = checked(bodies.NewMember(data=request.data))
        member = services.add_member(user=user_of(request), project=get_project(request.user, project_id), **asked)
        return Response(bodies.MemberBody(member).data, status=201)

    @extend_schema(request=bodies.MemberRole)
    def partial_update(self, request: Request, project_id: UUID, user_id: int) -> Response:
        asked = checked(bodies.MemberRole(data=request.data))
        project, username = self._member(project_id, user_id)
        member = services.change_role(user=user_of(request), project=project, username=username, role=asked["role"])
        return Response(bodies.MemberBody(member).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, project_id: UUID, user_id: int) -> Response:
        project, username = self._member(project_id, user_id)
        services.remove_member(user=user_of(request), project=project, username=username)
        return Response(status=204)

    def _member(self, project_id: UUID, user_id: int) -> tuple[Project, str]:
        project = get_project(self.request.user, project_id)
        member = selectors.members(self.request.user, project).filter(user_id=user_id).first()
        if member is None:
            raise NotVisible("no such member")
        return project, member.user.username
