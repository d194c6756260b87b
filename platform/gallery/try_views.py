"""The door of a try's job: statuses as in `worker.contracts.tries`."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from pydantic import ValidationError

from catalog.selectors import ModelNotUsable
from gallery import tries
from gallery.artifacts import find_artifact
from gallery.downloads import bytes_response
from gallery.ingest_views import announced, upload
from gallery.models import Try
from gallery.pieces import Kept
from telemetry.ingest_views import bearer_token, refusal
from worker.contracts.ingest import BootstrapRequest
from worker.contracts.tries import TryDone


@csrf_exempt
@require_POST
def bootstrap(request: HttpRequest) -> HttpResponse:
    try:
        job = tries.trade_code(BootstrapRequest.model_validate_json(request.body).code)
    except (ValidationError, ModelNotUsable) as error:
        return refusal(422, str(error))
    except tries.TryRefused as error:
        return refusal(401, str(error))
    except tries.TryOver as error:
        return refusal(410, str(error))
    return HttpResponse(job.model_dump_json(), content_type="application/json")


@csrf_exempt
@require_GET
def file(request: HttpRequest, try_id: UUID, path: str) -> HttpResponseBase:
    trial = _authorised(request, try_id)
    if isinstance(trial, HttpResponse):
        return trial
    wanted = next((one for one in trial.adapter.all_files if one.path == path), None)
    if wanted is None:
        return refusal(404, f"the version has no file {path[:80]}")
    artifact = find_artifact(trial.run_id, trial.adapter.artifact_of(wanted), trial.adapter.attempt)
    if artifact is None:
        return refusal(404, f"the version's file {path} was never uploaded")
    return bytes_response(request, [Kept(artifact.storage_key, artifact.num_bytes)], artifact.content_type)


@csrf_exempt
@require_http_methods(["PUT"])
def image(request: HttpRequest, try_id: UUID, name: str) -> HttpResponse:
    trial = _authorised(request, try_id)
    if isinstance(trial, HttpResponse):
        return trial

    def store() -> dict[str, Any]:
        stored = tries.store_image(trial, name, request, announced(request))
        return {"name": name, "num_bytes": stored.num_bytes}

    return upload(request, store)


@csrf_exempt
@require_POST
def done(request: HttpRequest, try_id: UUID) -> HttpResponse:
    trial = _authorised(request, try_id)
    if isinstance(trial, HttpResponse):
        return trial
    try:
        tries.finish(trial, TryDone.model_validate_json(request.body).problem)
    except ValidationError as error:
        return refusal(422, str(error))
    return HttpResponse(status=204)


def _authorised(request: HttpRequest, try_id: UUID) -> Try | HttpResponse:
    try:
        return tries.authorise(try_id, bearer_token(request))
    except tries.TryRefused as error:
        return refusal(401, str(error))
    except tries.TryOver as error:
        return refusal(410, str(error))
