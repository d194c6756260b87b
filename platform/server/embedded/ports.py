"""Explicit ports for a stack: the web's is `TANDEM_PORT`, Ray's are a block of 200 derived from it.

Invariant: blocks lie between 10000 and 32000, below the kernel's ephemeral ports, and two stacks on one machine never
share one: a block with a busy port is skipped.
"""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from server.errors import CannotStartError

FIRST_PORT = 10_000
BLOCK_SIZE = 200
NUM_BLOCKS = 110
NUM_SERVICE_PORTS = 10


class PortError(CannotStartError):
    """A port is taken, or no block is free."""


@dataclass(frozen=True, slots=True)
class RayPorts:
    """The ports of one local Ray head, counted from the block's first."""

    base: int

    @property
    def gcs(self) -> int:
        return self.base

    @property
    def dashboard(self) -> int:
        return self.base + 1

    @property
    def agent_listen(self) -> int:
        return self.base + 2

    @property
    def agent_grpc(self) -> int:
        return self.base + 3

    @property
    def runtime_env_agent(self) -> int:
        return self.base + 4

    @property
    def metrics(self) -> int:
        return self.base + 5

    @property
    def node_manager(self) -> int:
        return self.base + 6

    @property
    def object_manager(self) -> int:
        return self.base + 7

    @property
    def reservation(self) -> int:
        """The port that `up` binds while it runs, so that two stacks that start at once cannot choose the same
        block."""
        return self.base + 8

    @property
    def workers(self) -> tuple[int, int]:
        """First and last port for workers and drivers; each process takes one."""
        return self.base + NUM_SERVICE_PORTS, self.base + BLOCK_SIZE - 1


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now; lingering connections of an ended server do not count."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            if error.errno not in {errno.EADDRINUSE, errno.EACCES, errno.EPERM}:
                raise
            return False
    return True


@contextmanager
def reserved_ray_ports(web_port: int) -> Iterator[RayPorts]:
    """The block for `web_port`, or the next free one, reserved within the `with` block.

    Raises:
        PortError: every block has a busy port.
    """
    for offset in range(NUM_BLOCKS):
        ports = RayPorts(FIRST_PORT + (web_port + offset) % NUM_BLOCKS * BLOCK_SIZE)
        if ports.base <= web_port < ports.base + BLOCK_SIZE:
            continue
        with socket.socket() as reservation:
            if _reserve(reservation, ports):
                yield ports
                return
    last = FIRST_PORT + NUM_BLOCKS * BLOCK_SIZE - 1
    raise PortError(f"No {BLOCK_SIZE} neighbouring ports are free for Ray between {FIRST_PORT} and {last}.")


def _reserve(reservation: socket.socket, ports: RayPorts) -> bool:
    try:
        # Without SO_REUSEADDR the kernel gives the port to a single socket.
        reservation.bind(("127.0.0.1", ports.reservation))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    # Ray's servers bind to every address, whatever node address they are given.
    return all(is_free(port, "0.0.0.0") for port in range(ports.base, ports.reservation))
