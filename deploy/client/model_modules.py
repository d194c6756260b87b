"""Shares the generated models out over modules of a readable length."""

import ast
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

RUFF = Path(sys.executable).parent / "ruff"
PACKAGE = "tandem.rest_models"


def write_modules(source: str, answers: Mapping[str, Sequence[str]], folder: Path, header: str) -> None:
    """`source`, one module of models, as the modules of the package in `folder`: each of `answers` is in its own, and
    a model that it needs in the first module that needs it. The package itself has all their names."""
    tree = ast.parse(source)
    models = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    imports = "".join(f"{ast.unparse(node)}\n" for node in tree.body if isinstance(node, ast.ImportFrom))
    lines = source.splitlines()
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    earlier = ""
    names: list[str] = []
    for module, own in _shares(models, answers).items():
        bodies = ["\n".join(lines[models[name].lineno - 1 : models[name].end_lineno]) for name in own]
        (folder / f"{module}.py").write_text("\n\n".join((header, imports + earlier, *bodies)) + "\n")
        earlier += f"from {PACKAGE}.{module} import {', '.join(own)}\n"
        names += own
    (folder / "__init__.py").write_text(f"{header}\n\n{earlier}\n__all__ = {sorted(names)!r}\n")
    # Takes out of each module the imports that it has no use for.
    subprocess.run([RUFF, "check", "--quiet", "--no-cache", "--select", "F401,I", "--fix", folder], check=True)
    subprocess.run([RUFF, "format", "--quiet", "--no-cache", folder], check=True)


def _shares(models: Mapping[str, ast.ClassDef], answers: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The names of each module's models, in the order of `models`, in which none stands before what it needs."""
    needs = {
        name: {node.id for node in ast.walk(model) if isinstance(node, ast.Name)} & models.keys() - {name}
        for name, model in models.items()
    }
    waiting = set(models)
    shares: dict[str, list[str]] = {}
    for module, own in answers.items():
        reached: set[str] = set()
        following = set(own)
        while following:
            reached |= following
            following = set().union(*(needs[name] for name in following)) - reached
        shares[module] = [name for name in models if name in reached & waiting]
        waiting -= reached
    return shares
