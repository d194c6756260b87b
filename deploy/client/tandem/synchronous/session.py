# Written by `generate.py` from `asynchronous/session.py`.
"""Requests to one server: repeated where that is safe, with its refusals as exceptions."""

import hashlib
import logging
from time import sleep
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tandem.errors import ApiError, ChecksumMismatch, Unreachable, refusal
from tandem.protocol import inline_bytes, local_path, query_of, request_headers, wait_before_repeat

logger = logging.getLogger("tandem")


class Session:
    """A server's address, a token, and the connections."""

    def __init__(self, url: str, token: str, timeout: float, transport: httpx.BaseTransport | None) -> None:
        self._url = url
        self._token = token
        self._http = httpx.Client(base_url=url, timeout=timeout, transport=transport)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """The decoded answer; parameters that are None are left out."""
        return self._decoded("GET", path, query=query)

    def post(self, path: str, body: Any) -> Any:
        return self._decoded("POST", path, body=body)

    def delete(self, path: str) -> None:
        self._answer(self._request("DELETE", path))

    def items(self, path: str, **query: Any) -> Iterator[Any]:
        """What stands on all pages, each page read when it is reached."""
        page = self.get(path, **query)
        while True:
            for item in page["results"]:
                yield item
            if page["next"] is None:
                return
            page = self.get(local_path(page["next"]))

    def download(self, address: str, target: Path, sha256: str = "") -> Path:
        """Write what stands at `address` into the file `target`, which is complete or not there.

        Raises:
            ChecksumMismatch: it has another SHA-256 than `sha256`.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        if (content := inline_bytes(address)) is not None:
            target.write_bytes(content)
            return target
        part = target.with_name(f"{target.name}.part")
        digest = hashlib.sha256()
        response = self._answer(self._request("GET", local_path(address)), is_read=False)
        try:
            with part.open("wb") as file:
                for chunk in response.iter_bytes():
                    digest.update(chunk)
                    file.write(chunk)
            if sha256 and digest.hexdigest() != sha256:
                raise ChecksumMismatch(f"{target.name} has the SHA-256 {digest.hexdigest()}, announced was {sha256}")
            part.replace(target)
        except httpx.TransportError as error:
            raise Unreachable(f"the connection broke while {target.name} was read: {error}") from error
        finally:
            part.unlink(missing_ok=True)
            response.close()
        return target

    def _request(self, method: str, path: str, *, query: Any = None, body: Any = None) -> httpx.Request:
        return self._http.build_request(
            method,
            path,
            # None leaves the parameters of `path` as they are.
            params=query_of(query) if query else None,
            json=body,
            headers=request_headers(method, self._token),
        )

    def _decoded(self, method: str, path: str, *, query: Any = None, body: Any = None) -> Any:
        response = self._answer(self._request(method, path, query=query, body=body))
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError as error:
            kind = response.headers.get("Content-Type", "something without a type")
            raise Unreachable(f"{self._url} answered with {kind}, not JSON: is it Tandem's address?") from error

    def _answer(self, request: httpx.Request, *, is_read: bool = True) -> httpx.Response:
        """The answer, of which `is_read` reads the body."""
        repeats = 0
        while True:
            failure = self._sent(request, is_read)
            if isinstance(failure, httpx.Response):
                return failure
            status = failure.status if isinstance(failure, ApiError) else None
            retry_after = failure.retry_after if isinstance(failure, ApiError) else None
            wait = wait_before_repeat(request.method, repeats, status, retry_after)
            if wait is None:
                raise failure
            repeats += 1
            logger.warning("%s %s: %s; again in %.1f s", request.method, request.url.path, failure, wait)
            sleep(wait)

    def _sent(self, request: httpx.Request, is_read: bool) -> httpx.Response | ApiError | Unreachable:
        """The answer, or what went wrong."""
        try:
            response = self._http.send(request, stream=True)
            if is_read or not response.is_success:
                response.read()
        except httpx.TransportError as error:
            return Unreachable(f"{self._url} cannot be reached: {error or type(error).__name__}")
        if response.is_redirect:
            target = response.headers.get("Location", "elsewhere")
            raise Unreachable(f"{self._url} redirects to {target}: sign in with that address")
        return response if response.is_success else refusal(response)
