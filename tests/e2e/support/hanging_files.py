# SPDX-License-Identifier: Apache-2.0
"""A FUSE file system that can be told not to answer, as a hostile container may run one.

The server is a process of its own that speaks the kernel's protocol (include/uapi/linux/fuse.h). When
it ends, the kernel ends all that waits for it with an error: nothing can be left hanging.
"""

import ctypes
import os
import select
import stat
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE = 1, 2, 3, 4, 14, 15, 16
RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR = 18, 25, 26, 27, 29
INTERRUPT, BATCH_FORGET = 36, 42
WITHOUT_ANSWER = (FORGET, INTERRUPT, BATCH_FORGET)
NAMES = {"lookup": LOOKUP, "getattr": GETATTR, "open": OPEN, "read": READ, "write": WRITE}
REQUEST = struct.Struct("<IIQQIIIHH")
ROOT = 1
VALID_S = 3600
LARGEST_REQUEST = 1 << 17
# The machine is not to be held up for longer, whatever becomes of the test: then the server ends.
LONGEST_HANG_S = 20
FOPEN_KEEP_CACHE = 2
# With it who waits for a read can be killed; without, or in another request, not even that.
FUSE_ASYNC_READ = 1
MS_NOSUID, MS_NODEV = 2, 4
ENOENT, ENOSYS = 2, 38


def is_possible() -> bool:
    return os.path.exists("/dev/fuse") and os.geteuid() == 0


class HangingFiles:
    """Shows the files of a folder under `mount`. Use with `with`: nothing is left of it then."""

    def __init__(self, folder: Path):
        self._mount = tempfile.TemporaryDirectory(prefix="uvtap-fuse-")
        self.mount = Path(self._mount.name)
        self._server = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, "-B", __file__, folder, self.mount],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._expect("mounted")

    def __enter__(self) -> "HangingFiles":
        return self

    def __exit__(self, *_) -> None:
        self._server.kill()
        self._server.wait()
        self._server.stdin.close()
        self._server.stdout.close()
        ctypes.CDLL(None, use_errno=True).umount2(bytes(self.mount), 2)  # MNT_DETACH
        self._mount.cleanup()

    def hang(self, *requests: str) -> None:
        """From now on these are not answered: "lookup", "getattr", "open", "read", "write"."""
        self._tell("hang", *requests)

    def answer(self) -> None:
        """Everything is answered again, what has been waiting too."""
        self._tell("answer")

    def await_waiting(self) -> None:
        """Until somebody waits for an answer."""
        self._tell("await")

    def _tell(self, *words: str) -> None:
        self._server.stdin.write(" ".join(words) + "\n")
        self._server.stdin.flush()
        self._expect("done")

    def _expect(self, word: str) -> None:
        line = self._server.stdout.readline().strip()
        if line != word:
            raise AssertionError(f"the file server says {line!r} instead of {word!r}")


class Server:
    """The other side: runs until its standard input ends."""

    def __init__(self, folder: Path, mount: Path):
        self.files = [None, None, *sorted(each for each in folder.iterdir())]  # by node number
        self.device = os.open("/dev/fuse", os.O_RDWR)
        self.hanging: set[int] = set()
        self.waiting: list[tuple[int, int, int, bytes]] = []
        self.awaited = False
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if libc.mount(b"uvtap", bytes(mount), b"fuse", MS_NOSUID | MS_NODEV, options) != 0:
            raise OSError(ctypes.get_errno(), "cannot mount FUSE")

    def run(self) -> None:
        print("mounted", flush=True)
        while True:
            timeout = LONGEST_HANG_S if self.hanging else None
            ready, _, _ = select.select([self.device, sys.stdin], [], [], timeout)
            if self.hanging and time.monotonic() - self.hangs_since > LONGEST_HANG_S:
                return
            if self.device in ready:
                self.take_request()
            if sys.stdin in ready and not self.obey(sys.stdin.readline().split()):
                return

    def obey(self, words: list[str]) -> bool:
        if not words:
            return False
        if words[0] == "hang":
            self.hangs_since = time.monotonic()
            self.hanging = {NAMES[word] for word in words[1:]}
        elif words[0] == "answer":
            self.hanging = set()
            waiting, self.waiting = self.waiting, []
            for request in waiting:
                self.serve(*request)
        elif words[0] == "await" and not self.waiting:
            self.awaited = True
            return True
        print("done", flush=True)
        return True

    def take_request(self) -> None:
        request = os.read(self.device, LARGEST_REQUEST + 4096)
        _, kind, unique, node, *_ = REQUEST.unpack_from(request)
        if kind in WITHOUT_ANSWER:
            return
        body = request[REQUEST.size :]
        if kind not in self.hanging:
            return self.serve(kind, unique, node, body)
        self.waiting.append((kind, unique, node, body))
        if self.awaited:
            self.awaited = False
            print("done", flush=True)

    def serve(self, kind: int, unique: int, node: int, body: bytes) -> None:
        answers = {
            INIT: self.init, LOOKUP: self.lookup, GETATTR: self.attributes,
            SETATTR: self.attributes, OPEN: self.open, OPENDIR: self.open, READ: self.read,
            WRITE: self.write, RELEASE: self.nothing, RELEASEDIR: self.nothing, FLUSH: self.nothing,
        }  # fmt: skip
        answer = answers[kind](node, body) if kind in answers else ENOSYS
        error, data = (-answer, b"") if isinstance(answer, int) else (0, answer)
        try:
            os.write(self.device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
        except FileNotFoundError:
            pass  # who asked does not wait any more

    def init(self, _node: int, body: bytes) -> bytes:
        _, _, readahead = struct.unpack_from("<III", body)
        return struct.pack(
            "<IIIIHHII", 7, 31, readahead, FUSE_ASYNC_READ, 12, 9, LARGEST_REQUEST, 1
        ) + bytes(36)

    def lookup(self, _node: int, body: bytes) -> bytes | int:
        name = body.rstrip(b"\0").decode()
        nodes = [node for node, file in enumerate(self.files) if file and file.name == name]
        if not nodes:
            return ENOENT
        valid = struct.pack("<QQQQII", nodes[0], 0, VALID_S, VALID_S, 0, 0)
        return valid + self.attributes_of(nodes[0])

    def attributes(self, node: int, _body: bytes) -> bytes:
        return struct.pack("<QII", VALID_S, 0, 0) + self.attributes_of(node)

    def attributes_of(self, node: int) -> bytes:
        mode, size = stat.S_IFDIR | 0o755, 0
        if file := self.files[node]:
            mode, size = stat.S_IFREG | 0o755, file.stat().st_size
        blocks = (size + 511) // 512
        return struct.pack("<6Q10I", node, size, blocks, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def open(self, _node: int, _body: bytes) -> bytes:
        return struct.pack("<QII", 0, FOPEN_KEEP_CACHE, 0)

    def read(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack_from("<QQI", body)
        with self.files[node].open("rb") as file:
            return os.pread(file.fileno(), size, offset)

    def write(self, _node: int, body: bytes) -> bytes:
        _, _, size = struct.unpack_from("<QQI", body)
        return struct.pack("<II", size, 0)

    def nothing(self, _node: int, _body: bytes) -> bytes:
        return b""


if __name__ == "__main__":
    Server(Path(sys.argv[1]), Path(sys.argv[2])).run()
