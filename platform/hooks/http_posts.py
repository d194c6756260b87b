"""Posts a message to a webhook's URL: to public hosts alone, without redirects, within a bounded time."""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from hooks.models import MAX_ANSWER_CHARS
from worker.outbound.outbound_guard import connect

MAX_SECONDS = 10.0
"""For the whole of a post. Standard Webhooks recommends 15 to 30 s; a receiver should answer before it works, and a
slow one holds up the messages of others for so long."""
SETTING = "TANDEM_WEBHOOK_HOSTS"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one try."""

    is_delivered: bool
    milliseconds: int
    answer: str
    """The beginning of the answer, or why there is none."""
    status: int | None = None


def post(url: str, body: bytes, headers: Mapping[str, str], *, max_seconds: float = MAX_SECONDS) -> Outcome:
    """Post once. Whatever goes wrong is in the outcome; any 2xx is a delivery."""
    begun = time.monotonic()
    connection = _connection(url, max_seconds)
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    status: int | None = None
    try:
        connection.request("POST", target, body, dict(headers))
        response = connection.getresponse()
        status = response.status
        answer = response.read(MAX_ANSWER_CHARS).decode(errors="replace").replace("\x00", "�")
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = f"no whole answer within {max_seconds:g} s"
        answer = late if connection.is_late or isinstance(error, TimeoutError) else str(error) or type(error).__name__
    finally:
        connection.end()
    return Outcome(
        is_delivered=status is not None and 200 <= status < 300,
        milliseconds=round((time.monotonic() - begun) * 1000),
        answer=answer[:MAX_ANSWER_CHARS],
        status=status,
    )


class _BoundedConnection(http.client.HTTPConnection):
    """A connection through `worker.outbound` that is shut when its time is over.

    A socket's timeout bounds each read alone, and a receiver that sends a byte now and then would hold it for days.
    """

    def __init__(self, host: str, port: int, *, tls: ssl.SSLContext | None, max_seconds: float) -> None:
        super().__init__(host, port, timeout=max_seconds)
        self.default_port = 443 if tls else 80
        self.is_late = False
        self._tls = tls
        self._max_seconds = max_seconds
        self._timer: threading.Timer | None = None

    def connect(self) -> None:
        begun = time.monotonic()
        opened = connect(
            self.host,
            self.port,
            allowed_hosts=settings.TANDEM_WEBHOOK_HOSTS,
            setting=SETTING,
            timeout_seconds=self._max_seconds,
        )
        if self._tls is None:
            self.sock = opened
        else:
            self.sock = self._tls.wrap_socket(opened, server_hostname=self.host, do_handshake_on_connect=False)
        self._timer = threading.Timer(self._max_seconds - (time.monotonic() - begun), self._shut, [self.sock])
        self._timer.daemon = True
        self._timer.start()
        if isinstance(self.sock, ssl.SSLSocket):
            self.sock.do_handshake()

    def end(self) -> None:
        """Close, and let the clock go. Not in `close`, which is called before an answer is read that ends with the
        connection."""
        if self._timer is not None:
            self._timer.cancel()
        self.close()

    def _shut(self, opened: socket.socket) -> None:
        self.is_late = True
        with suppress(OSError):
            # The plain socket's: an SSL socket's would forget its session while another thread reads.
            socket.socket.shutdown(opened, socket.SHUT_RDWR)


def _connection(url: str, max_seconds: float) -> _BoundedConnection:
    parts = urlsplit(url)
    tls = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if tls else 80)
    return _BoundedConnection(parts.hostname or "", port, tls=tls, max_seconds=max_seconds)
