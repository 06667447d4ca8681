#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a kernel lacks or forbids is named, with its remedy, and where another front door works
uvtap goes on through that. Simulated where another kernel would be needed; what Debian's kernels
really forbid is tried by scripts/kernels."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import tier, uvtap
from support.apps import App
from support.nodes import node
from support.places import in_own_mounts, over, with_tracefs, without_tracefs
from support.privileges import with_only
from support.refuse import refusing

NODE = "22"
WITHIN_S = 60 * uvtap.PATIENCE


class PlaceTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def empty_folder(self) -> Path:
        (self.folder / "empty").mkdir(exist_ok=True)
        return self.folder / "empty"

    def file(self, content: bytes) -> Path:
        (self.folder / "file").write_bytes(content)
        return self.folder / "file"

    def check_report(self, *prefix: str, exit_code: int | None = 0) -> str:
        """What `uvtap check` says of the machine. `exit_code`: None where either may be."""
        command = [*prefix, str(uvtap.binary()), "check"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S)
        machine = done.stdout.partition("pod names")[0]
        if exit_code is not None:
            self.assertEqual(done.returncode, exit_code, machine + done.stderr)
        return machine

    def refusal(self, *prefix: str, arguments: tuple[str, ...] = ()) -> str:
        """The one line that `uvtap serve` ends with."""
        listen = f"127.0.0.1:{uvtap.free_port()}"
        command = [*prefix, str(uvtap.binary()), "serve", "--listen", listen, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S)
        self.assertGreater(done.returncode, 0, done.stderr)
        (line,) = done.stderr.strip().splitlines()
        return line

    def check_observed(self, *prefix: str, door: str, said: str) -> None:
        """It goes on through this door, and says in its log why not through another one."""
        with App(node(NODE), "idle") as app, uvtap.Uvtap(prefix=prefix) as daemon:
            daemon.await_observed(app.pid)
            self.assertRegex(daemon.log(), said)
            self.assertRegex(daemon.log(), rf"observing app.js/{app.pid} .* through {door}\n")

    def check_paranoid(self, prefix: list[str], level: int) -> None:
        """With CAP_PERFMON alone the level is named; with CAP_SYS_ADMIN it does not matter."""
        less = with_only("bpf", "perfmon", "sys_ptrace")
        report = self.check_report(*prefix, *less, exit_code=None)
        named = f"perf_event_paranoid is {level}, .*: grant it, or sysctl .*perf_event_paranoid=2"
        self.assertRegex(report, f"(--|no)  front door tracepoint +.*{named}")
        self.assertRegex(report, rf"--  perf_event_paranoid +{level}: ")
        if "by perf events" in report:
            self.assertRegex(report, "no  uprobes +.* to CAP_SYS_ADMIN only: grant it")


class KernelLacks(PlaceTest):
    """What a kernel may be built without."""

    def test_btf(self):
        prefix = over("/sys/kernel/btf", self.empty_folder())
        self.assertRegex(self.refusal(*prefix), "no BTF of this kernel .*CONFIG_DEBUG_INFO_BTF")
        report = self.check_report(*prefix, exit_code=1)
        self.assertRegex(report, r"no  BTF +.* cannot be read\n +what helps: .*DEBUG_INFO_BTF")

    def test_tracepoints_of_processes(self):
        """The kernel's own BTF, in which one of them has another name."""
        btf = Path("/sys/kernel/btf/vmlinux")
        known, unknown = b"btf_trace_sched_process_exec", b"btf_trace_sched_process_none"
        prefix = over(btf, self.file(btf.read_bytes().replace(known, unknown)))
        self.assertRegex(self.refusal(*prefix), "lacks a tracepoint .*CONFIG_TRACEPOINTS")
        report = self.check_report(*prefix, exit_code=1)
        self.assertRegex(report, r"no  BPF programs +.* lacks a tracepoint .*CONFIG_TRACEPOINTS")

    def test_attaching_to_tracepoints(self):
        prefix = refusing(kernel_tracepoints="EOPNOTSUPP")
        self.assertRegex(self.refusal(*prefix), "on_exec to its tracepoint, .*CONFIG_BPF_EVENTS")
        report = self.check_report(*prefix, exit_code=1)
        self.assertRegex(report, r"no  process events +.*CONFIG_BPF_EVENTS")

    def test_uprobes(self):
        """It observes through the tracepoint, which is none."""
        said = "io_poll: does not work here: .*this kernel has no uprobes .*CONFIG_UPROBE_EVENTS"
        self.check_observed(*self.without_uprobes(), door="tracepoint", said=said)
        report = self.check_report(*self.without_uprobes())
        self.assertRegex(report, r"--  uprobes +by perf events; .*CONFIG_UPROBE_EVENTS")
        self.assertRegex(report, r"ok  front door tracepoint")

    def test_uprobes_and_tracefs(self):
        """It reads memory."""
        prefix = self.without_uprobes(fsopen="ENODEV")
        said = "tracepoint: does not work here: this kernel has no tracefs .*CONFIG_FTRACE"
        self.check_observed(*prefix, door="memory", said=said)
        report = self.check_report(*prefix, exit_code=1)
        self.assertRegex(report, r"no  uprobes +by perf events; .*CONFIG_UPROBE_EVENTS")
        self.assertRegex(report, r"no  front door tracepoint +.*CONFIG_FTRACE")
        said = self.refusal(*prefix, arguments=("--front-door", "io_poll"))
        self.assertRegex(said, "the front door io_poll does not work here: .*CONFIG_UPROBE_EVENTS")

    def test_bpf(self):
        said = self.refusal(*refusing(bpf="ENOSYS"))
        self.assertRegex(said, r"bpf\(2\)")

    def without_uprobes(self, **refused: str) -> list[str]:
        """Neither form of them, nor the one of tracefs, which libbpf would use."""
        hidden = over("/sys/bus/event_source/devices/uprobe", self.empty_folder())
        return [*without_tracefs(), *hidden, *refusing(uprobe_multi="EOPNOTSUPP", **refused)]


class Forbidden(PlaceTest):
    """What an administrator or a runtime may refuse."""

    def test_user_namespace(self):
        """Its root holds every capability, and they do not count."""
        own = ["unshare", "--user", "--map-root-user"]
        self.assertRegex(self.refusal(*own), "user namespace: run without one")
        report = self.check_report(*own, exit_code=1)
        self.assertRegex(report, r"no  BPF programs +.*user namespace: run without one")

    def test_perf_events_by_seccomp(self):
        """Where uprobe_multi links are there, only the tracepoint is missed."""
        events = {"tracepoint_events": "EPERM", "uprobe_events": "EPERM"}
        said = r" +.* seccomp profile forbids perf_event_open\(2\) .*: use one that allows it"
        report = self.check_report(*refusing(**events), exit_code=None)
        self.assertRegex(report, f"front door tracepoint{said}")
        report = self.check_report(*refusing(**events, uprobe_multi="EPERM"), exit_code=1)
        self.assertRegex(report, f"no  uprobes{said}")
        self.assertRegex(report, f"no  front door io_poll{said}")

    def test_perf_event_paranoid(self):
        """As Debian's and Ubuntu's kernels refuse it at 3 and 4 without CAP_SYS_ADMIN."""
        for level in (3, 4):
            with self.subTest(level):
                shown = self.file(b"%d\n" % level)
                prefix = [
                    *with_tracefs(),
                    *over("/proc/sys/kernel/perf_event_paranoid", shown),
                ]
                events = {"tracepoint_events": "EACCES", "uprobe_events": "EACCES"}
                self.check_paranoid([*prefix, *refusing(**events)], level)
                events["uprobe_multi"] = "EOPNOTSUPP"
                self.check_paranoid([*prefix, *refusing(**events)], level)


@unittest.skipUnless(os.environ.get("UVTAP_E2E_OWN_MACHINE"), "sets what all of the machine feels")
class RealParanoia(PlaceTest):
    """The kernel's own refusal. scripts/kernels runs it."""

    def test_perf_event_paranoid(self):
        level_file = Path("/proc/sys/kernel/perf_event_paranoid")
        self.addCleanup(level_file.write_text, level_file.read_text())
        for level in (3, 4):
            with self.subTest(level):
                level_file.write_text(f"{level}")
                self.check_paranoid([], level)
                report = self.check_report()
                self.assertRegex(report, f"{level}: does not matter with CAP_SYS_ADMIN")


class LockedDown(PlaceTest):
    """By the kernel's command line. scripts/kernels boots with it."""

    def lockdown(self) -> str:
        path = Path("/sys/kernel/security/lockdown")
        return re.search(r"\[(\w+)\]", path.read_text())[1] if path.exists() else "unknown"

    def test_integrity(self):
        if self.lockdown() != "integrity":
            self.skipTest("needs a kernel with lockdown=integrity")
        self.check_observed(door="io_poll", said="front door tracepoint: works")
        self.assertRegex(self.check_report(), r"ok  lockdown +integrity\n")

    def test_confidentiality(self):
        if self.lockdown() != "confidentiality":
            self.skipTest("needs a kernel with lockdown=confidentiality")
        named = r"lockdown \(confidentiality\): use another front door, or boot with"
        self.check_observed(door="io_poll", said=f"tracepoint: does not work here: .*{named}")
        report = self.check_report()
        self.assertRegex(report, r"--  lockdown +confidentiality; .*\n +what helps: .*integrity")
        self.assertRegex(report, f"--  front door tracepoint +.*{named}")
        said = self.refusal(arguments=("--front-door", "tracepoint"))
        self.assertRegex(said, named)

    def test_seen_without_securityfs(self):
        """From a private mount of it; where that may not be had it is guessed, or said."""
        unmount = in_own_mounts("umount /sys/kernel/security 2>/dev/null")
        self.assertRegex(self.check_report(*unmount, exit_code=None), r"  lockdown +\w+[;\n]")
        less = with_only("bpf", "perfmon", "sys_ptrace")
        asked = re.search(r"lockdown=(\w+)", Path("/proc/cmdline").read_text())
        guessed = f"{asked[1]}, by the kernel's command line: " if asked else ""
        said = rf"  lockdown +{guessed}securityfs .*cannot be read"
        self.assertRegex(self.check_report(*unmount, *less, exit_code=None), said)


if __name__ == "__main__":
    tier.main((NODE,))
