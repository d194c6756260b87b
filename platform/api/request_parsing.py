"""From a request to validated Python values."""

from typing import Any

from rest_framework.exceptions import NotAuthenticated, ValidationError
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from accounts.models import User
from api.body_sentences import body_sentences


def checked(body: BaseSerializer[Any]) -> dict[str, Any]:
    """The validated values of a body or of query parameters. Raises DRF's `ValidationError` by field."""
    if not body.is_valid():
        raise ValidationError(body_sentences(body))
    values: dict[str, Any] = body.validated_data
    return values


def user_of(request: Request) -> User:
    """The user of the request. Raises `NotAuthenticated` for an anonymous one, which some views let in."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user
