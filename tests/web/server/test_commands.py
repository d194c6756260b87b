"""`prepare` and `register_node`: what installations with their own servers run once."""

import io
import stat
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from fleet.models import Gpu, Lane
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


@pytest.mark.django_db
def test_a_registered_node_says_how_ray_is_started_there_and_may_be_changed() -> None:
    said = output_of("register_node", "gpu0", "--num-gpus", "2", "--num-cpu-lanes", "1")
    assert """--resources='{"tandem-gpu0-gpu-0": 1, "tandem-gpu0-gpu-1": 1}'""" in said
    assert set(Gpu.objects.values_list("resource", flat=True)) == {
        "tandem-gpu0-gpu-0",
        "tandem-gpu0-gpu-1",
    }
    output_of("register_node", "gpu0", "--num-gpus", "0", "--num-cpu-lanes", "0")
    assert not Lane.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("args", "message"), [(["a b"], "letters"), (["gpu0", "--num-gpus", "-1"], "must be ≥ 0")])
def test_a_node_that_cannot_be_is_refused(args: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        output_of("register_node", *args)
