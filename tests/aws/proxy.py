"""A proxy between the functions and the services that lets calls fail as real services do."""

import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_DOWN = b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'
UNAVAILABLE = b'{"__type":"com.amazonaws#ServiceUnavailable","message":"The service is not available."}'
# Not handed on: they belong to one connection.
OWN = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Failing:
    """Answers every fourth call with 503 and breaks every ninth object off in the middle."""

    def __init__(self, endpoint: str):
        self.target = urllib.parse.urlsplit(endpoint)
        self.served = self.failed = self.broken = self.objects = 0
        self.lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                proxy.pass_on(self)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

            def log_message(self, *_) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "Failing":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()

    def pass_on(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        with self.lock:
            self.served += 1
            refuse = self.served % 4 == 0
            self.failed += refuse
        if refuse:
            json_ = "X-Amz-Target" in request.headers
            return answer(request, 503, {"Content-Type": "application/json" if json_ else "application/xml"}, UNAVAILABLE if json_ else SLOW_DOWN)
        onward = http.client.HTTPConnection(self.target.hostname, self.target.port, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in OWN}
        onward.request(request.command, request.path, body, headers)
        got = onward.getresponse()
        content = got.read()
        onward.close()
        kept = {name: value for name, value in got.getheaders() if name.lower() not in OWN}
        with self.lock:
            whole_object = request.command == "GET" and got.status == 200 and "list-type" not in request.path and len(content) > 1
            self.objects += whole_object
            cut = whole_object and self.objects % 9 == 1
            self.broken += cut
        length = got.getheader("Content-Length") if request.command == "HEAD" else None
        answer(request, got.status, kept, content, length, cut)
        return None


def answer(request: BaseHTTPRequestHandler, status: int, headers: dict, content: bytes, length: str | None = None, cut: bool = False) -> None:
    request.send_response_only(status)
    for name, value in headers.items():
        request.send_header(name, value)
    # What is asked for by its head only has a length and no content.
    if request.command == "HEAD":
        content = b""
    request.send_header("Content-Length", length or str(len(content)))
    request.end_headers()
    request.wfile.write(content[: len(content) // 2] if cut else content)
    request.wfile.flush()
    request.close_connection = cut
