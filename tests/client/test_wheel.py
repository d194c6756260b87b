"""The package that users install: it needs nothing of the repository."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CLIENT = Path(__file__).resolve().parents[2] / "deploy" / "client"
SERVER_PACKAGES = ("worker", "runs", "server")


def run(*argv: str | Path, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TANDEM_", "DJANGO_"))}
    finished = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, check=False, env={**environment, "COLUMNS": "120"}
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh virtual environment with the wheel; its dependencies come from this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(CLIENT, folder / "source")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, folder=source)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "environment", folder=folder)
    python = folder / "environment" / "bin" / "python"
    install = ("pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    run(sys.executable, "-m", "uv", *install[:2], "--offline", *install[2:], "--python", python, folder=folder)
    (site_packages,) = (folder / "environment" / "lib").glob("python*/site-packages")
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python.parent


def test_the_installed_command_knows_its_version_and_its_commands(installed: Path) -> None:
    assert run(installed / "tandem", "--version", folder=installed) == "tandem 0.1.0\n"
    listed = run(installed / "tandem", "runs", "--help", folder=installed)
    missing = [name for name in ("create", "list", "logs", "fork", "compare", "download") if name not in listed]
    assert missing == []


def loaded(installed: Path, imports: str) -> set[str]:
    """The names of all modules, whole and by their first part, that `import imports` loads."""
    program = f"import sys, {imports}; print(*sys.modules)"
    names = run(installed / "python", "-c", program, folder=installed).split()
    return {*names, *(name.partition(".")[0] for name in names)}


def test_the_package_loads_no_part_of_the_server(installed: Path) -> None:
    modules = loaded(installed, "tandem.cli.main, tandem.synchronous.client")
    assert "httpx" in modules
    assert modules & {"torch", "django", "ray", *SERVER_PACKAGES} == set()


def test_help_loads_neither_httpx_nor_the_models(installed: Path) -> None:
    modules = loaded(installed, "tandem.cli.main")
    assert "typer" in modules
    assert modules & {"httpx", "pydantic", "tandem.rest_models"} == set()
