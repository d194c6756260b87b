"""Checks before anything is started; each error says what to do."""

import shutil
from pathlib import Path

import psutil

from server.embedded.ports import is_free
from server.errors import CannotStartError

MIN_FREE_BYTES = 1 * 2**30
"""A demo run with its database, logs and Ray's session takes a few hundred MB."""


def check_folder(var: Path) -> None:
    """Check that the data folder can be created and written.

    Raises:
        CannotStartError: it cannot be.
    """
    probe = var / ".write-probe"
    try:
        var.mkdir(parents=True, exist_ok=True)
        probe.write_text("x")
        probe.unlink()
    except OSError as error:
        raise CannotStartError(
            f"The data folder {var} cannot be written ({error.strerror}). Make it writable, free space, or set"
            f" TANDEM_VAR to another folder."
        ) from error


def check_disk(folder: Path, min_free_bytes: int = MIN_FREE_BYTES) -> None:
    """Check that the disk of `folder` has enough free space.

    Raises:
        CannotStartError: it has too little.
    """
    free = shutil.disk_usage(folder).free
    if free < min_free_bytes:
        raise CannotStartError(
            f"Only {free / 2**30:.2f} GiB are free on the disk of {folder}; Tandem needs {min_free_bytes / 2**30:.1f}."
            f" Free some space, or point TANDEM_VAR at a larger disk."
        )


def check_port(port: int, host: str) -> None:
    """Check that the web port is free.

    Raises:
        CannotStartError: another process listens there.
    """
    if is_free(port, host):
        return
    owner = _listener(port)
    raise CannotStartError(
        f"Port {port} is busy{f': {owner} listens there' if owner else ''}. Stop that, or choose another port:"
        f" TANDEM_PORT={port + 1} make up (and another TANDEM_VAR for a second stack)."
    )


def _listener(port: int) -> str | None:
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return None
    for connection in connections:
        if (
            connection.status == psutil.CONN_LISTEN
            and connection.pid
            and connection.laddr
            and connection.laddr.port == port
        ):
            try:
                return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
            except psutil.Error:
                return f"process {connection.pid}"
    return None
