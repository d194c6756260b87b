"""`prepare`: what installations with their own servers run once."""

import io
import stat
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import User
from server import environment


def output_of(name: str, *args: str) -> str:
    out = io.StringIO()
    call_command(name, *args, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_prepare_makes_one_admin_whose_password_is_kept_and_not_logged(tandem_var: Path) -> None:
    assert tandem_var == environment.VAR
    said = output_of("prepare")
    kept = tandem_var / "admin-password"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    admin = User.objects.get(is_superuser=True)
    password = kept.read_text().strip()
    assert admin.check_password(password)
    assert password not in said
    assert admin.projects.count() == 1
    assert output_of("prepare") == "Ready to serve.\n"
    assert User.objects.count() == admin.projects.count() == 1
