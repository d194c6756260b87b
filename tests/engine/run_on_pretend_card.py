"""`python -m tests.engine.run_on_pretend_card MODULE ARGUMENT…` runs a module of the kit as `python -m` does, on
pretended cards and tiny shapes; so do the Python processes that it starts, since their interpreter is `SCRIPT`.

Stages have as long as they take: seconds mean nothing here.
"""

import runpy
import sys
from pathlib import Path
from unittest.mock import patch

from tests.bench.gpu import bench_shapes
from tests.bench.gpu.stage_budgets import BUDGETS
from tests.engine.gpu_bench.conftest import QUICK
from tests.engine.pretend_card import pretend

SCRIPT = Path(__file__).with_name("pretended_python.sh")
"""Stands for the interpreter: `-m MODULE` becomes a call of this module."""
PYTHON = "PRETENDED_PYTHON"
"""The environment variable that names the interpreter behind it."""
STAGE_SECONDS = 800.0


def main(module: str, arguments: list[str]) -> None:
    budgets = {name: (title, STAGE_SECONDS) for name, (title, _) in BUDGETS.items()}
    patches = patch.object(bench_shapes, "shapes_for", lambda device: QUICK), patch.dict(BUDGETS, budgets)
    with pretend(), patches[0], patches[1]:
        sys.executable = str(SCRIPT)
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
