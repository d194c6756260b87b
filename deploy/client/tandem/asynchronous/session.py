"""Requests to one server: repeated where that is safe, with its refusals as exceptions."""

import hashlib
import logging
from asyncio import sleep
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

from tandem.errors import ApiError, ChecksumMismatch, Unreachable, refusal
from tandem.protocol import inline_bytes, local_path, query_of, request_headers, wait_before_repeat

logger = logging.getLogger("tandem")


class Session:
    """A server's address, a token, and the connections."""

    def __init__(self, url: str, token: str, timeout: float, transport: httpx.AsyncBaseTransport | None) -> None:
        self._url = url
        self._token = token
        self._http = httpx.AsyncClient(base_url=url, timeout=timeout, transport=transport)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def get(self, path: str, **query: Any) -> Any:
        """The decoded answer; parameters that are None are left out."""
        return await self._decoded("GET", path, query=query)

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
        response = await self._answer(self._request("GET", local_path(address)), is_read=False)
        try:
            with part.open("wb") as file:
                async for chunk in response.aiter_bytes():
                    digest.update(chunk)
                    file.write(chunk)
            if sha256 and digest.hexdigest() != sha256:
                raise ChecksumMismatch(f"{target.name} has the SHA-256 {digest.hexdigest()}, announced was {sha256}")
            part.replace(target)
        except httpx.TransportError as error:
            raise Unreachable(f"the connection broke while {target.name} was read: {error}") from error
        finally:
            part.unlink(missing_ok=True)
            await response.aclose()
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

    async def _decoded(self, method: str, path: str, *, query: Any = None, body: Any = None) -> Any:
        response = await self._answer(self._request(method, path, query=query, body=body))
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
            wait = wait_before_repeat(request.method, repeats, status, retry_after)
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
        if response.is_redirect:
            target = response.headers.get("Location", "elsewhere")
            raise Unreachable(f"{self._url} redirects to {target}: sign in with that address")
        return response if response.is_success else refusal(response)
