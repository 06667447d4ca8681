# SPDX-License-Identifier: Apache-2.0
"""An API server that knows pods only, and behaves like the real one where a watcher notices: TLS,
tokens, field selectors, versions, chunked watches, bookmarks, 410 in both forms, and all that can
go wrong. It needs Python and the openssl command."""

import secrets
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from .kube_http import LOOK_S, Server
from .kube_store import PodStore


@dataclass
class Faults:
    """What goes wrong, until it is changed again."""

    list_status: int = 0  # answered instead of 200
    watch_status: int = 0
    head_delay_s: float = 0  # before each answer
    stall_after_bytes: int = -1  # so many more of a body, and then nothing comes; once
    drop_after_bytes: int = -1  # so many more of a body, and then the connection breaks off; once
    chunk_bytes: int = 0  # size of a chunk; 0: as it comes
    gone_is_event: bool = True  # a watch from a forgotten version: an ERROR event, else a status
    list_body: bytes = b""  # answered instead of the list
    watch_body: bytes = b""  # answered instead of the events
    no_watch_time: bool = False  # a watch ends as soon as it has begun
    token_follows_refusal: bool = False  # a rotated token is there to be read with the next 401


@dataclass(frozen=True)
class Request:
    """What a client sent, and the status that it got."""

    kind: str  # list, watch, other
    path: str
    query: dict[str, str]
    headers: dict[str, str] = field(repr=False)
    status: int


class KubeApi:
    """Serves from the start; use with `with`, or call `close`. `credentials` is a directory with
    `token` and `ca.crt`, as they are mounted into pods."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0, bookmark_every_s: float = 60.0):
        self.host = host
        self.store = PodStore()
        self.faults = Faults()
        self.requests: list[Request] = []
        self.bookmark_every_s = bookmark_every_s
        self._folder = tempfile.TemporaryDirectory(prefix="uvtap-kube-api-")
        self.folder = Path(self._folder.name)
        self.credentials = self.folder / "credentials"
        self.credentials.mkdir()
        _make_certificates(self.folder, self.credentials)
        self._token = ""
        self.rotate_token()
        self._server: Server | None = None
        self.port = port
        self.listen()

    def __enter__(self) -> "KubeApi":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # what happens in the cluster

    def put(self, pod: dict) -> int:
        """A pod (see kube_pods.pod) is new or changed."""
        return self.store.put(pod)

    def remove(self, uid: str) -> int:
        return self.store.remove(uid)

    # what happens to the server

    def listen(self) -> None:
        """Accepts connections (again), on the same port."""
        self._server = Server(self, self.host, self.port)
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, args=(LOOK_S,), daemon=True).start()

    @property
    def listening(self) -> bool:
        return self._server is not None

    def refuse(self) -> None:
        """From now on connections are refused, and those there were break off."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server.break_off()
            self._server = None

    def break_off(self) -> None:
        """All connections break off."""
        self._server.break_off()

    def end_watches(self) -> None:
        """Every watch ends in good order, as after its timeoutSeconds."""
        self._server.end_watches()

    def send_bookmarks(self) -> None:
        """Every watch that asked for bookmarks gets one now."""
        self._server.send_bookmarks()

    def rotate_token(self, write: bool = True) -> None:
        """Only a new token is accepted. `write`: it is there for the clients to read."""
        self._token = secrets.token_urlsafe(700)
        if write:
            self.write_token()

    def write_token(self) -> None:
        new = self.credentials / "..new"
        new.write_text(self._token)
        new.rename(self.credentials / "token")

    def note_request(self, *request) -> None:
        self.requests.append(Request(*request))

    def accepts(self, authorization: str | None) -> bool:
        return authorization == f"Bearer {self._token}"

    def watches(self) -> int:
        """How many there are now."""
        return self._server.watches if self._server else 0

    def close(self) -> None:
        self.refuse()
        self._folder.cleanup()


def _make_certificates(folder: Path, public: Path) -> None:
    """A CA, and a certificate of the server that it signed."""
    names = "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:kubernetes.default.svc"
    (folder / "names").write_text(names)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    ca = ["-CA", str(public / "ca.crt"), "-CAkey", "ca.key"]
    for command in (
        ["req", "-x509", *key, "-keyout", "ca.key", "-out", str(public / "ca.crt"),
         "-subj", "/CN=kubernetes", "-days", "2"],
        ["req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=apiserver"],
        ["x509", "-req", "-in", "server.csr", *ca, "-CAcreateserial", "-extfile", "names",
         "-out", "server.crt", "-days", "2"],
    ):  # fmt: skip
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
