"""HTTP views for the jobs of previews, with the statuses of `worker.contracts.previews`."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from pydantic import ValidationError

from catalog.base_models import ModelNotUsable
from gallery import previews
from gallery.artifacts import find_artifact
from gallery.downloads import bytes_response
from gallery.ingest_views import announced, upload
from gallery.models import Preview
from gallery.pieces import StoredBytes
from telemetry.ingest.ingest_answers import bearer_token, guesses_held_back, refusal, traded_code
from telemetry.ingest.stored_text import without_nul
from worker.contracts.previews import PreviewDone


@guesses_held_back
@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    refusals = {ModelNotUsable: 422, previews.PreviewRefused: 401, previews.PreviewOver: 410}
    return traded_code(request, previews.trade_code, refusals)


@guesses_held_back
@csrf_exempt
@require_GET
def file(request: HttpRequest, preview_id: UUID, path: str) -> HttpResponseBase:
    preview = _authorised(request, preview_id)
    if isinstance(preview, HttpResponse):
        return preview
    wanted = next((one for one in preview.adapter.all_files if one.path == path), None)
    if wanted is None:
        return refusal(404, f"the version has no file {path[:80]}")
    artifact = find_artifact(preview.run_id, preview.adapter.artifact_of(wanted), preview.adapter.attempt)
    if artifact is None:
        return refusal(404, f"the version's file {path} was never uploaded")
    return bytes_response(request, [StoredBytes(artifact.storage_key, artifact.num_bytes)], artifact.content_type)


@guesses_held_back
@csrf_exempt
@require_http_methods(["PUT"])
def image(request: HttpRequest, preview_id: UUID, name: str) -> HttpResponse:
    preview = _authorised(request, preview_id)
    if isinstance(preview, HttpResponse):
        return preview

    def store() -> dict[str, Any]:
        stored = previews.store_image(preview, name, request, announced(request))
        return {"name": name, "num_bytes": stored.num_bytes}

    return upload(request, store)


@guesses_held_back
@csrf_exempt
@require_POST
def done(request: HttpRequest, preview_id: UUID) -> HttpResponse:
    preview = _authorised(request, preview_id)
    if isinstance(preview, HttpResponse):
        return preview
    try:
        previews.finish(preview, PreviewDone.model_validate_json(without_nul(request.body)).problem)
    except ValidationError as error:
        return refusal(422, str(error))
    return HttpResponse(status=204)


def _authorised(request: HttpRequest, preview_id: UUID) -> Preview | HttpResponse:
    try:
        return previews.authorise(preview_id, bearer_token(request))
    except previews.PreviewRefused as error:
        return refusal(401, str(error))
    except previews.PreviewOver as error:
        return refusal(410, str(error))
