"""What is uploaded is what its name says: nothing else is kept, and looking costs little."""

import json
import resource
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from gallery.models import Artifact
from gallery.storage import ArtifactRefused
from tests.web.gallery.test_upload_http import put as put_over_http
from tests.web.valid_files import png, valid_file, webm
from worker.engine.telemetry.media import encode_clip, encode_png

Put = Callable[..., Artifact]
NOISE = np.random.default_rng(0).integers(0, 255, (6, 48, 32, 3), dtype=np.uint8)


def weights(header: Any, data: bytes = b"") -> bytes:
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + data


def tensor(**changes: Any) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.png", encode_png(NOISE[0])),
        ("a.webm", encode_clip(NOISE, 8)),
        ("a.safetensors", safetensors.numpy.save({"a": NOISE[0].astype(np.float32), "b": NOISE[1]}, {"format": "pt"})),
        *((f"a.{ending}", valid_file(f"a.{ending}")) for ending in ("png", "webm", "safetensors", "json", "gz", "txt")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_engine_makes_is_kept(put: Put, path: str, content: bytes) -> None:
    assert put(path, content, is_valid=False).num_bytes == len(content)


BAD: list[tuple[str, bytes, str]] = [
    *((f"a.{ending}", b"", "it is empty") for ending in ("png", "webm", "safetensors", "json", "yaml", "txt", "gz")),
    ("a.png", b"pixels", "it is no PNG"),
    ("a.png", valid_file("a.webm"), "it is no PNG"),
    ("a.png", valid_file("a.png")[:-3], "ends before its end"),
    ("a.png", valid_file("a.png").replace(b"IDAT", b"IDAX"), "checksum"),
    ("a.png", png(60_000, 60_000, zlib.compress(bytes(14_000))), "got 60000 × 60000"),
    ("a.png", png(16_384, 16_384, b""), "got 16384 × 16384"),
    ("a.png", png(0, 1, b""), "got 0 × 1"),
    ("a.png", png(8, 8, zlib.compress(bytes(10**8))), "must hold 200 bytes"),
    ("a.png", png(8, 8, zlib.compress(bytes(199))), "must hold 200 bytes"),
    ("a.png", png(8, 8, b"no zlib"), "cannot be inflated"),
    ("a.webm", b"clip", "it is no WebM"),
    ("a.webm", valid_file("a.webm").replace(b"webm", b"mkv\0"), "it is no WebM"),
    ("a.webm", webm(b"\xb0\x82\xff\xff\xba\x82\xff\xff"), "got 65535 × 65535"),
    ("a.webm", webm(b""), "names no width and height"),
    ("a.safetensors", b"tensors", "ends before its end"),
    ("a.safetensors", b"\xff" * 8, "header must be ≤ 0 bytes"),
    ("a.safetensors", weights([]), "must be an object"),
    ("a.safetensors", weights({"a": tensor()}), "do not end where the file does"),
    ("a.safetensors", weights({"a": tensor(data_offsets=[8, 16])}, bytes(16)), "gaps or overlap"),
    ("a.safetensors", weights({"a": tensor(), "b": tensor()}, bytes(8)), "gaps or overlap"),
    ("a.safetensors", weights({"a": tensor(shape=[3])}, bytes(8)), "cannot be read"),
    ("a.safetensors", weights({"a": tensor(shape=[2**60, 0])}, bytes(8)), "cannot be read"),
    ("a.safetensors", weights({"a": tensor(dtype="pickle")}, bytes(8)), "cannot be read"),
    ("a.safetensors", weights({"a": {}}, bytes(8)), "cannot be read"),
    ("a.json", b"[" * 1_000_000, "JSON cannot be read"),
    ("a.json", b"\xff", "JSON cannot be read"),
    ("a.txt", b"\xc3", "no text in UTF-8"),
    ("a.gz", b"schedule", "it is no gzip"),
]


@pytest.mark.django_db
def test_what_is_something_else_is_refused_and_leaves_nothing_behind(run: Any, put: Put, client: Any) -> None:
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path, content, said in BAD:
        with pytest.raises(ArtifactRefused, match=said):
            put(path, content, is_valid=False)
    assert time.process_time() - began < 2.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert not Artifact.objects.exists()
    answer = put_over_http(client, run, b"pixels", is_valid=False)
    assert (answer.status_code, "`a.png` is refused: it is no PNG" in answer.json()["detail"]) == (422, True)
    assert put_over_http(client, run, b"", is_valid=False).status_code == 422
