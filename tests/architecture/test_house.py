"""The walls of the house that a file listing can check; imports are checked by import-linter."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE_CEILING = 400
FUNCTION_CEILING = 50
ROOT_FILES = {"manage.py", "README.md", "pyproject.toml", "Makefile", "CHANGELOG.md", "LICENSE"}
ROOT_FOLDERS = {"platform", "worker", "frontend", "templates", "migrations", "deploy", "tests"}


def tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listing.splitlines() if (ROOT / line).exists()]


def python_files() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".py" and "migrations" not in path.parts]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_root_holds_nothing_else() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked_files()}
    assert {name for name in names if not name.startswith(".")} <= ROOT_FILES | ROOT_FOLDERS


def test_platform_does_not_shadow_the_standard_library() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()


def test_no_file_is_longer_than_the_ceiling() -> None:
    long = {relative(p): n for p in python_files() if (n := len(p.read_text().splitlines())) > LINE_CEILING}
    assert long == {}


def test_no_function_is_longer_than_the_ceiling() -> None:
    long: dict[str, int] = {}
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_CEILING:
                    long[f"{relative(path)}:{node.name}"] = length
    assert long == {}


def test_there_is_no_drawer_called_utils() -> None:
    assert [relative(p) for p in tracked_files() if re.fullmatch(r"(utils?|helpers?|misc)\.(py|ts|tsx)", p.name)] == []


def test_nothing_generated_is_committed() -> None:
    forbidden = {"var", ".venv", "node_modules", "__pycache__"}
    assert [relative(p) for p in tracked_files() if forbidden & set(p.relative_to(ROOT).parts)] == []


@pytest.mark.parametrize("folder", ["platform", "worker"])
def test_every_module_says_what_it_is(folder: str) -> None:
    silent = [
        relative(path)
        for path in python_files()
        if path.relative_to(ROOT).parts[0] == folder
        and path.stat().st_size
        and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_the_engine_names_no_accelerator_vendor() -> None:
    """Devices come through DeepSpeed's accelerator interface; a bare "cuda" would tie the engine to one vendor."""
    bare = re.compile(r"""["']cuda(:\d+)?["']|torch\.cuda|\.cuda\(\)""")
    guilty = [
        relative(path)
        for path in python_files()
        if path.is_relative_to(ROOT / "worker") and bare.search(path.read_text())
    ]
    assert guilty == []


def test_no_import_of_torch_or_ray_when_the_contracts_load() -> None:
    program = (
        "import sys\n"
        "from worker.contracts import run_spec, events, commands, ingest, metric_names, task_names\n"
        "heavy = {'torch', 'ray', 'django', 'numpy', 'diffusers'} & set(sys.modules)\n"
        "raise SystemExit(f'loaded {heavy}' if heavy else 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
