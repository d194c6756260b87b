"""One fragment of a run: its story, with the samples of its members that are stored."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.serializers.fragment_body import FragmentBody
from api.views.telemetry import RunDataView
from gallery.inline import sample_uris
from gallery.selectors import samples_of_members
from telemetry.prompts.fragment_story import fragment_story


class FragmentView(RunDataView):
    @extend_schema(responses=FragmentBody)
    def get(self, request: Request, run_id: UUID, batch: int, group: int, fragment: int) -> Response:
        """Where and when a fragment of a training batch was generated, decoded, scored and trained on. `batch` counts
        from 0, as spans do."""
        run = self.run(run_id)
        story = fragment_story(run.pk, run.prompts, batch=batch, group=group, fragment=fragment)
        if story is None:
            raise NotFound(f"no span says that fragment {fragment} of group {group} of batch {batch} was generated")
        samples = samples_of_members(
            run.pk, batch=batch + 1, prompt_index=story["prompt_index"], members=story["members"]
        )
        context = {"inline": sample_uris(run.pk, samples)}
        return Response(FragmentBody({"story": story, "samples": samples}, context=context).data)
