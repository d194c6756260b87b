"""The page on which REST is read and tried: Swagger UI in the frame of Tandem's own pages."""

from typing import Any

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response


class DocsView(SpectacularSwaggerSplitView):
    url_name = "schema"
    template_name = "api/docs.html"
    title = "API"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        answer: Response = super().get(request, *args, **kwargs)
        answer.data["section"] = "api"
        return answer
