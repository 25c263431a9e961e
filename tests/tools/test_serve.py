"""`make serve` on addresses that name no file."""

from __future__ import annotations

import http.client
import threading
from pathlib import Path

from tools.pipeline import serve


def test_an_address_with_a_nul_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!DOCTYPE html>here")
    server = serve.make_server(tmp_path, {"PORT": "0"})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        for address, code in (("/a%00b.html", 400), ("/%00", 400), ("/index.html", 200)):
            connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
            connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
            assert connection.getresponse().status == code
            connection.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
