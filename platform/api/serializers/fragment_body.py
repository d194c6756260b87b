"""One fragment of a run."""

from api.serializers.answers import Answer, contract_field
from api.serializers.gallery import SampleBody
from telemetry.prompts.fragment_story import FragmentStory


class FragmentBody(Answer):
    story = contract_field(FragmentStory)
    samples = SampleBody(many=True, help_text="Those of its members that are stored, by member.")
