"""Page views: each checks who may see the page and renders its shell, which the browser fills over REST.

Invariant: a page about a run that the user may not see is a 404 before any script runs.
"""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from fleet.models import Gpu
from runs.selectors import get_run

SHELL = "dashboard/shell.html"


@require_safe
@login_required
def runs(request: HttpRequest) -> HttpResponse:
    return render(request, SHELL, {"page": "runs", "title": "Runs", "section": "runs"})


@require_safe
@login_required
def new_run(request: HttpRequest) -> HttpResponse:
    """The form; `?from=<run>` fills it from another run. Raises `Http404` for a run the user may not see."""
    parent = request.GET.get("from", "")
    data = {"from": str(get_run(request.user, parent).pk)} if parent else {}
    title = "Edit and rerun" if parent else "New run"
    return render(request, SHELL, {"page": "new-run", "title": title, "section": "new", "data": data})


@require_safe
@login_required
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    found = get_run(request.user, run_id)
    context = {"page": "run", "title": found.name, "section": "runs", "data": {"run": str(found.pk)}}
    return render(request, SHELL, context)


@require_safe
@login_required
def compare(request: HttpRequest) -> HttpResponse:
    """`?runs=<id>,<id>`. Raises `Http404` when one of them is not the user's to see."""
    for run_id in filter(None, request.GET.get("runs", "").split(",")):
        get_run(request.user, run_id)
    return render(request, SHELL, {"page": "compare", "title": "Compare runs", "section": "runs"})


@require_safe
@login_required
def prompt_sets(request: HttpRequest) -> HttpResponse:
    context = {"page": "prompt-sets", "title": "Prompt sets", "section": "prompt-sets", "narrow": True}
    return render(request, SHELL, context)


@require_safe
@login_required
def projects(request: HttpRequest) -> HttpResponse:
    context = {"page": "projects", "title": "Projects", "section": "projects", "narrow": True}
    return render(request, SHELL, context)


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/account.html", {"title": "Account", "section": "account"})


@require_safe
@login_required
def pool(request: HttpRequest) -> HttpResponse:
    return render(request, SHELL, {"page": "pool", "title": "Pool", "section": "pool"})


@require_safe
@login_required
def queue(request: HttpRequest) -> HttpResponse:
    """`?pool=<name>` chooses the pool."""
    data = {"pool": request.GET["pool"]} if "pool" in request.GET else {}
    return render(request, SHELL, {"page": "queue", "title": "Queue", "section": "queue", "data": data})


@require_safe
@login_required
def gpu(request: HttpRequest, gpu_id: int) -> HttpResponse:
    found = get_object_or_404(Gpu.objects.select_related("node"), pk=gpu_id)
    data = {"gpu": found.pk, "node": found.node_id}
    title = f"GPU {found.index} of {found.node.name}"
    return render(request, SHELL, {"page": "gpu", "title": title, "section": "pool", "data": data})


@require_safe
@login_required
def occupancy(request: HttpRequest) -> HttpResponse:
    return render(request, SHELL, {"page": "occupancy", "title": "Occupancy", "section": "pool"})


@require_safe
@login_required
def usage(request: HttpRequest) -> HttpResponse:
    """`?by=…&measure=…&span=…`, which the page's script reads."""
    return render(request, SHELL, {"page": "usage", "title": "Usage and cost", "section": "pool"})


@require_safe
@login_required
def audit(request: HttpRequest) -> HttpResponse:
    """For everybody: REST answers each user with the rows that they may read."""
    return render(request, SHELL, {"page": "audit", "title": "Audit log", "section": "pool"})


@require_safe
@login_required
def lending(request: HttpRequest) -> HttpResponse:
    return render(request, SHELL, {"page": "lending", "title": "Lending", "section": "lending"})
