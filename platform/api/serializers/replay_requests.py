"""The request to replay a run; the answer is defined in `analysis.replay.replay_body`."""

from typing import Any

from rest_framework import serializers

from runs.resizing.resize_services import MAX_LANES
from worker.contracts.names import Placement, TrainerAssist
from worker.contracts.spec_bounds import MAX_GROUP_SIZE
from worker.scheduling.profiles.hardware import ACCELERATORS, HOST_SOCKET

PLACEMENTS = [placement.value for placement in Placement if placement is not Placement.AUTO]
DEVICES = [name for name in ACCELERATORS if name != HOST_SOCKET.name]


class ReplayRequest(serializers.Serializer[Any]):
    """What is to be otherwise than it was; what is left out stays."""

    placement = serializers.ChoiceField(PLACEMENTS, required=False)
    gap = serializers.BooleanField(required=False)
    tsp = serializers.BooleanField(required=False)
    tag = serializers.ChoiceField([assist.value for assist in TrainerAssist], required=False)
    max_staleness = serializers.IntegerField(required=False, min_value=0, max_value=1)
    fragment_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_GROUP_SIZE)
    num_rollout = serializers.IntegerField(required=False, min_value=0, max_value=MAX_LANES)
    num_trainer = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LANES)
    num_reward = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LANES)
    device = serializers.ChoiceField(
        DEVICES, required=False, help_text="An accelerator with a profile, for every lane that generates or trains."
    )
