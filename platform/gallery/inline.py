"""Small pictures as `data:` URIs within an answer, so that a grid of them needs no request for each."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from uuid import UUID

from gallery import storage
from gallery.models import Artifact, Preview, Sample

MAX_INLINE_BYTES = 4096
"""Largest picture that is inlined, in bytes; larger ones have a URL, which the browser caches."""
CONTENT_TYPE = "image/png"


def sample_uris(run_id: UUID, samples: Iterable[Sample]) -> dict[tuple[int, str], str]:
    """URIs by (attempt, path) of the samples' pictures, a clip's poster too, that are small and still stored."""
    wanted = {(sample.attempt, sample.picture_path) for sample in samples}
    rows = Artifact.objects.filter(
        run_id=run_id,
        path__in={path for _, path in wanted},
        num_bytes__lte=MAX_INLINE_BYTES,
        content_type=CONTENT_TYPE,
    ).values_list("attempt", "path", "storage_key")
    keys = {(attempt, path): key for attempt, path, key in rows if (attempt, path) in wanted}
    uris = _uris(list(keys.values()))
    return {place: uris[key] for place, key in keys.items() if key in uris}


def uris_within(run_id: UUID, samples: Sequence[Sample], *, max_total_bytes: int) -> dict[tuple[int, str], str]:
    """URIs by (attempt, path) of the samples' pictures of any size, in their order, as many as hold in all at most
    `max_total_bytes`."""
    wanted = [(sample.attempt, sample.picture_path) for sample in samples]
    rows = Artifact.objects.filter(
        run_id=run_id, path__in={path for _, path in wanted}, content_type__startswith="image/"
    )
    stored = {(row.attempt, row.path): row for row in rows}
    chosen: dict[tuple[int, str], Artifact] = {}
    num_bytes = 0
    for place in wanted:
        if place in stored and num_bytes + stored[place].num_bytes <= max_total_bytes:
            chosen[place] = stored[place]
            num_bytes += stored[place].num_bytes
    uris = _uris([row.storage_key for row in chosen.values()])
    return {place: uris[row.storage_key] for place, row in chosen.items() if row.storage_key in uris}


def preview_uris(previews: Iterable[Preview]) -> dict[str, str]:
    """URIs by storage key of the previews' small pictures."""
    images = [image for preview in previews for image in preview.images.all()]
    small = [image.storage_key for image in images if image.num_bytes <= MAX_INLINE_BYTES]
    return _uris([key for key in small if storage.content_type(key) == CONTENT_TYPE])


def _uris(keys: Sequence[str]) -> dict[str, str]:
    found = storage.read_all(keys)
    return {
        key: f"data:{storage.content_type(key)};base64,{b64encode(content).decode()}" for key, content in found.items()
    }
