"""Uploads that are damaged, repeated, or come in an order that nobody means: files one by one, bundles of them, and the
pictures of a preview, also after its end."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from random import Random

from tests.web.every_address import malformed
from tests.web.every_address.malformed_request import Malformed
from tests.web.every_address.world import RUN_TOKEN, World
from tests.web.valid_files import png, valid_file
from worker.contracts.ingest import ARTIFACT_PATH, ARTIFACTS_PATH, SHA256_HEADER

PATHS = (
    "samples/a.png",
    "samples/b.png",
    "samples/c.webm",
    "versions/1/lora.safetensors",
    "schedule/0.json.gz",
    *("a.json", "samples/a.png/b.png", "samples", "samples.json/a.png"),
)
"""Few, so that several uploads meet at one; the world has the first."""
ODD_PATHS = ("../a.png", "/a.png", "é.png", "x" * 290 + ".png", "a.pt")
PICTURES = ("lora-0-0.png", "base-0-0.png", "base-0-0.webm", "lora-0-9.png", "x.png")
BLOCK = 512
"""Bytes of a block of a tar."""
Spoil = Callable[[bytes, Random], bytes]


def _swapped(content: bytes, draw: Random, size: int = BLOCK) -> bytes:
    """With its blocks in another order."""
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    draw.shuffle(blocks)
    return b"".join(blocks)


def _flipped(content: bytes, draw: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.randint(1, 8) if changed else 0):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _without_a_part(content: bytes, draw: Random) -> bytes:
    start = draw.randrange(len(content) + 1)
    return content[:start] + content[start + draw.randint(1, 64) :]


SPOILS: tuple[Spoil, ...] = (
    *[lambda content, _: content] * 4,
    lambda content, draw: content[: draw.randrange(len(content) + 1)],
    _without_a_part,
    _flipped,
    _flipped,
    _swapped,
    lambda content, draw: _swapped(content, draw, 16),
    lambda content, _: content + content,
    lambda content, draw: content + draw.randbytes(2000),
    lambda *_: b"",
    lambda _, draw: draw.choice(malformed.OTHER_BODIES),
    lambda _, draw: draw.choice([2**63 - 1, 2**64 - 1, 10**8, 0]).to_bytes(8, "little") + b"{}",
    lambda _, draw: png(draw.choice([0, 2**31 - 1, 30_000]), draw.choice([0, 2**31 - 1, 30_000]), b""),
)


class MalformedUploads:
    """Draws one upload, and those before it."""

    def __init__(self, world: World, machines: Mapping[str, Mapping[str, str]]) -> None:
        self._run, self._preview = world.values["run_id"], world.values["preview_id"]
        self._of_preview = machines["preview"]

    def drawn(self, seed: str, draw: Random) -> Malformed:
        before = tuple(self._one(f"{seed}.{nth}", draw) for nth in range(draw.choice([0, 1, 2, 4])))
        last = self._one(seed, draw)
        return Malformed(
            number=seed,
            method=last.method,
            address=last.address,
            body=last.body,
            content_type=last.content_type,
            headers=last.headers,
            before=before,
        )

    def _one(self, number: str, draw: Random) -> Malformed:
        kind = draw.choices(["file", "bundle", "picture", "done"], [4, 3, 3, 1])[0]
        if kind == "done":
            body = json.dumps({"problem": draw.choice(["", "no memory", *map(str, malformed.VALUES)])}).encode()
            return self._request(number, "POST", self._of("done"), body, self._of_preview, "application/json")
        if kind == "picture":
            name = draw.choice(PICTURES)
            body = _spoilt(valid_file(name, _mark(draw)), draw)
            headers = {**self._of_preview, SHA256_HEADER: _checksum(body, draw)}
            return self._request(number, "PUT", self._of(f"images/{name}"), body, headers)
        if kind == "file":
            path = draw.choice(PATHS)
            body = _spoilt(valid_file(path, _mark(draw)), draw)
            address, method = ARTIFACT_PATH.format(run=self._run, attempt=2, path=path), "PUT"
        else:
            body = _spoilt(_tar(draw), draw) if draw.random() < 0.6 else _tar(draw)
            address, method = ARTIFACTS_PATH.format(run=self._run, attempt=2), "POST"
        headers = {"Authorization": f"Bearer {RUN_TOKEN}", SHA256_HEADER: _checksum(body, draw)}
        return self._request(number, method, address, body, headers)

    def _of(self, what: str) -> str:
        return f"/api/ingest/v1/previews/{self._preview}/{what}"

    @staticmethod
    def _request(
        number: str,
        method: str,
        address: str,
        body: bytes,
        headers: Mapping[str, str],
        content_type: str = "application/octet-stream",
    ) -> Malformed:
        return Malformed(
            number=number, method=method, address=address, body=body, content_type=content_type, headers=headers
        )


def _mark(draw: Random) -> bytes:
    return draw.choice([b"", b"one", b"two"])


def _spoilt(content: bytes, draw: Random) -> bytes:
    return draw.choice(SPOILS)(content, draw)


def _checksum(body: bytes, draw: Random) -> str:
    """Mostly that of the bytes, so that what they hold is looked at."""
    if draw.random() < 0.1:
        return draw.choice(malformed.HEADERS["X-Content-SHA256"])
    return hashlib.sha256(body).hexdigest()


def _tar(draw: Random) -> bytes:
    """Some of the paths, of any kind that a tar has, with sizes that need not be theirs."""
    archive = io.BytesIO()
    form = draw.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    with tarfile.open(fileobj=archive, mode="w", format=form) as tar:
        for path in draw.choices(
            [*PATHS, "../a.png", "/a.png", "é.png", "x" * 290 + ".png", "a.pt"], k=draw.randint(0, 4)
        ):
            content = _spoilt(valid_file(path, _mark(draw)), draw)[:100_000]
            info = tarfile.TarInfo(path)
            info.size = len(content)
            odd_kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE]
            info.type = draw.choice(odd_kinds) if draw.random() < 0.1 else tarfile.REGTYPE
            if form == tarfile.PAX_FORMAT and draw.random() < 0.3:
                info.pax_headers = {
                    draw.choice(["size", "path", "GNU.sparse.size", "mtime"]): draw.choice(["-1", "9" * 40, "a"])
                }
            tar.addfile(info, io.BytesIO(content))
    return archive.getvalue()
