"""Arrow streams as tables, where pyarrow is installed."""

from importlib.util import find_spec
from typing import Any

from tandem.errors import TandemError

ARROW = "application/vnd.apache.arrow.stream"


def reads_arrow() -> bool:
    """Whether DataFrames can be made of Arrow: pyarrow makes those of pandas."""
    return all(find_spec(package) for package in ("pyarrow", "pandas"))


def require_pyarrow() -> None:
    """Raises `TandemError` where pyarrow is not installed."""
    if not find_spec("pyarrow"):
        raise TandemError("this needs pyarrow: pip install 'tandem-client[arrow]'")


def arrow_table(stream: bytes) -> Any:
    """The `pyarrow.Table` of an IPC stream."""
    import pyarrow.ipc

    return pyarrow.ipc.open_stream(stream).read_all()
