"""The runs and alerts of the home page."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.request_parsing import checked, user_of
from api.serializers import home as bodies
from runs.home_overview import home_overview


class HomeView(APIView):
    @extend_schema(operation_id="home", parameters=[bodies.HomeQuery], responses=bodies.Home)
    def get(self, request: Request) -> Response:
        """Runs of you and your team that work, wait, failed or finished, and what needs somebody."""
        asked = checked(bodies.HomeQuery(data=request.query_params))
        return Response(bodies.Home(home_overview(user_of(request), asked["project"])).data)
