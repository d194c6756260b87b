"""Names of nodes: their own, else their host's, and never two alike."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.node_reports import NODE_LABEL
from worker.node.naming import MAX_NAME_CHARS, NodeNames, host_name


def node(node_id: str, host: str = "gpu0.example.org", label: str = "") -> dict[str, Any]:
    labels = {NODE_LABEL: label} if label else {}
    return {"NodeID": node_id, "NodeManagerHostname": host, "Labels": labels}


def test_a_node_keeps_the_name_that_the_web_knows() -> None:
    assert NodeNames({"a": "old"}).of(node("a"), {"a"}) == "old"


def test_a_node_that_comes_back_gets_its_hosts_name_again() -> None:
    names = NodeNames({"a": "gpu0"})
    assert names.of(node("b"), {"b"}) == "gpu0", "the first one is gone"


def test_a_label_is_the_name_even_where_another_was_known() -> None:
    assert NodeNames({"a": "old"}).of(node("a", label="mine"), {"a"}) == "mine"


@given(hosts=st.lists(st.text(max_size=130), max_size=6), label=st.sampled_from(["", "mine"]))
def test_whatever_hosts_are_called_names_differ_and_are_fit_for_the_pool(hosts: list[str], label: str) -> None:
    names, alive = NodeNames({}), {str(index) for index in range(len(hosts))}
    given = [names.of(node(str(index), host, label), alive) for index, host in enumerate(hosts)]
    assert len(set(given)) == len(given)
    assert all(len(name) <= MAX_NAME_CHARS and name[0].isalnum() for name in given)
    assert given == [names.of(node(str(index), host, label), alive) for index, host in enumerate(hosts)]


def test_a_name_is_made_of_the_hosts_first_part() -> None:
    assert host_name("gpu-7.rack2.example.org", set()) == "gpu-7"
    assert host_name("gpu-7", {"gpu-7"}) == "gpu-7-2"
    assert host_name("…", set()) == "node"
