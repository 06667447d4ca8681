#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The image that daemonset/build-image makes: small, nothing in it but what uvtap needs, and it
runs with no more than the DaemonSet gives it.

By default it is assembled from the binary of this build. With UVTAP_E2E_LONG=1 it is compiled,
twice, in a base made of Debian's packages, as a release is.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import manifests, tier, uvtap
from support.manifests import DAEMONSET
from support.nodes import REPOSITORY
from support.oci import Process, Security, write_spec
from support.oci_archive import OciArchive

MAX_UNPACKED_BYTES = 30_000_000
LOADER = "lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LONG = os.environ.get("UVTAP_E2E_LONG") == "1"


def manifest_security() -> Security:
    """What the DaemonSet grants uvtap on nodes of any kernel."""
    rendered = manifests.render(DAEMONSET / "overlays" / "eks")
    given = rendered.container["securityContext"]
    return Security(
        uid=given["runAsUser"],
        capabilities=tuple(given["capabilities"]["add"]),
        read_only_root=given["readOnlyRootFilesystem"],
        host_pid=rendered.pod["spec"]["hostPID"],
        may_gain_privileges=given["allowPrivilegeEscalation"],
    )


def build(name: str, *options: str) -> OciArchive:
    archive = Made.folder / f"{name}.tar"
    command = [DAEMONSET / "build-image", *options, archive]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-4000:])
    return OciArchive(archive)


class Made:
    """What this file's tests have in common."""

    folder: Path
    images: list[OciArchive]
    security: Security


def setUpModule() -> None:
    # Not in /tmp: that may be a tmpfs, which overlayfs takes no whiteouts from.
    Made.folder = Path(tempfile.mkdtemp(prefix="image-test.", dir=REPOSITORY / "build"))
    unittest.addModuleCleanup(shutil.rmtree, Made.folder)
    Made.security = manifest_security()
    how = ["--base", "packages"] if LONG else ["--binary", str(uvtap.binary())]
    Made.images = [build(name, *how) for name in ("first", "second")]


class Content(unittest.TestCase):
    def setUp(self):
        self.image = Made.images[0]

    def test_size(self):
        size = self.image.unpacked_bytes()
        (own,) = [each.size for each in self.image.members() if each.name == "usr/bin/uvtap"]
        print(f"{size / 1e6:.1f} MB, of which uvtap itself {own / 1e6:.1f} MB")
        self.assertLess(size, MAX_UNPACKED_BYTES)

    def test_two_builds(self):
        first, second = Made.images
        self.assertEqual(first.names(), second.names())
        print(f"{len(first.names())} files and folders; digests {first.digest}, {second.digest}")
        self.assertEqual(first.digest, second.digest)

    def test_nothing_but_uvtap_can_be_run(self):
        """No shell, no tool; all else is a library or a licence."""
        files = [each for each in self.image.members() if not each.isdir()]
        executable = {each.name for each in files if each.isfile() and each.mode & 0o111}
        self.assertEqual(executable, {"usr/bin/uvtap", LOADER})
        for each in files:
            if each.name not in executable:
                self.assertRegex(each.name, rf"^({LIBRARIES}/lib[^/]+\.so\.|usr/share/)")

    def test_owners_and_modes(self):
        """All is root's, nobody else may write, nothing gives its user another's rights."""
        for each in self.image.members():
            self.assertEqual((each.uid, each.gid), (0, 0), each.name)
            if not each.issym():
                self.assertEqual(each.mode & 0o7022, 0, each.name)

    def test_licences(self):
        names = self.image.names()
        for name in ("uvtap/LICENSE", "uvtap/LICENSE.bpf", "libc6/copyright", "libbpf1/copyright"):
            self.assertIn(f"usr/share/doc/{name}", names)

    def test_configuration(self):
        config = self.image.config
        self.assertEqual(config["Entrypoint"], ["/usr/bin/uvtap"])
        self.assertEqual(config["Cmd"], ["serve"])
        self.assertEqual(config["User"], "0")
        self.assertEqual(config["Env"], ["PATH=/usr/bin"])  # for `kubectl exec … -- uvtap check`
        self.assertEqual(config["Labels"]["org.opencontainers.image.title"], "uvtap")


class Running(unittest.TestCase):
    """In a container of runc, with the privileges of the DaemonSet."""

    def setUp(self):
        self.bundle = Path(tempfile.mkdtemp(dir=Made.folder))
        self.root = self.bundle / "rootfs"
        Made.images[0].unpack(self.root)

    def run_image(self, *arguments: str) -> subprocess.CompletedProcess:
        entry = tuple(Made.images[0].config["Entrypoint"])
        return self.run_program(*entry, *arguments)

    def run_program(self, *arguments: str) -> subprocess.CompletedProcess:
        name = self.bundle.name
        (self.bundle / "config.json").unlink(missing_ok=True)
        write_spec(self.bundle, f"/uvtap-test-{name}", Process(arguments, security=Made.security))
        return subprocess.run(
            ["runc", "--root", self.bundle / "runc", "run", "--bundle", self.bundle, name],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def test_version(self):
        done = self.run_image("version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^\d+\.\d+\.\d+\n$")

    def test_check(self):
        done = self.run_image("check")
        self.assertTrue(done.stdout.endswith("this machine can be observed\n"), done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_no_shell(self):
        for shell in ("/bin/sh", "/usr/bin/bash", "/bin/busybox"):
            self.assertNotEqual(self.run_program(shell, "-c", "true").returncode, 0)

    def test_libraries_are_its_own(self):
        """The loader finds each in the image, and there is none that it does not want."""
        done = self.run_program(f"/{LOADER}", "--list", "/usr/bin/uvtap")
        self.assertEqual(done.returncode, 0, done.stderr)
        wanted = {line.split()[0] for line in done.stdout.splitlines() if "=>" in line}
        there = {path.name for path in (self.root / LIBRARIES).iterdir()}
        self.assertEqual(there, wanted)

    def test_no_debug_information(self):
        sections = subprocess.run(
            ["readelf", "--sections", "--wide", self.root / "usr/bin/uvtap"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        self.assertIn(".dynsym", sections)
        self.assertNotIn(".debug_", sections)


def main() -> None:
    missing = [each for each in ("buildah", "runc") if not shutil.which(each)]
    reason = f"needs {', '.join(missing)}" if missing else manifests.missing()
    if reason:
        print(f"SKIPPED: {Path(sys.argv[0]).name}: {reason}")
        sys.exit(tier.SKIPPED)
    tier.main(())


if __name__ == "__main__":
    main()
