"""`make serve`: what it sends, and addresses that name no file."""

from __future__ import annotations

import gzip
import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.pipeline import serve

Ask = Callable[[str], tuple[int, bytes]]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Asks a server of a folder for an address: code and body."""
    (tmp_path / "index.html").write_text("<!DOCTYPE html>here")
    server = serve.make_server(tmp_path, {"PORT": "0"})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def get(address: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
        connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        packed = answer.getheader("Content-Encoding") == "gzip"
        return answer.status, gzip.decompress(body) if packed else body

    yield get
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_address_with_a_nul_is_refused_and_the_server_goes_on(ask: Ask) -> None:
    codes = [ask(address)[0] for address in ("/a%00b.html", "/%00", "/index.html")]
    assert codes == [400, 400, 200]


def test_a_file_is_sent_as_it_is_now(ask: Ask, tmp_path: Path) -> None:
    """What was packed is kept, and a book may be built while it is served."""
    assert ask("/index.html") == ask("/index.html") == (200, b"<!DOCTYPE html>here")
    (tmp_path / "index.html").write_text("<!DOCTYPE html>else")
    assert ask("/index.html") == (200, b"<!DOCTYPE html>else")
    assert ask("/none.html")[0] == 404


@pytest.mark.parametrize("handler", [serve.Packing, SimpleHTTPRequestHandler])
def test_a_reader_who_leaves_before_the_answer_is_whole_is_no_error(
    handler: type[SimpleHTTPRequestHandler], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "large").write_bytes(bytes(30_000_000))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path))) as server:
        server.daemon_threads = False  # so that it waits for them in the end
        threading.Thread(target=server.serve_forever).start()
        with socket.create_connection(server.server_address) as line:
            line.sendall(b"GET /large HTTP/1.0\r\n\r\n")
            line.recv(1)
        server.shutdown()
    said = capsys.readouterr().err
    assert '"GET /large HTTP/1.0" 200' in said
    assert ("Traceback" in said) == (handler is SimpleHTTPRequestHandler)
