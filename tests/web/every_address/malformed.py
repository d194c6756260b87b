"""Ways to spoil a request: values of the wrong kind and size at any place of a body, bytes that are no JSON, query
parameters and headers that nobody sends by mistake."""

import gzip
import json
from collections.abc import Callable
from random import Random
from typing import Any

from tests.contracts.test_bounds import EXTREMES

VALUES: list[Any] = [
    *EXTREMES,
    *(2**31 - 1, -(2**31) - 1, 2**53 + 1, -(2**63) - 1, 10**30, -1e308, 5e-324, -0.0, float("-inf"), False, 0.1),
    *("\u202e", "\ufeff", "\udfff", "💥" * 300, "x" * 100_000, "a\nb\tc", "%00", "' OR 1=1 --", "${7*7}", "{{x}}"),
    *("../../etc/passwd", "/" * 300, "a/" * 400, "file:///etc/passwd", "http://127.0.0.1:1/", "\\\\host\\share"),
    *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "2026-02-30", "1e400", "0x1F", "١٢", "NaN", "null", "-"),
    *("00000000-0000-0000-0000-000000000000", "a: &a [*a]", "!!python/object:os.system {}", "- " * 5000),
    *([{}] * 300, {"x" * 5000: 1}, {"a\0": 1}, {"\ud800": 1}, {"__proto__": {}}, {str(n): n for n in range(2000)}),
]
"""Of every kind of JSON at every place; what tests of single settings try as well."""
RAW_NUMBERS = (
    "9" * 5000,
    "-" + "9" * 5000,
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "1E400",
    "0" * 50,
    "01",
    "1.",
    "0x10",
)
CONTENT_TYPES = (
    *("", "text/plain", "application/xml", "multipart/form-data; boundary=x", "multipart/form-data"),
    *("application/x-www-form-urlencoded", "application/json; charset=utf-16", "application/json; charset=nonsense"),
    *("application/vnd.apache.arrow.stream", "application/json\0", "a" * 5000, "application/json; charset=", "*/*"),
)
# No `Content-Length`: a server that reads it closes the connection where it does not fit the body.
HEADERS: dict[str, tuple[str, ...]] = {
    "Accept": ("application/vnd.apache.arrow.stream", "text/html", "*/*;q=x", "a/b" * 3000, "\xff", ";;;", "a/b;" * 50),
    "Accept-Encoding": ("gzip;q=x", "identity;q=0, *;q=0", "br" * 3000),
    "Authorization": ("", "Bearer", "Bearer ", "Bearer " + "x" * 9000, "Bearer \xff\xfe", "Basic x", "Bearer a b"),
    "Content-Encoding": ("gzip", "deflate", "x" * 3000),
    "Cookie": ("a=" + "x" * 9000, "sessionid=\xff", "=;=;=", "; ".join(f"c{n}=1" for n in range(2000)), "a" * 9000),
    "Host": ("evil.example", "a" * 300, "[::1", "a:b:c", "\xff", "testserver:99999"),
    "Idempotency-Key": ("", "x" * 200, "x" * 201, "\xff", "a,b", "a\tb", "ü"),
    "If-Match": ("", "*", '"', "W/" * 500, ',"a",,', "\xff"),
    "If-Modified-Since": ("x", "Tue, 99 Foo 0000 99:99:99 GMT", "9" * 400),
    "If-None-Match": ("*", '"', "x" * 9000),
    "Last-Event-ID": ("-1", "9" * 400, "x", "\xff", "1.5"),
    "Origin": ("null", "https://evil.example", "\xff"),
    "Range": ("bytes=", "bytes=-", "bytes=5-1", "bytes=-0", "bytes=" + "9" * 5000 + "-", "bytes=0-" + "9" * 5000),
    "Referer": ("x" * 9000, "\xff"),
    "Sec-WebSocket-Protocol": ("x" * 9000,),
    "Traceparent": ("x", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "ff" * 5000),
    "X-Content-SHA256": ("", "x", "0" * 64, "\xff" * 64, "A" * 64),
    "X-Forwarded-For": ("x" * 9000, "\xff", "1.2.3.4, " * 1000, "::1"),
    "X-Forwarded-Proto": ("https", "x"),
    "X-HTTP-Method-Override": ("DELETE", "x"),
    "X-Request-ID": ("x" * 9000, "\xff", "a\tb"),
    "X-Tandem-Agent": ("x", "9" * 5000, "{" * 40, "\xff"),
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 300)


def damaged(value: Any, draw: Random) -> Any:
    """A copy of a JSON value with something else at one of its places."""
    places = list(_places(value))
    place = draw.choice(places)
    return _changed(value, place, draw.choice(_CHANGES), draw)


def _places(value: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        found += [(key, *rest) for rest in _places(part)]
    return found


Change = Callable[[Any, Random], Any]
KEYS = ("x", "id", "x" * 300, "a\0", "type")


def _with_a_key(value: Any, draw: Random) -> Any:
    return {**value, draw.choice(KEYS): 1} if isinstance(value, dict) else 0


def _halved(value: Any, draw: Random) -> Any:
    return dict(draw.sample(list(value.items()), len(value) // 2)) if isinstance(value, dict) else None


_CHANGES: list[Change] = [
    *[lambda _, draw: draw.choice(VALUES)] * 6,
    lambda value, _: [value],
    lambda value, _: {"value": value},
    lambda value, _: str(value),
    lambda value, _: [value] * 300,
    _with_a_key,
    _halved,
    lambda value, _: value * 300 if isinstance(value, str | list) else 10**18,
    lambda value, _: -value - 1 if isinstance(value, int | float) else -1,
    lambda value, _: value + 2**31 if isinstance(value, int | float) else 2**31,
]


def _changed(value: Any, place: tuple[Any, ...], change: Change, draw: Random) -> Any:
    if not place:
        return change(value, draw)
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = _changed(value[place[0]], place[1:], change, draw)
    return copy


NOT_IN_JSON = (b"\xff", b"\x00", b"\xc3", b"\xed\xa0\x80", b"\\u0000", b"\\ud800")
OTHER_BODIES = (
    *(b"", b"\x00" * 1000, b"[" * 50_000, b'{"a":' * 50_000, b"[" + b"[]," * 50_000 + b"[]]"),
    b"{" + b",".join(b'"%d":0' % number for number in range(20_000)) + b"}",
    gzip.compress(bytes(10_000_000)),
)


def spoilt(text: str, draw: Random) -> bytes:
    """A body that is no JSON any more, or JSON that few write."""
    raw = text.encode()
    place = draw.randrange(len(raw) + 1)
    ways: list[Callable[[], bytes]] = [
        lambda: raw[:place],
        lambda: raw[:place] + draw.choice(NOT_IN_JSON) + raw[place:],
        lambda: raw + b"}",
        lambda: raw + raw,
        lambda: b"\xef\xbb\xbf" + raw,
        lambda: text.encode("utf-16"),
        lambda: b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n' + raw,
        lambda: text.replace(":", f": {draw.choice(RAW_NUMBERS)},", 1).encode(),
        lambda: _with_number(text, draw).encode(),
        # Every name twice.
        lambda: (text[:-1] + "," + text[1:]).encode() if text.startswith("{") and len(text) > 2 else raw[:-1],
        lambda: draw.choice(OTHER_BODIES),
        lambda: draw.choice(OTHER_BODIES),
    ]
    return draw.choice(ways)()


def _with_number(text: str, draw: Random) -> str:
    """With a number as only a text can hold it in place of some value."""
    document = json.loads(text)
    places = [place for place in _places(document) if place] or [()]
    marked = _changed(document, draw.choice(places), lambda *_: "@", draw)
    return json.dumps(marked).replace('"@"', draw.choice(RAW_NUMBERS))
