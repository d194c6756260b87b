"""What the client makes of others' changes, of a newer server, and of a connection that breaks off."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from accounts.models import User
from gallery.models import Artifact
from runs.models import Run
from tandem import Client, Invalid, PreconditionFailed, TandemError, Unreachable, protocol
from tests.client.conftest import ADDRESS, OverWsgi
from tests.web.gallery.conftest import LORA_PATH
from tests.web.valid_files import valid_file

pytestmark = pytest.mark.django_db
WEIGHTS = valid_file(LORA_PATH, bytes(range(256)) * 500)
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()


class BreaksOff(httpx.SyncByteStream):
    """The first bytes of an answer, then a connection that is gone."""

    def __init__(self, stream: httpx.SyncByteStream, num_bytes: int) -> None:
        self._stream, self._num_bytes = stream, num_bytes

    def __iter__(self) -> Iterator[bytes]:
        yield b"".join(self._stream)[: self._num_bytes]
        raise httpx.ReadError("connection reset")


class Breaking(OverWsgi):
    """Breaks off an answer after each of so many bytes; a header may be taken away."""

    def __init__(self, *breaks: int, without: str = "") -> None:
        super().__init__()
        self._breaks, self._without = [*breaks], without

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        response.headers.pop(self._without, None)
        if self._breaks:
            assert isinstance(response.stream, httpx.SyncByteStream)
            response.stream = BreaksOff(response.stream, self._breaks.pop(0))
        return response

    @property
    def ranges(self) -> list[str | None]:
        return [request.headers.get("Range") for request in self.requests]


class ReplacedMeanwhile(Breaking):
    """A new attempt of the run writes other bytes before the second request."""

    def __init__(self, put: Callable[..., Artifact], *breaks: int) -> None:
        super().__init__(*breaks)
        self._put = put

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if len(self.requests) == 1:
            Artifact.objects.all().delete()
            self._put(LORA_PATH, WEIGHTS, is_valid=False)
        return super().handle_request(request)


@pytest.fixture
def address(run: Run, put: Callable[..., Artifact], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(protocol, "FIRST_WAIT_SECONDS", 0.001)
    put(LORA_PATH, WEIGHTS, is_valid=False)
    return f"/api/v1/runs/{run.pk}/artifacts/{LORA_PATH}"


@pytest.fixture
def download(alice: User, token_of: Callable[..., str], address: str, tmp_path: Path) -> Callable[[OverWsgi], Path]:
    def fetch(transport: OverWsgi) -> Path:
        with Client(ADDRESS, token_of(alice), transport=transport) as client:
            return client._session.download(address, tmp_path / "kept" / "w.safetensors", DIGEST)

    return fetch


def test_a_download_that_breaks_off_goes_on_from_there(download: Callable[[OverWsgi], Path]) -> None:
    transport = Breaking(1000, 5)
    assert download(transport).read_bytes() == WEIGHTS
    assert transport.ranges == [None, "bytes=1000-", "bytes=1005-"]


def test_a_file_that_was_replaced_meanwhile_is_read_anew(
    run: Run, put: Callable[..., Artifact], download: Callable[[OverWsgi], Path]
) -> None:
    put(LORA_PATH, b"older" * 1000, attempt=2)
    transport = ReplacedMeanwhile(put, 1000)
    assert download(transport).read_bytes() == WEIGHTS
    assert transport.ranges == [None, "bytes=1000-", None]


def test_a_connection_that_breaks_after_the_last_byte_loses_nothing(download: Callable[[OverWsgi], Path]) -> None:
    transport = Breaking(len(WEIGHTS))
    assert download(transport).read_bytes() == WEIGHTS
    assert transport.ranges == [None, f"bytes={len(WEIGHTS)}-"]


def test_a_file_that_is_shorter_than_what_was_read_of_it_is_read_anew(
    run: Run, put: Callable[..., Artifact], download: Callable[[OverWsgi], Path]
) -> None:
    put(LORA_PATH, b"older" * len(WEIGHTS), attempt=2)
    transport = ReplacedMeanwhile(put, 2 * len(WEIGHTS))
    assert download(transport).read_bytes() == WEIGHTS
    assert transport.ranges == [None, f"bytes={2 * len(WEIGHTS)}-", None]


def test_two_who_write_the_same_file_do_not_write_into_each_others(
    download: Callable[[OverWsgi], Path], tmp_path: Path
) -> None:
    class Looks(Breaking):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            parts.extend((tmp_path / "kept").glob("*.part"))
            return super().handle_request(request)

    parts: list[Path] = []
    download(Looks())
    download(Looks())
    assert len(set(parts)) == 2
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["w.safetensors"]


def test_a_download_ends_where_the_server_has_no_ranges_or_breaks_off_again_and_again(
    download: Callable[[OverWsgi], Path], tmp_path: Path
) -> None:
    for transport in (Breaking(1000, without="Accept-Ranges"), Breaking(*[10] * 9)):
        with pytest.raises(Unreachable, match="broke after"):
            download(transport)
        assert list((tmp_path / "kept").iterdir()) == []
    assert len(transport.requests) == 1 + protocol.MAX_REPEATS


def test_a_change_is_refused_where_another_has_changed_the_run_since(client: Client, run: Run) -> None:
    mine, other = client.runs.get(str(run.pk)), client.runs.get(str(run.pk))
    changed = other.update(notes="theirs", tags=["kept"], if_match=True)
    with pytest.raises(PreconditionFailed, match="changed since you read it"):
        mine.update(notes="mine", if_match=True)
    again = changed.update(name="renamed", if_match=True)
    assert (again.notes, again.tags, again.name) == ("theirs", ["kept"], "renamed")
    assert mine.update(notes="mine").notes == "mine"
    assert mine.reload().update(notes="", if_match=True).notes == ""


def test_none_clears_a_field_and_what_is_not_given_stays(client: Client, run: Run) -> None:
    found = client.runs.get(str(run.pk)).update(notes="mine", tags=["paper"])
    assert (found.update(notes=None).notes, found.reload().tags) == ("", ["paper"])
    assert found.update(tags=None).tags == []
    with pytest.raises(Invalid, match="`name` must be a text, got nothing") as refused:
        found.update(name=None)  # type: ignore[arg-type]
    assert list(refused.value.errors) == ["name"]


def test_a_listed_run_must_be_read_before_it_is_changed_conditionally(client: Client, run: Run) -> None:
    [listed] = client.runs.list()
    with pytest.raises(TandemError, match=r"reload\(\) it first"):
        listed.update(notes="mine", if_match=True)
    assert listed.reload().update(notes="mine", if_match=True).notes == "mine"


def test_names_and_fields_that_a_newer_server_adds_are_kept(
    alice: User, token_of: Callable[..., str], run: Run
) -> None:
    class Newer(OverWsgi):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            response.read()
            body = json.loads(response.content)
            changes = {"state": "hibernating", "priority": "urgent", "colour": "red"}
            algebra = {**body["algebra"], "num_dreams": 3}
            return httpx.Response(200, json={**body, **changes, "algebra": algebra})

    with Client(ADDRESS, token_of(alice), transport=Newer()) as client:
        found = client.runs.get(str(run.pk)).model_dump(mode="json")
    assert (found["state"], found["priority"], found["colour"]) == ("hibernating", "urgent", "red")
    assert found["algebra"]["num_dreams"] == 3
