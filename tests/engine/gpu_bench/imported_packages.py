"""The third-party packages that code of this tree imports, found by reading it, and what packages require."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]
OWN = ("tests", "worker")


def third_party_imports(files: Iterable[Path], *, in_functions: bool) -> dict[str, Path]:
    """The top-level modules that `files`, and what of this tree they import, import: each with a file that does.

    Args:
        files: where the search begins.
        in_functions: count imports that only a call makes, too.
    """
    waiting, seen, found = list(files), set[Path](), dict[str, Path]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in _imports(_parsed(file), in_functions=in_functions):
            top = name.partition(".")[0]
            if top in OWN:
                waiting += _files_of(name)
            elif top not in sys.stdlib_module_names:
                found.setdefault(top, file)
    return found


def with_requirements(names: Iterable[str]) -> set[str]:
    """Packages of these names and all that they require on this machine, as far as it is installed."""
    waiting, found = [normal_name(name) for name in names], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += requirements(name)
    return found


def requirements(name: str) -> list[str]:
    """What a package requires without extras; nothing where it is not installed."""
    try:
        wanted = [Requirement(line) for line in requires(name) or ()]
    except PackageNotFoundError:
        return []
    return [normal_name(each.name) for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]


def normal_name(name: str) -> str:
    """A package's name as indexes write it."""
    return re.sub("[-_.]+", "-", name).lower()


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _imports(node: ast.AST, *, in_functions: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            # A name that is imported may be a module itself.
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif in_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(child, in_functions=in_functions)


def _files_of(name: str) -> list[Path]:
    """The files that importing a module of this tree runs: its own, and those of the packages around it."""
    parts = name.split(".")
    places = [ROOT.joinpath(*parts[:number]) for number in range(1, len(parts) + 1)]
    return [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]
