"""A TCP link between drivers and the web that can be cut without a word: connections stay open and nothing passes.

The stack's drivers reach the web at this link's address, since that is its public URL. Celery's own probe of the web
takes the same address, and is not a driver: what it sends passes while the link is cut, as it would where a network
parts the cluster from the web.
"""

import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import psutil

from tests.e2e.stack import free_port

CHUNK_BYTES = 1 << 16
LOOK_SECONDS = 0.1
"""How often a link that carries nothing looks whether it was cut, mended or closed."""


@dataclass(slots=True)
class CutLink:
    port: int
    web_port: int
    driver_pid: Callable[[], int | None]
    """The process whose connections a cut silences."""
    is_cut: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, ended: Event) -> None:
        """Pass connections on until `ended` is set."""
        with socket.create_server(("127.0.0.1", self.port), backlog=64) as listener:
            listener.settimeout(LOOK_SECONDS)
            while not ended.is_set():
                try:
                    client, address = listener.accept()
                except TimeoutError:
                    continue
                Thread(target=self._pass_on, args=(client, address[1], ended), daemon=True).start()

    def _pass_on(self, client: socket.socket, client_port: int, ended: Event) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.web_port), timeout=5)
        except OSError:
            client.close()
            return
        with client, server, selectors.DefaultSelector() as both:
            both.register(client, selectors.EVENT_READ, server)
            both.register(server, selectors.EVENT_READ, client)
            silenced: bool | None = None
            while not ended.is_set():
                if self.is_cut:
                    silenced = self._is_drivers(client_port) if silenced is None else silenced
                    if silenced:
                        ended.wait(LOOK_SECONDS)
                        continue
                for key, _ in both.select(LOOK_SECONDS):
                    try:
                        data = key.fileobj.recv(CHUNK_BYTES)  # type: ignore[union-attr]
                        key.data.sendall(data)
                    except OSError:
                        return
                    if not data:
                        return

    def _is_drivers(self, client_port: int) -> bool:
        pid = self.driver_pid()
        if pid is None:
            return False
        try:
            connections = psutil.Process(pid).net_connections("tcp")
        except psutil.NoSuchProcess:
            return False
        return any(connection.laddr.port == client_port for connection in connections)


@contextmanager
def link_to_web(web_port: int, driver_pid: Callable[[], int | None]) -> Iterator[CutLink]:
    """A link to the web on `web_port` for the length of the block."""
    link, ended = CutLink(free_port(), web_port, driver_pid), Event()
    thread = Thread(target=link.serve, args=(ended,), daemon=True)
    thread.start()
    try:
        yield link
    finally:
        ended.set()
        thread.join()
