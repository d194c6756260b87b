"""What a run produced: samples, adapters, checkpoints, their bytes, and previews on a user's own prompts."""

import posixpath
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import TokenScope
from api.contract_schema import component, list_of, page_schema
from api.pages import page_of
from api.request_parsing import checked, user_of
from api.serializers import gallery as bodies
from api.views.telemetry import RunDataView
from gallery import checkpoints, previews, selectors
from gallery.archives import CONTENT_TYPE, ENDING, ArchiveIncomplete, archive, folder_of
from gallery.artifacts import find_artifact, schedule_log
from gallery.checkpoints import SavedCheckpoint
from gallery.downloads import bytes_response
from gallery.inline import preview_uris, sample_uris
from gallery.lineage import Lineage, lineage
from gallery.pieces import StoredBytes
from gallery.storage import content_type
from runs.operation_ids import OperationKind, operation_id
from telemetry.prompts.batch_groups import groups_of_batch

ONE_YEAR_SECONDS = 31_536_000


class SamplesView(RunDataView):
    @extend_schema(parameters=[bodies.SamplesQuery], responses=bodies.SamplesBody)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Pictures or clips of one batch, by prompt and member."""
        asked = checked(bodies.SamplesQuery(data=request.query_params))
        run = self.run(run_id)
        batches = selectors.sample_batches(run.pk, asked["purpose"])
        wanted = [asked["batch"]] if "batch" in asked else batches[-1:]
        found = selectors.samples(run.pk, purpose=asked["purpose"], batches=wanted) if wanted else []
        # Held-out and requested samples are of no batch that is trained on.
        groups = groups_of_batch(run.pk, wanted[0]) if wanted and asked["purpose"] == "train" else []
        context = {"inline": sample_uris(run.pk, found)}
        results = bodies.SampleBody(found, many=True, context=context).data
        return Response({"batches": batches, "groups": groups, "results": results})


class AdaptersView(RunDataView):
    @extend_schema(responses=page_of(bodies.AdapterBody))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Trained versions in diffusers format, newest first: LoRAs, or whole transformers in several files."""
        rows = selectors.adapters(self.run(run_id).pk)
        return Response({"next": None, "results": bodies.AdapterBody(rows, many=True).data})


class AdapterArchiveView(RunDataView):
    @extend_schema(responses={(200, CONTENT_TYPE): OpenApiTypes.BINARY})
    def get(self, request: Request, run_id: UUID, adapter_id: int) -> HttpResponseBase:
        """All files of one version as an uncompressed tar, written while it is sent. Supports `Range`."""
        run = self.run(run_id)
        adapter = selectors.adapters(run.pk).filter(pk=adapter_id).first()
        if adapter is None:
            raise NotFound("no such version of this run")
        folder = folder_of(adapter)
        try:
            pieces = archive(adapter)
        except ArchiveIncomplete as error:
            raise NotFound(str(error)) from error
        response = bytes_response(request._request, pieces, CONTENT_TYPE, download_as=f"{folder}{ENDING}")
        return _cached(response, f"{adapter.sha256}-{folder}", for_ever=False)


class CheckpointsView(RunDataView):
    @extend_schema(responses={200: page_schema(list_of(SavedCheckpoint))})
    def get(self, request: Request, run_id: UUID) -> Response:
        """Resumable checkpoints, newest first; the store keeps the newest few, and those that runs were forked from."""
        return Response({"next": None, "results": checkpoints.checkpoints(self.run(run_id))})


class LineageView(RunDataView):
    @extend_schema(responses={200: component(Lineage)})
    def get(self, request: Request, run_id: UUID) -> Response:
        """The runs that this one came from and those that came from it, each with its checkpoints and newest
        evaluation."""
        return Response(lineage(request.user, self.run(run_id)))


class ArtifactView(RunDataView):
    @extend_schema(parameters=[bodies.ArtifactQuery], responses={(200, "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, run_id: UUID, path: str) -> HttpResponseBase:
        """The bytes of an artifact. Browsers show pictures and clips, and save adapters."""
        asked = checked(bodies.ArtifactQuery(data=request.query_params))
        run = self.run(run_id)
        artifact = find_artifact(run.pk, path, asked.get("attempt"))
        if artifact is None:
            raise NotFound("no such artifact")
        if request.headers.get("If-None-Match") == f'"{artifact.sha256}"':
            response: HttpResponseBase = HttpResponse(status=304)
        else:
            response = bytes_response(
                request._request,
                [StoredBytes(artifact.storage_key, artifact.num_bytes)],
                artifact.content_type,
                download_as="" if artifact.content_type.startswith(("image/", "video/")) else posixpath.basename(path),
            )
        return _cached(response, artifact.sha256, for_ever="attempt" in asked)


class ScheduleLogView(RunDataView):
    @extend_schema(parameters=[bodies.ScheduleLogQuery], responses={(200, "application/gzip"): OpenApiTypes.BINARY})
    def get(self, request: Request, run_id: UUID) -> HttpResponseBase:
        """Every event and decision of an attempt's scheduler, up to its last batch, as lines of JSON.

        `python -m worker.scheduling.replay FILE` replays it.
        """
        asked = checked(bodies.ScheduleLogQuery(data=request.query_params))
        run = self.run(run_id)
        parts = schedule_log(run.pk, asked.get("attempt"))
        if not parts:
            raise NotFound("no schedule log yet: the first part comes with the first batch")
        pieces = [StoredBytes(part.storage_key, part.num_bytes) for part in parts]
        name = f"{run.pk}-{parts[0].attempt}-schedule.jsonl.gz"
        response = bytes_response(request._request, pieces, "application/gzip", download_as=name)
        return _cached(response, f"{parts[-1].sha256}-{len(parts)}", for_ever=False)


class PreviewsView(RunDataView):
    write_scope = TokenScope.RUN

    @extend_schema(responses=bodies.PreviewBody(many=True))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Newest first."""
        rows = list(selectors.previews(self.run(run_id).pk))
        return Response(bodies.PreviewBody(rows, many=True, context={"inline": preview_uris(rows)}).data)

    @extend_schema(request=bodies.NewPreview, responses={202: bodies.PreviewAnswer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Generate from your own prompts with a trained version of the run and, from the same seeds, without it."""
        asked = checked(bodies.NewPreview(data=request.data))
        adapter_id = asked.pop("adapter", None)
        preview = previews.request_preview(user=user_of(request), run=self.run(run_id), adapter_id=adapter_id, **asked)
        begun = operation_id(OperationKind.PREVIEW, preview.pk)
        return Response({"preview_id": str(preview.pk), "operation": begun}, status=202)


class PreviewImageView(RunDataView):
    @extend_schema(responses={(200, "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, run_id: UUID, preview_id: UUID, name: str) -> HttpResponseBase:
        image = previews.find_image(self.run(run_id).pk, preview_id, name)
        if image is None:
            raise NotFound("no such picture")
        media_type = content_type(image.storage_key)
        response = bytes_response(request._request, [StoredBytes(image.storage_key, image.num_bytes)], media_type)
        return _cached(response, f"{preview_id}-{name}", for_ever=True)


def _cached(response: HttpResponseBase, tag: str, *, for_ever: bool) -> HttpResponseBase:
    """Cache headers: bytes never change under a URL that names the attempt, and only the user's own browser may
    cache."""
    response["ETag"] = f'"{tag}"'
    response["Cache-Control"] = f"private, max-age={ONE_YEAR_SECONDS}, immutable" if for_ever else "private, no-cache"
    return response
