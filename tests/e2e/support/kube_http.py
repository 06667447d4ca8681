# SPDX-License-Identifier: Apache-2.0
"""How the test API server speaks: HTTPS, lists, chunked watches. See kube_api.KubeApi."""

import json
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SHUT_RDWR, TCP_NODELAY, socket
from threading import Event, Lock
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from .kube_api import Faults, KubeApi

REASONS = {401: "Unauthorized", 403: "Forbidden", 410: "Expired", 429: "TooManyRequests"}
LOOK_S = 0.02  # how often a watch looks whether it is to end


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, api: "KubeApi", host: str, port: int):
        self.api = api
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(api.folder / "server.crt", api.folder / "server.key")
        self._connections: set[socket] = set()
        self._lock = Lock()
        self.round = 0  # of watches: those of an earlier one end
        self.bookmarks = 0  # how often they were asked for
        self.watches = 0
        self.closing = Event()
        super().__init__((host, port), _Handler)

    def get_request(self):
        connection, address = super().get_request()
        connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, True)  # as servers in Go have it
        # The handshake is made on the first read, in the connection's own thread.
        connection = self._tls.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False
        )
        with self._lock:
            self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request):
        with self._lock:
            self._connections.discard(request)
        request.close()  # without the farewell of TLS, which would wait for the client's

    def count_watch(self, by: int) -> None:
        with self._lock:
            self.watches += by

    def break_off(self) -> None:
        self.closing.set()
        with self._lock:
            for each in self._connections:
                _shut(each)
        self.closing = Event()

    def end_watches(self) -> None:
        self.round += 1

    def send_bookmarks(self) -> None:
        self.bookmarks += 1

    def handle_error(self, request, client_address):
        pass  # a client that went away, or does not trust us


class _BrokenOff(Exception):
    """The connection is to end without another byte."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.api = self.server.api
        self.faults = self.api.faults
        self.closing = self.server.closing
        url = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        is_watch = self.query.get("watch") in ("true", "1")
        kind = "other" if url.path != "/api/v1/pods" else "watch" if is_watch else "list"
        if self.faults.head_delay_s and self.closing.wait(self.faults.head_delay_s):
            return
        status = self.status(kind)
        self.api.note_request(kind, url.path, self.query, dict(self.headers), status)
        try:
            if status != 200:
                self.refuse(status)
            elif kind == "watch":
                self.watch()
            else:
                self.list()
        except (_BrokenOff, OSError):
            self.close_connection = True
            _shut(self.connection)

    def status(self, kind: str) -> int:
        if not self.api.accepts(self.headers["Authorization"]):
            return 401
        if kind == "other":
            return 404
        if fault := self.faults.list_status if kind == "list" else self.faults.watch_status:
            return fault
        if self.node() is None:
            return 400
        forgotten = kind == "watch" and not self.api.store.remembers(self.version())
        return 410 if forgotten and not self.faults.gone_is_event else 200

    def node(self) -> str | None:
        """The field selector's, "" for all; None if it is not understood."""
        field, _, name = self.query.get("fieldSelector", "spec.nodeName=").partition("=")
        return name if field == "spec.nodeName" else None

    def version(self) -> int:
        return int(self.query.get("resourceVersion", "0") or "0")

    def refuse(self, status: int) -> None:
        if status == 401 and self.faults.token_follows_refusal:
            self.api.write_token()
        body = json.dumps(_status(status)).encode()
        self.send_response(status, REASONS.get(status))
        self.send_header("Content-Type", "application/json")
        if status in (301, 302, 307, 308):
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self) -> "_Body":
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        return _Body(self.wfile, self.faults, self.closing)

    def list(self) -> None:
        version, pods = self.api.store.current(self.node())
        body = self.begin()
        if self.faults.list_body:
            body.write(self.faults.list_body)
        else:
            metadata = f'"metadata":{{"resourceVersion":"{version}"}}'
            body.write(f'{{"kind":"PodList","apiVersion":"v1",{metadata},"items":['.encode())
            for at, pod in enumerate(pods):
                body.write(("," * (at > 0) + pod).encode())
            body.write(b"]}\n")
        body.end()

    def watch(self) -> None:
        # Before it is counted: from then on the test may end it.
        self.round, self.bookmarks = self.server.round, self.server.bookmarks
        self.server.count_watch(1)
        try:
            body = self.begin()
            if self.faults.watch_body:
                body.write(self.faults.watch_body)
            if not self.faults.no_watch_time:
                self.send_events(body)
            body.end()
        finally:
            self.server.count_watch(-1)

    def send_events(self, body: "_Body") -> None:
        """Until the time is up, or all watches are to end."""
        version = self.version()
        if not self.api.store.remembers(version):
            body.write(_event("ERROR", json.dumps(_status(410))))
            return
        now = time.monotonic()
        end = now + float(self.query.get("timeoutSeconds", "1800"))
        next_bookmark = now + self.api.bookmark_every_s
        while self.server.round == self.round and time.monotonic() < end:
            if self.closing.is_set():
                raise _BrokenOff
            version = self.send_changes(body, version)
            due = time.monotonic() >= next_bookmark or self.server.bookmarks != self.bookmarks
            if due and self.query.get("allowWatchBookmarks") == "true":
                self.bookmarks = self.server.bookmarks
                self.send_bookmark(body, version)
                next_bookmark = time.monotonic() + self.api.bookmark_every_s
            self.api.store.await_change(version, LOOK_S)
            if select([self.connection], [], [], 0)[0]:
                raise _BrokenOff  # the client has nothing to say, so it has gone

    def send_changes(self, body: "_Body", version: int) -> int:
        """Returns the version that the client has reached."""
        changes, reached = self.api.store.since(version, self.node())
        for change in changes:
            body.write(_event(change.type, change.text))
        return reached

    @staticmethod
    def send_bookmark(body: "_Body", version: int) -> None:
        metadata = {"resourceVersion": str(version), "creationTimestamp": None}
        pod = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}
        rest = {"spec": {"containers": None}, "status": {}}
        body.write(_event("BOOKMARK", json.dumps(pod | rest)))


class _Body:
    """A chunked body, with what goes wrong in it."""

    def __init__(self, out, faults: "Faults", closing: Event):
        self._out = out
        self._faults = faults
        self._closing = closing

    def write(self, data: bytes) -> None:
        size = self._faults.chunk_bytes or max(len(data), 1)
        for begin in range(0, len(data), size):
            self._write_chunk(data[begin : begin + size])

    def end(self) -> None:
        self._out.write(b"0\r\n\r\n")

    def _write_chunk(self, chunk: bytes) -> None:
        for fault in ("drop_after_bytes", "stall_after_bytes"):
            left = getattr(self._faults, fault)
            if 0 <= left < len(chunk):
                # The announced chunk does not come whole.
                self._out.write(b"%x\r\n%s" % (len(chunk), chunk[:left]))
                setattr(self._faults, fault, -1)
                if fault == "stall_after_bytes":
                    self._closing.wait()
                raise _BrokenOff
            setattr(self._faults, fault, max(left - len(chunk), -1))
        self._out.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))


def _event(kind: str, pod: str) -> bytes:
    return f'{{"type":"{kind}","object":{pod}}}\n'.encode()


def _status(code: int) -> dict:
    return {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "the test wants it so", "reason": REASONS.get(code, "InternalError"),
        "code": code,
    }  # fmt: skip


def _shut(connection: socket) -> None:
    try:
        socket.shutdown(connection, SHUT_RDWR)
    except OSError:
        pass  # it has gone already
