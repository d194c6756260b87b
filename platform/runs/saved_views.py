"""Views of the runs list: saved, shared with a project, forgotten.

Invariant: a shared view is seen by the members of its project, and changed by who saved it; owners of the project may
remove it. It shows each of them the runs that they may see.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.access import TO_EDIT_RUNS, has_role, require_role
from accounts.models import Project, ProjectRole, User
from audit.record import record
from runs.models import SavedView

MAX_VIEWS = 100
"""Of one user: more than anybody finds again in a menu."""


@transaction.atomic
def save_view(
    *,
    user: User,
    name: str,
    query: Mapping[str, Any],
    columns: Sequence[str],
    is_dense: bool,
    project: Project | None = None,
) -> SavedView:
    """Save a view under a name, in place of the user's earlier one of that name and project. Raises `PermissionDenied`
    for who may not share with the project, `ValidationError` by field."""
    if project is not None:
        require_role(user, project, TO_EDIT_RUNS)
    values = {"query": dict(query), "columns": list(columns), "is_dense": is_dense, "saved_at": timezone.now()}
    view, is_new = SavedView.objects.update_or_create(user=user, project=project, name=name.strip(), defaults=values)
    number = SavedView.objects.filter(user=user).count()
    if is_new and number > MAX_VIEWS:
        raise ValidationError({"name": f"you may keep ≤ {MAX_VIEWS} views, this would be {number}: forget one first"})
    record("view.save", view, user=user, project_id=view.project_id, query=dict(query))
    return view


@transaction.atomic
def forget_view(*, user: User, view: SavedView) -> None:
    """Raises `PermissionDenied` for others than who saved it and the owners of its project."""
    is_owner = view.project is not None and has_role(user, view.project, ProjectRole.OWNER)
    if view.user_id != user.pk and not is_owner:
        raise PermissionDenied(f"only {view.user.username} and owners of the project may remove this view")
    record("view.forget", view, user=user, project_id=view.project_id)
    view.delete()
