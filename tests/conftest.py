"""One PostgreSQL and one Valkey for the whole test session, started when the first test needs them.

The environment is set here, before Django reads its settings: `pyproject.toml` names no settings module, because
pytest-django would then import the settings before this file. Folders whose tests touch Django call `django.setup()`
at the top of their own conftest; the others neither wait for it nor break with it.
"""

import gc
import os
import secrets
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

VAR = Path(tempfile.mkdtemp(prefix="tandem-test-"))
# The developer's own servers must never be reached, let alone be written to, by a test.
for name in ("DATABASE_URL", "REDIS_URL", "RAY_ADDRESS", "TANDEM_PUBLIC_URL", "TANDEM_ARTIFACTS", "TANDEM_CHECKPOINTS"):
    os.environ.pop(name, None)
os.environ |= {
    "TANDEM_VAR": str(VAR),
    "TANDEM_EMBEDDINGS": str(VAR / "embeddings"),
    "SECRET_KEY": "only for tests",
    "DJANGO_SETTINGS_MODULE": "server.settings",
    "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    # One Ray on the machine must not report home, nor wait for a terminal.
    "RAY_USAGE_STATS_ENABLED": "0",
    # As in the real stack. Ray reads these once, whichever test imports it first.
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(16),
    # As in jobs, `runs.cluster.NAME_LOOKUPS`: groups are formed in this process, too.
    "RES_OPTIONS": "timeout:1 attempts:2",
    # Ray's own are 15, with which lanes hardly get a core beside other tests.
    "RAY_worker_niceness": "0",
}
(VAR / "static").mkdir()
# Nothing here is a test of speed: on a busy machine the first example alone may take long.
settings.register_profile("tandem", deadline=None)
settings.load_profile("tandem")


def pytest_runtest_setup() -> None:
    """Leave out of garbage collections what outlives the test, as a lane does after loading: looking at torch and its
    libraries again and again took three quarters of the seconds of the engine's tests."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    shutil.rmtree(VAR, ignore_errors=True)


@pytest.fixture(scope="session")
def tandem_var() -> Path:
    """The session's data folder."""
    return VAR


@pytest.fixture(scope="session")
def embedded_servers() -> Iterator[None]:
    """PostgreSQL and Valkey. Tests with `django_db` get them by themselves; a test that only uses Redis asks."""
    from server.embedded.folders import runtime_folder
    from server.embedded.local_servers import database_and_broker

    try:
        with database_and_broker(VAR):
            yield
    finally:
        shutil.rmtree(runtime_folder(VAR), ignore_errors=True)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(embedded_servers: None) -> None:
    """pytest-django's hook before it makes the test database."""
    from django.conf import settings

    from accounts import wrong_secrets

    # A slow hash protects real passwords; tests only log in.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # All tests come from one address. Those of the limit set one.
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login": None}
    wrong_secrets.MAX_WRONG = sys.maxsize


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The time budget: seconds and number of tests per folder."""
    seconds: defaultdict[str, float] = defaultdict(float)
    num_tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in (each for each in reports if isinstance(each, pytest.TestReport)):
            folder = "/".join(Path(report.nodeid.partition("::")[0]).parts[:-1])
            seconds[folder] += report.duration
            num_tests[folder] += report.when == "call"
    if seconds:
        terminalreporter.section("seconds and tests per folder")
    for folder, total in sorted(seconds.items(), key=lambda item: -item[1]):
        terminalreporter.write_line(f"{total:8.1f} s  {num_tests[folder]:5d}  {folder}")
