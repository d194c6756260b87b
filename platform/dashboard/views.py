"""Page views: each checks who may see the page and renders its shell, which the browser fills over REST.

Invariant: a page about a run that the user may not see is a 404 before any script runs.
"""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import require_pool_admin
from accounts.models import User
from accounts.sign_in.selectors import (
    has_authenticator_app,
    has_second_factor,
    num_recovery_codes,
    provider_links,
    security_keys,
)
from dashboard.modules import modules_of
from dashboard.shell import page_view, shell
from fleet.models import Gpu
from runs.selectors import get_run
from sweeps.selectors import get_sweep

home = page_view("home", "Home", "home")
runs = page_view("runs", "Runs", "runs")
sweeps = page_view("sweeps", "Sweeps", "sweeps")
prompt_sets = page_view("prompt-sets", "Prompt sets", "prompt-sets", narrow=True)
projects = page_view("projects", "Projects", "projects", narrow=True)
pool = page_view("pool", "Pool", "pool")
occupancy = page_view("occupancy", "Occupancy", "pool")
usage = page_view("usage", "Usage and cost", "pool")
audit = page_view("audit", "Audit log", "pool")
"""For everybody: REST answers each user with the rows that they may read."""
lending = page_view("lending", "Lending", "lending")


@require_safe
@login_required
def retention(request: HttpRequest) -> HttpResponse:
    """For pool admins. Raises `PermissionDenied` for others."""
    require_pool_admin(request.user)
    return shell(request, "retention", "Retention", "pool")


@require_safe
@login_required
def new_run(request: HttpRequest) -> HttpResponse:
    """The form; `?from=<run>` fills it from another run. Raises `Http404` for a run the user may not see."""
    parent = request.GET.get("from", "")
    data = {"from": str(get_run(request.user, parent).pk)} if parent else {}
    return shell(request, "new-run", "Edit and rerun" if parent else "New run", "new", data=data)


@require_safe
@login_required
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    found = get_run(request.user, run_id)
    return shell(request, "run", found.name, "runs", data={"run": str(found.pk)})


@require_safe
@login_required
def new_sweep(request: HttpRequest) -> HttpResponse:
    """The form; `?from=<run>` takes that run's spec, `?again=<sweep>` all of that sweep. Raises `Http404` for a run or
    sweep that the user may not see."""
    parent, again = request.GET.get("from", ""), request.GET.get("again", "")
    data = {"from": str(get_run(request.user, parent).pk)} if parent else {}
    if again:
        data["again"] = str(get_sweep(request.user, again).pk)
    return shell(request, "new-sweep", "Edit and run again" if again else "New sweep", "sweeps", data=data)


@require_safe
@login_required
def sweep(request: HttpRequest, sweep_id: UUID) -> HttpResponse:
    found = get_sweep(request.user, sweep_id)
    return shell(request, "sweep", found.name, "sweeps", data={"sweep": str(found.pk)})


@require_safe
@login_required
def compare(request: HttpRequest) -> HttpResponse:
    """`?runs=<id>,<id>`. Raises `Http404` when one of them is not the user's to see."""
    for run_id in filter(None, request.GET.get("runs", "").split(",")):
        get_run(request.user, run_id)
    return shell(request, "compare", "Compare runs", "compare")


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    context = {
        "title": "Account",
        "section": "account",
        "modules": modules_of("account"),
        "has_second_factor": has_second_factor(user),
        "has_app": has_authenticator_app(user),
        "security_keys": security_keys(user),
        "num_recovery_codes": num_recovery_codes(user),
        "provider_links": provider_links(user),
    }
    return render(request, "dashboard/account.html", context)


@require_safe
@login_required
def queue(request: HttpRequest) -> HttpResponse:
    """`?pool=<name>` chooses the pool."""
    data = {"pool": request.GET["pool"]} if "pool" in request.GET else {}
    return shell(request, "queue", "Queue", "queue", data=data)


@require_safe
@login_required
def gpu(request: HttpRequest, gpu_id: int) -> HttpResponse:
    found = get_object_or_404(Gpu.objects.select_related("node"), pk=gpu_id)
    title, data = f"GPU {found.index} of {found.node.name}", {"gpu": found.pk, "node": found.node_id}
    return shell(request, "gpu", title, "pool", data=data)
