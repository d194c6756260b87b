"""Sets up a data folder, and checks it at every start: tables, static files, the admin, a project, lanes."""

import os
import secrets
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from accounts.models import Project, User
from accounts.services import create_project
from fleet.lane_layout import ensure_local_lanes
from server.embedded.gpus import LocalGpus
from server.stack.database_check import check_database

ADMIN_NAME = "admin"
DEFAULT_PROJECT = "Default project"


def migrate_and_collect() -> None:
    """Bring tables and static files up to date. Raises `CannotStartError` for a database of another version."""
    check_database()
    call_command("migrate", interactive=False, verbosity=0)
    check_database()
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)


def ensure_admin(var: Path) -> tuple[User, str | None]:
    """The first admin account, and its password if the account was just created.

    The password is also stored in `var/admin-password`, mode 0600, which is not updated when it is changed.
    """
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin is not None:
        return admin, None
    password = secrets.token_urlsafe(12)
    path = var / "admin-password"
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(password + "\n")
    return User.objects.create_superuser(ADMIN_NAME, password=password), password


def ensure_project(admin: User) -> Project:
    """The admin's oldest project, or a new one."""
    project = admin.projects.order_by("created_at").first()
    return project or create_project(user=admin, name=DEFAULT_PROJECT)


def ensure_lanes(gpus: LocalGpus) -> int:
    """Create this machine's lanes. Without GPUs, CPU lanes do all work; with GPUs, they score rewards."""
    num_cpu_lanes = max(4, os.cpu_count() or 1)
    lanes = ensure_local_lanes(num_cpu_lanes=num_cpu_lanes, gpu_indices=gpus.indices, accelerator=gpus.accelerator)
    return len(lanes)
