"""Requests to one server: repeated where that is safe, with its refusals as exceptions."""

import hashlib
import logging
from asyncio import sleep
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import httpx

from tandem.errors import ApiError, ChecksumMismatch, Unreachable, refusal
from tandem.protocol import (
    MAX_REPEATS,
    PATIENT_REPEATS,
    RANGE_NOT_SATISFIABLE,
    goes_on,
    inline_bytes,
    is_rest,
    local_path,
    query_of,
    request_headers,
    sent_token,
    wait_before_repeat,
)

logger = logging.getLogger("tandem")


class Session:
    """A server's address, a token, and the connections."""

    def __init__(self, url: str, token: str, timeout: float, transport: httpx.AsyncBaseTransport | None) -> None:
        self._url = url
        self._token = sent_token(token)
        self._num_waiting = 0
        """How many wait for something long."""
        self._http = httpx.AsyncClient(base_url=url, timeout=timeout, transport=transport)

    async def aclose(self) -> None:
        await self._http.aclose()

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Meanwhile requests are repeated for as long as it takes to replace a server."""
        self._num_waiting += 1
        try:
            yield
        finally:
            self._num_waiting -= 1

    async def get(self, path: str, **query: Any) -> Any:
        """The decoded answer; parameters that are None are left out."""
        return await self._decoded("GET", path, query=query)

    async def read(self, path: str, media_type: str, **query: Any) -> bytes:
        """The bytes of the answer in that format; parameters that are None are left out."""
        headers = {"Accept": media_type}
        return (await self._answer(self._request("GET", path, query=query, headers=headers))).content

    async def tagged(self, method: str, path: str, *, body: Any = None, match: str = "") -> tuple[Any, str]:
        """The decoded answer, and the `ETag` of what it describes; empty where it has none.

        Args:
            match: the `ETag` that what is changed must still have.

        Raises:
            PreconditionFailed: it has another.
        """
        headers = {"If-Match": match} if match else {}
        response = await self._answer(self._request(method, path, body=body, headers=headers))
        return self._content(response), response.headers.get("ETag", "")

    async def post(self, path: str, body: Any) -> Any:
        return await self._decoded("POST", path, body=body)

    async def delete(self, path: str) -> None:
        await self._answer(self._request("DELETE", path))

    async def items(self, path: str, **query: Any) -> AsyncIterator[Any]:
        """What stands on all pages, each page read when it is reached."""
        page = await self.get(path, **query)
        while True:
            for item in page["results"]:
                yield item
            if page["next"] is None:
                return
            page = await self.get(local_path(page["next"]))

    async def download(self, address: str, target: Path, sha256: str = "") -> Path:
        """Write what stands at `address` into the file `target`, which is complete or not there. Where the connection
        breaks, it goes on from there if the server can.

        Raises:
            ChecksumMismatch: it has another SHA-256 than `sha256`.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        if (content := inline_bytes(address)) is not None:
            target.write_bytes(content)
            return target
        # Of its own, so that two who write the same file do not write into each other's.
        part = target.with_name(f"{target.name}.{uuid4().hex[:8]}.part")
        try:
            with part.open("wb") as file:
                found = await self._receive(local_path(address), file, sha256)
            if sha256 and found != sha256:
                raise ChecksumMismatch(f"{target.name} has the SHA-256 {found}, announced was {sha256}")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target

    async def _receive(self, path: str, file: BinaryIO, sha256: str) -> str:
        """Write what stands at `path` into `file`. Returns its SHA-256; `sha256` is the announced one, if any is."""
        digest = hashlib.sha256()
        tag, repeats = "", 0
        while True:
            done = file.tell()
            response = await self._from(done, path)
            if response is None and digest.hexdigest() == sha256:
                # Nothing was missing when the connection broke.
                return sha256
            if response is None or (done and not is_rest(response.status_code, response.headers, tag)):
                # Not the rest of what is there already: all is read anew.
                if response is not None:
                    await response.aclose()
                file.seek(0)
                file.truncate()
                digest = hashlib.sha256()
                continue
            tag = response.headers.get("ETag", "")
            try:
                async for chunk in response.aiter_bytes():
                    digest.update(chunk)
                    file.write(chunk)
                return digest.hexdigest()
            except httpx.TransportError as error:
                wait = wait_before_repeat("GET", repeats, None, None) if goes_on(response.headers) else None
                if wait is None:
                    raise Unreachable(f"the connection broke after {file.tell()} bytes of {path}: {error}") from error
                logger.warning("%s broke off after %d bytes: %s; on in %.1f s", path, file.tell(), error, wait)
            finally:
                await response.aclose()
            repeats += 1
            await sleep(wait)

    async def _from(self, done: int, path: str) -> httpx.Response | None:
        """The answer from byte `done` on; None where the server has none so far: it is complete, or another file."""
        headers = {"Range": f"bytes={done}-"} if done else {}
        try:
            return await self._answer(self._request("GET", path, headers=headers), is_read=False)
        except ApiError as error:
            if done and error.status == RANGE_NOT_SATISFIABLE:
                return None
            raise

    def _request(
        self, method: str, path: str, *, query: Any = None, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Request:
        return self._http.build_request(
            method,
            path,
            # None leaves the parameters of `path` as they are.
            params=query_of(query) if query else None,
            json=body,
            headers=request_headers(method, self._token) | dict(headers or {}),
        )

    async def _decoded(self, method: str, path: str, *, query: Any = None, body: Any = None) -> Any:
        return self._content(await self._answer(self._request(method, path, query=query, body=body)))

    def _content(self, response: httpx.Response) -> Any:
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError as error:
            kind = response.headers.get("Content-Type", "something without a type")
            raise Unreachable(f"{self._url} answered with {kind}, not JSON: is it Tandem's address?") from error

    async def _answer(self, request: httpx.Request, *, is_read: bool = True) -> httpx.Response:
        """The answer, of which `is_read` reads the body."""
        repeats = 0
        while True:
            failure = await self._sent(request, is_read)
            if isinstance(failure, httpx.Response):
                return failure
            status = failure.status if isinstance(failure, ApiError) else None
            retry_after = failure.retry_after if isinstance(failure, ApiError) else None
            max_repeats = PATIENT_REPEATS if self._num_waiting else MAX_REPEATS
            wait = wait_before_repeat(request.method, repeats, status, retry_after, max_repeats=max_repeats)
            if wait is None:
                raise failure
            repeats += 1
            logger.warning("%s %s: %s; again in %.1f s", request.method, request.url.path, failure, wait)
            await sleep(wait)

    async def _sent(self, request: httpx.Request, is_read: bool) -> httpx.Response | ApiError | Unreachable:
        """The answer, or what went wrong."""
        try:
            response = await self._http.send(request, stream=True)
            if is_read or not response.is_success:
                await response.aread()
        except httpx.TransportError as error:
            return Unreachable(f"{self._url} cannot be reached: {error or type(error).__name__}")
        except httpx.DecodingError as error:
            raise Unreachable(f"{self._url} answered what cannot be decompressed: {error}") from error
        if response.is_redirect:
            target = response.headers.get("Location", "elsewhere")
            raise Unreachable(f"{self._url} redirects to {target}: sign in with that address")
        return response if response.is_success else refusal(response)
