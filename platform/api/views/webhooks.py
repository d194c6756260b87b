"""Webhooks: of a project for its owners, of the pool for its admins."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts.access import get_project
from api.pages import ByName, NewestFirst, page_of
from api.request_parsing import checked, user_of
from api.serializers import webhooks as bodies
from api.serializers.pool_history import PageQuery
from hooks import selectors, services
from hooks.models import Webhook


class WebhookViewSet(GenericViewSet[Any]):
    """Messages of what happens in a project or in the pool, to addresses of your choice."""

    answers_secrets = True
    edited = ("name", "address", "events", "is_active")
    serializer_class = bodies.WebhookBody
    pagination_class = ByName
    filter_backends = ()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Webhook]:
        return selectors.manageable_webhooks(self.request.user)

    @extend_schema(parameters=[OpenApiParameter("project", UUID, description="Of this project only.")])
    def list(self, request: Request) -> Response:
        """Webhooks of the projects that you own, and of the pool for its admins, by name."""
        rows = self.get_queryset()
        if "project" in request.query_params:
            rows = rows.filter(project=get_project(request.user, request.query_params["project"]))
        return self.get_paginated_response(bodies.WebhookBody(self.paginate_queryset(rows), many=True).data)

    @extend_schema(request=bodies.NewWebhook, responses={201: bodies.CreatedWebhookBody})
    def create(self, request: Request) -> Response:
        asked = checked(bodies.NewWebhook(data=request.data))
        project_id = asked.pop("project")
        project = None if project_id is None else get_project(request.user, project_id)
        webhook, secret = services.create_webhook(user=user_of(request), project=project, **asked)
        return Response({**bodies.WebhookBody(webhook).data, "secret": secret}, status=201)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(bodies.WebhookBody(selectors.get_webhook(request.user, pk)).data)

    @extend_schema(request=bodies.WebhookChanges)
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change what is given. Switched on again, it begins anew."""
        asked = checked(bodies.WebhookChanges(data=request.data))
        webhook = selectors.get_webhook(request.user, pk)
        return Response(
            bodies.WebhookBody(services.change_webhook(user=user_of(request), webhook=webhook, **asked)).data
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete the webhook with its deliveries."""
        services.delete_webhook(user=user_of(request), webhook=selectors.get_webhook(request.user, pk))
        return Response(status=204)


class RotateSecretView(APIView):
    answers_secrets = True

    @extend_schema(request=bodies.SecretRotation, responses=bodies.CreatedWebhookBody)
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Give the webhook a new secret, which is shown this once. Until the overlap ends, each message has a signature
        by either, separated by a space."""
        asked = checked(bodies.SecretRotation(data=request.data))
        webhook = selectors.get_webhook(request.user, webhook_id)
        changed, secret = services.rotate_secret(user=user_of(request), webhook=webhook, **asked)
        return Response({**bodies.WebhookBody(changed).data, "secret": secret})


class WebhookTestView(APIView):
    @extend_schema(request=None, responses={202: bodies.DeliveryBody})
    def post(self, request: Request, webhook_id: UUID) -> Response:
        """Send a message that tells of nothing, once. Read the delivery for what became of it."""
        webhook = selectors.get_webhook(request.user, webhook_id)
        delivery = services.send_test(user=user_of(request), webhook=webhook)
        return Response(bodies.DeliveryBody(delivery).data, status=202)


class DeliveriesView(APIView):
    @extend_schema(
        operation_id="webhook_deliveries_list", parameters=[PageQuery], responses=page_of(bodies.DeliveryBody)
    )
    def get(self, request: Request, webhook_id: UUID) -> Response:
        """Its messages of the last 30 days with all tries, newest first."""
        rows = selectors.deliveries_of(selectors.get_webhook(request.user, webhook_id))
        checked(PageQuery(data=request.query_params))
        paginator = NewestFirst()
        page = paginator.paginate_queryset(rows, request, view=self) or []
        return paginator.get_paginated_response(bodies.DeliveryBody(page, many=True).data)


class DeliveryView(APIView):
    @extend_schema(operation_id="webhook_delivery_retrieve", responses=bodies.DeliveryBody)
    def get(self, request: Request, webhook_id: UUID, delivery_id: UUID) -> Response:
        webhook = selectors.get_webhook(request.user, webhook_id)
        return Response(bodies.DeliveryBody(selectors.get_delivery(webhook, delivery_id)).data)


class RedeliverView(APIView):
    @extend_schema(request=None, responses={202: bodies.DeliveryBody})
    def post(self, request: Request, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Send the message again at once, under its id."""
        webhook = selectors.get_webhook(request.user, webhook_id)
        delivery = selectors.get_delivery(webhook, delivery_id)
        return Response(
            bodies.DeliveryBody(services.redeliver(user=user_of(request), delivery=delivery)).data, status=202
        )
