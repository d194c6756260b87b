"""A real HTTP server that takes webhooks, and verifies them with another implementation of HMAC than the sender's."""

import base64
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.hmac import HMAC


@dataclass
class Receiver:
    url: str = ""
    status: int = 204
    answer: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    """Of the answer."""
    drip_seconds: float = 0.0
    """Where not 0: the answer comes byte by byte, one in this time."""
    taken: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    """Headers, in lower case, and body of each message."""

    def verified(self, secret: str) -> list[bytes]:
        """The bodies. Raises `InvalidSignature` for a message that the secret did not sign."""
        for headers, body in self.taken:
            assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
            if not any(_is_signed(secret, signature, headers, body) for signature in _signatures(headers)):
                raise InvalidSignature
        return [body for _, body in self.taken]

    @property
    def num_signatures(self) -> list[int]:
        """Of each message."""
        return [len(_signatures(headers)) for headers, _ in self.taken]


def _signatures(headers: Mapping[str, str]) -> list[str]:
    return headers["webhook-signature"].split(" ")


def _is_signed(secret: str, signature: str, headers: Mapping[str, str], body: bytes) -> bool:
    version, _, code = signature.partition(",")
    assert version == "v1"
    mac = HMAC(base64.b64decode(secret.split("_", 1)[1]), hashes.SHA256())
    mac.update(b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body]))
    try:
        mac.verify(base64.b64decode(code))
    except InvalidSignature:
        return False
    return True


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            for byte in receiver.answer:
                self.wfile.write(bytes([byte]))
                time.sleep(receiver.drip_seconds)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/take?key=1"
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
