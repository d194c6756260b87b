"""What `fork_launch` asks the server for: the process that it would have become, sent over a Unix socket."""

import json
import os
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

STANDARD_STREAMS = (0, 1, 2)
END = b"\n"
"""JSON writes a line end within a string as an escape, so this ends the request."""
NUM_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequest:
    """A Python program to run in a fork."""

    arguments: tuple[str, ...]
    """As `sys.argv`: the program's path first."""
    environment: dict[str, str]
    folder: str
    """Where it runs."""

    @classmethod
    def of_this_process(cls, arguments: Sequence[str]) -> "ForkRequest":
        return cls(arguments=tuple(arguments), environment=dict(os.environ), folder=str(Path.cwd()))

    def send(self, connection: socket.socket) -> None:
        """Send the request with this process's standard streams."""
        document = json.dumps(asdict(self)).encode() + END
        sent = socket.send_fds(connection, [document], STANDARD_STREAMS)
        connection.sendall(document[sent:])


def receive(connection: socket.socket) -> tuple[ForkRequest, list[int]]:
    """The request of a connection, and the descriptors of its standard streams, which the caller closes.

    Raises:
        ConnectionError: when the connection ends before the request does.
    """
    document, streams, _, _ = socket.recv_fds(connection, NUM_BYTES, len(STANDARD_STREAMS))
    while not document.endswith(END):
        more = connection.recv(NUM_BYTES)
        if not more:
            for stream in streams:
                os.close(stream)
            raise ConnectionError("the connection ended within a request")
        document += more
    fields = json.loads(document)
    return ForkRequest(**{**fields, "arguments": tuple(fields["arguments"])}), streams
