"""An HTTP proxy for tools that open connections of their own: it lets them reach what `worker.outbound` allows.

It listens on this machine, for as long as its block, and asks for a password that only its user is told.
"""

import base64
import hmac
import secrets
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

from worker.outbound.outbound_guard import AddressRefused, connect

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 120.0
"""After which a connection that is silent both ways is closed: longer than any tool waits for an answer."""
MAX_HEAD_LINE = 65_536
"""Bytes of a line of a request's head, as in Python's own server."""
CHUNK_BYTES = 65_536
OWN_ANSWER = "Proxy-Status"
"""The header (RFC 9209) of what the proxy answers itself, so that nobody takes it for the server's."""


@contextmanager
def outbound_proxy(*, allowed_hosts: Collection[str], setting: str) -> Iterator[str]:
    """The proxy's URL, with its password."""
    password = secrets.token_urlsafe(24)
    rules = _Rules(allowed_hosts, setting, "Basic " + base64.b64encode(f"tandem:{password}".encode()).decode())
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.rules = rules
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="outbound-proxy", daemon=True)
        thread.start()
        try:
            yield f"http://tandem:{password}@127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True, slots=True)
class _Rules:
    allowed_hosts: Collection[str]
    setting: str
    authorization: str


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    rules: _Rules


class _Handler(StreamRequestHandler):
    """One connection: a tunnel (CONNECT), or one request in plain HTTP, after which it is closed."""

    timeout = IDLE_SECONDS
    server: _Server

    def handle(self) -> None:
        with suppress(OSError, ValueError):
            self._handle()

    def _handle(self) -> None:
        method, target, version = self.rfile.readline(MAX_HEAD_LINE).decode("latin-1").split()
        headers = self._headers()
        given = headers.pop("proxy-authorization", ("", ""))[1]
        if not hmac.compare_digest(given.encode(), self.server.rules.authorization.encode()):
            self._refuse(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, "this proxy asks for a password")
            return
        is_tunnel = method == "CONNECT"
        parts = urlsplit(f"//{target}" if is_tunnel else target)
        port = parts.port or 80
        try:
            upstream = self._connected(parts.hostname or "", port)
        except AddressRefused as error:
            self._refuse(HTTPStatus.FORBIDDEN, str(error))
            return
        except OSError as error:
            self._refuse(HTTPStatus.BAD_GATEWAY, f"{parts.hostname}: {error}")
            return
        with upstream:
            upstream.settimeout(IDLE_SECONDS)
            if is_tunnel:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                # So that the next request, perhaps to another host, comes over another connection.
                headers["connection"] = ("Connection", "close")
                headers.pop("proxy-connection", None)
                lines = [f"{method} {path} {version}", *(f"{name}: {value}" for name, value in headers.values())]
                upstream.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            self._relay(upstream)

    def _headers(self) -> dict[str, tuple[str, str]]:
        """By lower-case name, as they were written."""
        found = {}
        while line := self.rfile.readline(MAX_HEAD_LINE).decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(":")
            found[name.lower()] = (name, value.strip())
        return found

    def _connected(self, host: str, port: int) -> socket.socket:
        rules = self.server.rules
        return connect(
            host, port, allowed_hosts=rules.allowed_hosts, setting=rules.setting, timeout_seconds=CONNECT_SECONDS
        )

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """The reason stands in the status line too, which is all that tools show of a tunnel that was refused."""
        line = " ".join(why.split())[:300]
        body = why.encode()
        fields = [f"{OWN_ANSWER}: tandem", f"Content-Length: {len(body)}", "Connection: close"]
        head = "\r\n".join([f"HTTP/1.1 {status.value} {line}", *fields, "", ""])
        self.wfile.write(head.encode("latin-1", "replace") + body)

    def _relay(self, upstream: socket.socket) -> None:
        """Both ways until the server ends its side, or the tool both."""
        upwards = threading.Thread(target=self._send_up, args=(upstream,), daemon=True)
        upwards.start()
        with suppress(OSError):
            while data := upstream.recv(CHUNK_BYTES):
                self.wfile.write(data)
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        upwards.join()

    def _send_up(self, upstream: socket.socket) -> None:
        with suppress(OSError, ValueError):
            while data := self.rfile.read1(CHUNK_BYTES):
                upstream.sendall(data)
        with suppress(OSError):
            upstream.shutdown(socket.SHUT_WR)
