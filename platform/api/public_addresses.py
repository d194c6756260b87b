"""Addresses in answers: below the public URL that is configured, never below the Host that a request names.

A cache or a proxy that passes on any Host would otherwise give other callers links to a server of the requester's.
"""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param


def public_address(request: Request) -> str:
    """The address of this request as everybody reaches it."""
    return f"{settings.TANDEM_PUBLIC_URL}{request.get_full_path()}"


def address_with(request: Request, name: str, value: Any) -> str:
    """The same with one query parameter set, for the page that follows."""
    return replace_query_param(public_address(request), name, value)
