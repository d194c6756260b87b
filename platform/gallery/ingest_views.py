"""Uploads from drivers and from previews: plain views with a token, no session. Bytes are checked while they arrive."""

import errno
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from gallery.artifact_bundles import read_bundle
from gallery.artifacts import ArtifactTaken, store_artifact, store_artifacts
from gallery.storage import MAX_ARTIFACT_BYTES, ArtifactRefused
from runs.attempts.tokens import authorise
from telemetry.ingest.ingest_answers import bearer_token, guesses_held_back, refusal
from telemetry.ingest.ingest_views import with_token_refusals
from worker.contracts.ingest import SHA256_HEADER


@guesses_held_back
@csrf_exempt
@require_http_methods(["PUT"])
@with_token_refusals
def artifact(request: HttpRequest, run_id: UUID, attempt: int, path: str) -> HttpResponse:
    authorise(run_id=run_id, attempt=attempt, token=bearer_token(request))

    def store() -> dict[str, Any]:
        stored = store_artifact(run_id=run_id, attempt=attempt, path=path, source=request, sha256=announced(request))
        return {"path": stored.path, "sha256": stored.sha256, "num_bytes": stored.num_bytes}

    return upload(request, store)


@guesses_held_back
@csrf_exempt
@require_http_methods(["POST"])
@with_token_refusals
def artifacts(request: HttpRequest, run_id: UUID, attempt: int) -> HttpResponse:
    """Several small files as a tar, stored all or none."""
    authorise(run_id=run_id, attempt=attempt, token=bearer_token(request))

    def store() -> dict[str, Any]:
        files = read_bundle(request, announced(request))
        store_artifacts(run_id=run_id, attempt=attempt, files=files)
        return {"num_files": len(files)}

    return upload(request, store)


def announced(request: HttpRequest) -> str:
    """The checksum in the request's header."""
    return request.headers.get(SHA256_HEADER, "")


def upload(request: HttpRequest, store: Callable[[], dict[str, Any]]) -> HttpResponse:
    """201 with the result of `store`, or the status for the exception that it raised."""
    if int(request.headers.get("Content-Length") or 0) > MAX_ARTIFACT_BYTES:
        return refusal(413, f"an artifact must be at most {MAX_ARTIFACT_BYTES // 2**30} GiB")
    try:
        return JsonResponse(store(), status=201)
    except ArtifactTaken as error:
        return refusal(409, str(error))
    except ArtifactRefused as error:
        return refusal(422, str(error))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return refusal(507, "the artifact storage is full: free space below TANDEM_ARTIFACTS")
        raise
