"""Keeps out what libraries import wherever it is installed, and no part of the engine uses."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

UNWANTED = ("mlflow",)
"""DeepSpeed's autotuner imports MLflow, which is installed where the web mirrors runs to it, and with it polars, pandas
and FastAPI: a quarter of the CPU seconds, and of the memory, of loading a lane."""


@contextmanager
def without_unwanted_imports() -> Iterator[None]:
    """Within the block, importing one of `UNWANTED` fails as if it were not installed. Afterwards a scorer of the
    user's can import it; what is imported already stays."""
    kept_out = [name for name in UNWANTED if name not in sys.modules]
    # `None` is what the import system takes for "raise ModuleNotFoundError".
    sys.modules.update(dict.fromkeys(kept_out))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in kept_out:
            del sys.modules[name]
