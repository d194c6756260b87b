"""Who had the pool's lanes over time."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from api.request_parsing import checked, user_of
from api.serializers import pool_history as bodies
from fleet.models import LaneKind
from fleet.states.occupancy import occupancy


class OccupancyView(APIView):
    @extend_schema(parameters=[bodies.OccupancyQuery], responses=bodies.OccupancyBody)
    def get(self, request: Request) -> Response:
        """Lanes by project, idle, or out of service by state, in equal parts of a window. Projects that are not yours
        are summed up; pool admins see each."""
        asked = checked(bodies.OccupancyQuery(data=request.query_params))
        kind = LaneKind(asked["kind"]) if "kind" in asked else None
        pool: str = asked.get("pool", "")
        window = {"since": asked["since"], "until": asked["until"]}
        try:
            found = occupancy(user_of(request), num_buckets=asked["buckets"], kind=kind, pool=pool, **window)
        except ValueError as error:
            raise ValidationError({"since": [str(error)]}) from error
        return Response(bodies.OccupancyBody(found).data)
