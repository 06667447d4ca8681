#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics by TLS and with a bearer token: who sees it, files that change, files that are no use."""

import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from support import tier, uvtap
from support.hostile_clients import Flood, connect, exchange, many_addresses, trickle
from support.server_files import await_files, files_at_rest
from support.uvtap import Uvtap

NODE = "22"
ENDS_WITHIN_S = 14.0  # a connection lives 10 s


def make_pair(folder: Path, name: str) -> tuple[str, str]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return str(certificate), str(key)


class ProtectedUvtap(Uvtap):
    """By TLS and with a token; shows the right one unless told otherwise."""

    def __init__(self, certificate: str, key: str, token_file: Path):
        self.trusted, self.token_file = certificate, token_file
        super().__init__(arguments=(
            "--tls-certificate", certificate, "--tls-key", key,
            "--bearer-token-file", str(token_file),
        ))  # fmt: skip

    def get(self, path: str, token: str | None = None) -> tuple[int, str]:
        shown = self.token_file.read_text().strip() if token is None else token
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}")
        if shown:
            request.add_header("Authorization", f"Bearer {shown}")
        context = ssl.create_default_context(cafile=self.trusted)
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def subject(self) -> str:
        pem = ssl.get_server_certificate(("127.0.0.1", self.port), timeout=10)
        done = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=pem, text=True,
                              capture_output=True, check=True)  # fmt: skip
        return done.stdout.strip()


class Protected(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.token = cls.folder / "token"
        cls.token.write_text("s3cret-of-the-test\n")
        cls.pair = make_pair(cls.folder, "first")
        cls.uvtap = cls.enterClassContext(ProtectedUvtap(*cls.pair, cls.token))
        # Before another certificate comes: the server that had the old one stays for a while.
        cls.files = files_at_rest(cls.uvtap)

    def test_the_token_opens_the_metrics(self):
        self.assertIn("uvtap_build_info", self.uvtap.get("/metrics")[1])
        for wrong in ("", "s3cret", "s3cret-of-the-test2", "x" * 4000):
            with self.subTest(wrong):
                status, said = self.uvtap.get("/metrics", token=wrong)
                self.assertEqual((status, said), (401, "not authorized\n"))

    def test_the_kubelet_needs_no_token(self):
        for page in ("/healthz", "/readyz", "/"):
            self.assertEqual(self.uvtap.get(page, token="")[0], 200)

    def test_files_that_change(self):
        """As cert-manager and mounted Secrets change them."""
        self.token.write_text("another\n")
        self.uvtap.await_that(lambda _: self.uvtap.get("/metrics", "another")[0] == 200, "token")
        self.assertEqual(self.uvtap.get("/metrics", "s3cret-of-the-test")[0], 401)
        second = make_pair(self.folder, "second")
        Path(second[1]).replace(self.pair[1])
        self.uvtap.get("/healthz")  # key and certificate do not fit just now: the last ones stay
        self.assertIn("first", self.uvtap.subject())
        Path(second[0]).replace(self.pair[0])
        deadline = time.monotonic() + 10
        while "second" not in self.uvtap.subject():
            self.assertLess(time.monotonic(), deadline, self.uvtap.log())
        self.assertEqual(self.uvtap.get("/healthz"), (200, "ok\n"))

    def test_plain_http_gets_nothing(self):
        answer = exchange(self.uvtap.port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertNotIn(b"HTTP", answer)

    def test_handshakes_that_never_end(self):
        hello = bytes.fromhex("16030102000100")
        with Flood(self.uvtap.port, 1000, many_addresses(), hello):
            self.assertEqual(self.uvtap.get("/healthz"), (200, "ok\n"))
        spent = trickle(self.uvtap.port, hello, b"\0", 0.5)
        self.assertLess(spent, ENDS_WITHIN_S)

    def test_many_handshakes(self):
        context = ssl.create_default_context(cafile=self.pair[0])
        for _ in range(300):
            with connect(self.uvtap.port) as raw, context.wrap_socket(
                raw, server_hostname="127.0.0.1"
            ):
                pass
        self.assertEqual(self.uvtap.get("/healthz"), (200, "ok\n"))
        await_files(self.uvtap, self.files)


class Refused(unittest.TestCase):
    """Files that cannot be used end it at once, in one line that names them."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.certificate, self.key = make_pair(self.folder, "first")
        self.empty = self.folder / "empty"
        self.empty.touch()

    def serve(self, *arguments: str | Path) -> subprocess.CompletedProcess:
        return uvtap.run("serve", "--listen", "127.0.0.1:0", *map(str, arguments))

    def check(self, done: subprocess.CompletedProcess, *words: str) -> None:
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_certificates(self):
        other = make_pair(self.folder, "other")[0]
        none, folder = self.folder / "none", self.folder
        for certificate, key, words in (
            (other, self.key, (other, self.key, "do not belong together")),
            (none, self.key, (str(none), "No such file")),
            (self.certificate, self.empty, (str(self.empty), "is empty")),
            (self.certificate, folder, (str(folder), "not a regular file")),
            (self.key, self.certificate, (self.key,)),
            ("/dev/zero", self.key, ("/dev/zero", "not a regular file")),
            ("/bin/sh", self.key, ("/bin/sh",)),
        ):
            with self.subTest(words):
                self.check(self.serve("--tls-certificate", certificate, "--tls-key", key), *words)

    def test_tokens(self):
        self.check(self.serve("--bearer-token-file", self.empty), str(self.empty), "is empty")
        self.check(self.serve("--bearer-token-file", "/proc/none"), "/proc/none", "No such file")

    def test_what_is_only_warned_of(self):
        Path(self.key).chmod(0o644)
        token = self.folder / "token"
        token.write_text("s3cret")
        arguments = ("serve", "--front-door", "memory", "--listen")
        without_privileges = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        for more, warning in (
            (("127.0.0.1:0", "--tls-certificate", self.certificate, "--tls-key", self.key),
             "every user of this machine may read"),
            ((":0", "--bearer-token-file", str(token)), "in the clear"),
        ):  # fmt: skip
            done = subprocess.run([*without_privileges, uvtap.binary(), *arguments, *more],
                                  capture_output=True, text=True, timeout=30)  # fmt: skip
            self.assertIn(warning, done.stderr)


if __name__ == "__main__":
    tier.main((NODE,))
