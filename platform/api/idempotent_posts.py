"""Puts `api.idempotency` before every POST that writes, at whatever address."""

from typing import TYPE_CHECKING, Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.models import TokenScope
from api.token_scopes import needed_scope

if TYPE_CHECKING:
    # At run time this module is loaded while the module of views is.
    from rest_framework.views import APIView


class IdempotentPosts(BasePermission):
    """Not a permission: it stands among them, as the last one, because DRF asks them after authentication and before it
    looks up the view's handler, which is replaced here. A POST that computes and writes nothing is left alone."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Always true."""
        # Loads DRF's views, which cannot be while settings are read.
        from api.idempotency import HEADER, idempotent

        target: Any = view
        if request.method == "POST" and HEADER in request.headers and does_write(type(view)):
            handler, keeps_answer = target.post, not getattr(view, "answers_secrets", False)
            target.post = lambda *args, **kwargs: idempotent(
                request, lambda: handler(*args, **kwargs), keeps_answer=keeps_answer
            )
        return True


def does_write(view: "type[APIView]") -> bool:
    """Whether a POST to this view changes anything that a repeat would change again. A view whose services ask for the
    scope says so by `services_check_scope`, since it lets every token in."""
    return needed_scope(view, "POST") is not TokenScope.READ or getattr(view, "services_check_scope", False)
