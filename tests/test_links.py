"""Links to pages of others are well formed and on the list; a command opens them, tried on a server of our own."""

from __future__ import annotations

import datetime
import http.server
import sys
import threading
import urllib.parse
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

import links


def test_every_link_is_on_the_list_once_and_every_listed_one_is_a_link():
    text = links.LIST.read_text(encoding="utf-8")
    assert text == links.written(links.listed())
    assert text.count("[[link]]") == len(links.listed())
    assert list(links.listed()) == list(links.linked())


@pytest.mark.parametrize("link", links.linked())
def test_a_link_is_well_formed(link):
    parts = urllib.parse.urlsplit(link)
    assert parts.scheme == "https"
    assert "." in parts.netloc
    assert parts.netloc == parts.netloc.lower()
    assert not set(link) & set("<>{}|\\^` ")
    day = links.listed()[link]
    assert not day or datetime.date(2026, 1, 1) <= datetime.date.fromisoformat(day)


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/there" else 404)
        self.end_headers()

    def log_message(self, *words):
        pass


def test_the_command_notes_the_day_of_what_answers_and_names_what_does_not(tmp_path, monkeypatch, capsys):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_port}"
    page = tmp_path / "page.md"
    page.write_text(f"[one]({at}/there). See <{at}/gone>, {at}/lost.\n\n```sh\ncurl {at}/code\n```\n")
    for name, value in (("DOCS", tmp_path / "docs"), ("LIST", tmp_path / "links.toml"), ("sources", lambda: [page])):
        monkeypatch.setattr(links, name, value)
    (tmp_path / "links.toml").write_text(links.written({f"{at}/gone": "2026-01-02", f"{at}/old": "2026-01-03"}))
    try:
        assert links.main() == 1
    finally:
        server.shutdown()
        server.server_close()
    assert links.listed() == {f"{at}/gone": "2026-01-02", f"{at}/lost": "", f"{at}/there": str(datetime.date.today())}
    assert capsys.readouterr().out.splitlines() == [
        f"{at}/gone (page.md): status 404; it last answered 2026-01-02",
        f"{at}/lost (page.md): status 404; it last answered never",
        "1 of 3 links answer; links.toml says when",
    ]
