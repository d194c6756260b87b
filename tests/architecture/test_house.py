"""The walls of the house that a file listing can check; imports are checked by import-linter."""

import ast
import re
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE_CEILING = 300
FUNCTION_CEILING = 50
CONVENTIONAL_NAMES = {
    *("__init__.py", "__main__.py", "base.py", "registry.py", "types.py", "errors.py"),
    *(
        "apps.py",
        "admin.py",
        "models.py",
        "selectors.py",
        "services.py",
        "tasks.py",
        "urls.py",
        "routing.py",
        "middleware.py",
    ),
    *("ingest_urls.py", "ingest_views.py"),
}
"""Names that say what a file is to its package, as Django's do."""
OF_ONE_SUBJECT = {
    "ingest.py": "the words of the ingest, and the service that speaks them",
    "pools.py": "the record of a pool, and its body over REST",
    "previews.py": "the words of a preview, and the service that speaks them",
    "service_accounts.py": "the service that makes them, and their body over REST",
    "gpu_tests.py": "the words of a test of a GPU, its record, and the service that speaks them",
    "demo.py": "the command, and what it does",
    "build.py": "builds a run's components, or the demo model",
}
"""File names that stand twice, with why."""
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


def test_long_files_are_worth_a_look() -> None:
    """A warning, since a file of 301 lines is no worse than one of 299: is there a seam to cut it at?"""
    long = {relative(p): n for p in python_files() if (n := len(p.read_text().splitlines())) > LINE_CEILING}
    if long:
        warnings.warn(f"files over {LINE_CEILING} lines: {long}", stacklevel=1)


def test_long_functions_are_worth_a_look() -> None:
    long: dict[str, int] = {}
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_CEILING:
                    long[f"{relative(path)}:{node.name}"] = length
    if long:
        warnings.warn(f"functions over {FUNCTION_CEILING} lines: {long}", stacklevel=1)


def test_a_file_name_means_one_thing() -> None:
    """Of `worker/` and `platform/`: a reader who searches for a name finds the file that is meant."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in python_files():
        parts = path.relative_to(ROOT).parts
        # REST's serializers and views mirror each other, and the emulated actors the real ones.
        is_mirror = parts[:3] == ("platform", "api", "views") or parts[:3] == ("worker", "engine", "emulated")
        if parts[0] in ("worker", "platform") and path.name not in CONVENTIONAL_NAMES and not is_mirror:
            by_name[path.name].append(relative(path))
    shared = {name: paths for name, paths in by_name.items() if len(paths) > 1 and name not in OF_ONE_SUBJECT}
    assert shared == {}


def test_there_is_no_module_called_utils() -> None:
    assert [relative(p) for p in tracked_files() if re.fullmatch(r"(utils?|helpers?|misc)\.(py|ts|tsx)", p.name)] == []


def test_nothing_generated_is_committed() -> None:
    forbidden = {"var", ".venv", "node_modules", "__pycache__"}
    assert [relative(p) for p in tracked_files() if forbidden & set(p.relative_to(ROOT).parts)] == []


@pytest.mark.parametrize("folder", ["platform", "worker"])
def test_every_module_has_a_docstring(folder: str) -> None:
    silent = [
        relative(path)
        for path in python_files()
        if path.relative_to(ROOT).parts[0] == folder
        and path.stat().st_size
        and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_only_the_devices_package_of_the_engine_names_vendors() -> None:
    """Cards of different vendors are distinguished there; elsewhere devices come through DeepSpeed's accelerator
    interface."""
    vendors = re.compile(r"nvidia|cuda|cudnn|cublas|rocm|\bhip\b|HIP_|ascend_|\bascend npu|\bamd\b", re.IGNORECASE)
    engine = ROOT / "worker" / "engine"
    guilty = [
        relative(path)
        for path in python_files()
        if path.is_relative_to(engine)
        and not path.is_relative_to(engine / "devices")
        and vendors.search(path.read_text())
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
