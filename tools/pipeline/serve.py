"""`make serve`: show the built book in a browser, from this machine to this machine only."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import os
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

PACKED = (".html", ".css", ".js", ".json", ".svg", ".csv", ".md", ".ipynb")
SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
ADDRESS = "127.0.0.1"


class Packing(SimpleHTTPRequestHandler):
    """Sends texts packed, as the servers of published sites do."""

    def handle(self) -> None:
        """Answer; a reader who leaves before the answer is whole needs no more of it."""
        with contextlib.suppress(ConnectionError):
            super().handle()

    def send_head(self) -> io.BufferedIOBase | None:  # type: ignore[override]
        """The answer's head, and what its body is read from."""
        if "\0" in unquote(self.path):
            self.send_error(HTTPStatus.BAD_REQUEST, "no file has such a name")
            return None
        path = Path(self.translate_path(self.path))
        wanted = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (wanted and path.suffix in PACKED and path.is_file()):
            return super().send_head()  # type: ignore[return-value]
        state = path.stat()
        packed = _packed(path, state.st_size, state.st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed)))
        self.send_header("Vary", "Accept-Encoding")
        self.end_headers()
        return io.BytesIO(packed)


@functools.lru_cache(maxsize=200)
def _packed(path: Path, size: int, changed: int) -> bytes:
    """A file as it is sent; kept until it changes, as pages load the same styles and scripts."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)


def make_server(site: Path, environment: Mapping[str, str]) -> ThreadingHTTPServer:
    """A server of the built site, bound to its port.

    Raises:
        ValueError: there is no book, no such port, or somebody else has the port.
    """
    text = environment.get("PORT") or "8000"
    if not (site / "index.html").is_file():
        raise ValueError("the book is not built yet; run: make book")
    if not text.isdecimal() or int(text) > 65535:
        raise ValueError(f"PORT={text} is not a port, such as PORT=8000")
    handler = functools.partial(Packing, directory=str(site))
    try:
        return ThreadingHTTPServer((ADDRESS, int(text)), handler)
    except OSError as error:
        raise ValueError(
            f"port {text} cannot be used ({error.strerror}); name another one: make serve PORT=8001"
        ) from None


def main() -> int:
    """Serve until stopped."""
    try:
        server = make_server(SITE, os.environ)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with server:
        print(f"http://{ADDRESS}:{server.server_port}/  (Ctrl-C stops it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
