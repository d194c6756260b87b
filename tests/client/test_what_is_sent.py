"""Addresses, tokens, files and names before anything is sent or written."""

from pathlib import Path

import pytest

from tandem import Client, NotSignedIn, TandemError
from tandem.contexts import Context
from tandem.prompt_file import read_prompts
from tandem.protocol import is_exposed, sent_token, server_address, spec_document
from tandem.text_files import file_name


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("tandem.example.org", "must begin with http"),
        ("http://", "name a host"),
        ("http://[::1", "Invalid IPv6"),
        ("http://host:99999", "Port out of range"),
        ("https://ada:geheim@tandem.example.org", "no user name"),
        ("https://tandem.example.org/?next=1", "no `\\?`"),
    ],
)
def test_an_address_that_is_none_is_refused_in_a_sentence(address: str, problem: str) -> None:
    with pytest.raises(NotSignedIn, match=problem) as refused:
        server_address(address)
    assert "geheim" not in str(refused.value)


def test_only_another_machine_over_http_is_exposed() -> None:
    assert is_exposed("http://tandem.example.org")
    assert not any(map(is_exposed, ("https://tandem.example.org", "http://127.0.0.1:8000", "http://[::1]:8000")))


@pytest.mark.parametrize("token", ["", "two words", "geheim\r\nX-Other: 1", "gehäim", "geheim\x00"])
def test_what_is_no_token_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(NotSignedIn, match="copy it anew") as refused:
        Client("https://tandem.example.org", token or "\n")
    assert "geh" not in str(refused.value)


def test_the_line_end_of_pasting_is_no_part_of_a_token() -> None:
    assert sent_token(" abc123\r\n") == "abc123"
    assert "abc123" not in repr(Context("https://tandem.example.org", "abc123"))


def test_files_are_read_as_utf8_on_every_system(tmp_path: Path) -> None:
    for name, content in (
        ("bom.yaml", "prompts: [Käse]".encode("utf-8-sig")),
        ("plain.yaml", "prompts: [Käse]".encode()),
    ):
        (tmp_path / name).write_bytes(content)
        assert spec_document(tmp_path / name) == "prompts: [Käse]"
    (tmp_path / "old.txt").write_bytes("Käse".encode("latin-1"))
    with pytest.raises(TandemError, match=r"old.txt must be text in UTF-8, and is not: .* at byte 1"):
        read_prompts(tmp_path / "old.txt")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("reds v2.1", "reds v2.1"),
        ("../../etc/passwd", "..-..-etc-passwd"),
        ("..", "-"),
        ("C:\\a|b?", "C--a-b-"),
        ("con.txt", "-con.txt"),
        ("dot. ", "dot"),
        ("line\nend", "line-end"),
    ],
)
def test_a_runs_name_is_a_file_name_on_every_system(name: str, file: str) -> None:
    assert file_name(name) == file
    assert Path(file).name == file
