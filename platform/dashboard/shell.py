"""The shell of a page: its title, its section of the navigation, and what its script needs to begin."""

from collections.abc import Callable, Mapping

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.modules import modules_of


def shell(
    request: HttpRequest,
    page: str,
    title: str,
    section: str,
    *,
    narrow: bool = False,
    data: Mapping[str, str | int] | None = None,
) -> HttpResponse:
    """Render the shell of `page`, the script's name for it; `data` becomes the attributes that the script reads."""
    context = {
        "page": page,
        "modules": modules_of(page),
        "title": title,
        "section": section,
        "narrow": narrow,
        "data": data or {},
    }
    return render(request, "dashboard/shell.html", context)


def page_view(page: str, title: str, section: str, *, narrow: bool = False) -> Callable[[HttpRequest], HttpResponse]:
    """The view of a page that asks nothing of its address; its script reads the query itself."""

    @require_safe
    @login_required
    def view(request: HttpRequest) -> HttpResponse:
        return shell(request, page, title, section, narrow=narrow)

    return view
