"""Asks whether a mirror's server answers before its tool is loaded: tools try for minutes, and say little of why."""

import http.client
import urllib.error
import urllib.request

MAX_SECONDS = 15.0
PROXY_ANSWER = "Proxy-Status"
"""The header by which the proxy (`catalog.outbound_proxy`) marks its own answers."""


def check_reachable(address: str, proxy: str) -> None:
    """Any answer of the server will do. Raises `ConnectionError` with why there is none."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
    try:
        opener.open(urllib.request.Request(address, method="HEAD"), timeout=MAX_SECONDS).close()
    except urllib.error.HTTPError as error:
        with error:
            if PROXY_ANSWER in error.headers:
                raise ConnectionError(error.reason) from error
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or error
        raise ConnectionError(f"{address} does not answer: {why}") from error
