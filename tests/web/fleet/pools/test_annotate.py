"""What admins write about nodes and GPUs: kept, bounded, audited, and untouched by reports."""

from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from accounts.models import User
from audit.models import AuditEntry
from fleet.models import Gpu, Node
from fleet.pools.annotate import annotate
from tests.web.fleet.node_posts import alive, card, post_node

pytestmark = pytest.mark.django_db


@pytest.fixture
def node() -> Node:
    post_node(alive("gpu0"), card("GPU-a", 0))
    return Node.objects.get()


def test_what_is_written_stays_when_the_node_reports(admin: User, node: Node) -> None:
    annotate(user=admin, on=node, labels={"rack": "r2", "team/owner": "vision"}, notes="noisy fan")
    annotate(user=admin, on=node, price_per_gpu_hour=Decimal("2.49"))
    gpu = Gpu.objects.get()
    annotate(user=admin, on=gpu, labels={"slot": "3"})
    post_node(alive("gpu0"), card("GPU-a", 0))
    node.refresh_from_db()
    gpu.refresh_from_db()
    assert (node.labels, node.notes) == ({"rack": "r2", "team/owner": "vision"}, "noisy fan")
    assert (node.price_per_gpu_hour, gpu.labels) == (Decimal("2.4900"), {"slot": "3"})
    assert list(AuditEntry.objects.values_list("action", flat=True).order_by("pk")) == [
        "node.annotate",
        "node.annotate",
        "gpu.annotate",
    ]


def test_a_price_can_be_taken_away(admin: User, node: Node) -> None:
    annotate(user=admin, on=node, price_per_gpu_hour=Decimal(3))
    annotate(user=admin, on=node, without_price=True)
    assert node.price_per_gpu_hour is None


def test_nothing_written_is_nothing_recorded(admin: User, node: Node) -> None:
    annotate(user=admin, on=node)
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("labels", {"labels": {"": "x"}}),
        ("labels", {"labels": {"rack": "r2 left"}}),
        ("labels", {"labels": {"x" * 64: ""}}),
        ("labels", {"labels": {f"l{n}": "" for n in range(33)}}),
        ("notes", {"notes": "x" * 4001}),
        ("notes", {"notes": "a\0b"}),
        ("price_per_gpu_hour", {"price_per_gpu_hour": Decimal(-1)}),
        ("price_per_gpu_hour", {"price_per_gpu_hour": Decimal("NaN")}),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(admin: User, node: Node, field: str, given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        annotate(user=admin, on=node, **given)
    assert list(refused.value.message_dict) == [field]


def test_only_pool_admins_write(alice: User, node: Node) -> None:
    with pytest.raises(PermissionDenied):
        annotate(user=alice, on=node, notes="mine")
