"""The real application behind a real socket, on the test's own database connection.

Programs of other processes reach it; what they do is rolled back with the test. One request is served at a time, and
the test takes its turns by `alone`, since a connection holds one transaction.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from django.core.wsgi import get_wsgi_application
from django.db import connections

WAIT_SECONDS = 10.0


class Served:
    """The application's address, and turns for the test."""

    def __init__(self) -> None:
        self.url = ""
        self.alone = threading.RLock()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Look, between requests, until it is so."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            with self.alone:
                if is_so():
                    return
            time.sleep(0.02)
        raise AssertionError(f"not so after {WAIT_SECONDS:.0f} s")


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Served]:
    served, application, shared = Served(), get_wsgi_application(), connections["default"]

    def answer(environ: Any, start_response: Any) -> Any:
        with served.alone:
            return application(environ, start_response)

    def serve() -> None:
        connections["default"] = shared
        server.serve_forever(poll_interval=0.02)

    server = make_server("127.0.0.1", 0, answer, handler_class=_Quiet)
    served.url = f"http://127.0.0.1:{server.server_port}"
    shared.inc_thread_sharing()
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        shared.dec_thread_sharing()
