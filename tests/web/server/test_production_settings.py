"""The settings that production gets from its environment satisfy Django's own checks of a deployment."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).resolve().parents[3]


def test_a_deployment_passes_djangos_checks(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "TANDEM_VAR": str(tmp_path),
        "SECRET_KEY": secrets.token_urlsafe(50),
        "TANDEM_PUBLIC_URL": "https://tandem.example.org",
        "DATABASE_URL": "postgres://tandem:password@db.example.org:5432/tandem",
        "REDIS_URL": "rediss://redis.example.org:6379/0",
        "RAY_ADDRESS": "http://head.example.org:8265",
    }
    checked = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.django_db
def test_what_djangos_checks_do_not_see_is_in_every_answer(client: Client) -> None:
    """`security.W002` is silenced, since it knows the middleware by the name of its class alone."""
    for path in ("/login", "/nowhere", "/admin/", "/api/v1/me", "/api/ingest/v1/bootstrap"):
        answer = client.get(path)
        assert answer.headers["X-Frame-Options"] == "DENY", path
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"], path
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
