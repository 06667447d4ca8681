#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""uvtap with just the capabilities that the documentation names: it observes everything all the
same, gives up what it does not need, and says what is missing where something is."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from unittest import mock

from support import privileges, tier, uvtap
from support.apps import App
from support.nodes import Node, node
from support.privileges import NodeOfUser, with_only

NODE = "22"
OTHER_NODE = "24"
ON_EVERY_KERNEL = ("sys_admin", "sys_ptrace")
WITH_UPROBE_MULTI = ("bpf", "perfmon", "sys_ptrace")
# What may hang in a look at a process is done by these, for the observing thread.
LOOKING_THREADS = ("look", "turn_looks", "memory_door")
# Within a second's drift between the two looks; a virtual machine without KVM has no finer one.
MEASURED_S, TOLERANCE = 5, 0.15
# What a container has: mount and cgroup namespaces of its own, and no tracefs.
IN_A_CONTAINER = [
    "unshare", "--mount", "--cgroup", "sh", "-c",
    'for at in /sys/kernel/tracing /sys/kernel/debug; do umount -R "$at" 2>/dev/null; done; '
    'exec "$@"',
    "sh",
]  # fmt: skip


@cache
def has_uprobe_multi() -> bool:
    return "by uprobe_multi links" in uvtap.run("check").stdout


def check_with(*prefix: str) -> subprocess.CompletedProcess:
    command = [*prefix, str(uvtap.binary()), "check"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


class PrivilegesTest(unittest.TestCase):
    def setUp(self):
        self.running = self.enterContext(ExitStack())

    def app(self, build: Node) -> App:
        return self.running.enter_context(App(build, "scripted"))

    def daemon(self, prefix: list[str], arguments: tuple[str, ...] = ()) -> uvtap.Uvtap:
        daemon = uvtap.Uvtap(window_s=5, prefix=prefix, arguments=arguments)
        return self.running.enter_context(daemon)

    def skip_without_uprobe_multi(self) -> None:
        if not has_uprobe_multi():
            self.skipTest("this kernel has no uprobe_multi links")

    def check_figures(self, daemon: uvtap.Uvtap, *apps: App) -> None:
        """Each has its own utilization."""
        daemon.await_observed(*(app.pid for app in apps))
        said, own = daemon.scrape(), [app.mark("test").main for app in apps]
        daemon.pause(MEASURED_S)
        said_later = daemon.scrape()
        for app, own_begin in zip(apps, own):
            told = (said_later.times(app.pid) - said.times(app.pid)).utilization
            knows = (app.mark("test").main - own_begin).utilization
            self.assertAlmostEqual(told, knows, delta=TOLERANCE)

    def check_threads(self, daemon: uvtap.Uvtap, expected: set[str]) -> None:
        """The observing thread holds these, those that look for it no more, the others none."""
        threads = privileges.held_by_threads(daemon.pid)
        observing = threads.pop(daemon.pid)
        self.assertEqual(observing.effective, expected)
        self.assertEqual(observing.permitted, expected)
        self.assertEqual(observing.bounding, expected)
        self.assertTrue(threads, "nobody serves")
        for tid, held in threads.items():
            looks = privileges.thread_name(daemon.pid, tid) in LOOKING_THREADS
            self.assertLessEqual(held.effective | held.permitted, expected if looks else set())
        for held in (observing, *threads.values()):
            self.assertEqual(held.inheritable, set())
            self.assertTrue(held.no_new_privs)


class Sets(PrivilegesTest):
    def check_set(self, prefix: list[str], expected: tuple[str, ...]) -> None:
        """Processes of root and of others, those that are there and those that come."""
        apps = [self.app(node(NODE)), self.app(NodeOfUser(NODE, node(NODE).binary))]
        daemon = self.daemon(prefix)
        self.check_figures(daemon, *apps)
        later = [self.app(node(OTHER_NODE)), self.app(NodeOfUser(NODE, node(NODE).binary))]
        self.check_figures(daemon, *apps, *later)
        self.check_threads(daemon, set(expected))

    def test_on_every_kernel(self):
        self.check_set(with_only(*ON_EVERY_KERNEL), ON_EVERY_KERNEL)

    def test_with_uprobe_multi(self):
        self.skip_without_uprobe_multi()
        self.check_set(with_only(*WITH_UPROBE_MULTI), WITH_UPROBE_MULTI)

    def test_in_a_container_on_every_kernel(self):
        self.check_in_a_container(ON_EVERY_KERNEL)

    def test_in_a_container_with_uprobe_multi(self):
        self.skip_without_uprobe_multi()
        self.check_in_a_container(WITH_UPROBE_MULTI)

    def check_in_a_container(self, capabilities: tuple[str, ...]) -> None:
        prefix = IN_A_CONTAINER + with_only(*capabilities)
        self.check_set(prefix, capabilities)
        done = check_with(*prefix)
        self.assertEqual(done.returncode, 0, done.stdout)

class Root(PrivilegesTest):
    def test_gives_up_what_it_does_not_need(self):
        """And later attaches go on working, to a binary that is deleted or replaced too."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        daemon = self.daemon([], ("--front-door", "io_poll"))
        expected = privileges.held_by_threads(os.getpid())[os.getpid()].effective & set(privileges.NUMBERS)
        self.check_threads(daemon, expected - ({"sys_admin"} if has_uprobe_multi() else set()))
        self.check_figures(daemon, *self.deleted_and_replaced(folder))

    def test_replaced_binaries_without_map_files(self):
        """CAP_SYS_PTRACE is enough to reach the executable of a process, whatever became of it."""
        self.skip_without_uprobe_multi()
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        apps = self.deleted_and_replaced(folder)
        self.check_figures(self.daemon(with_only(*WITH_UPROBE_MULTI)), *apps)

    def test_a_binary_that_only_its_owner_may_read(self):
        """It may be Node.js, and nobody can say: that is counted and said."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        program = Path(shutil.copy(node(NODE).binary, folder))
        os.chmod(folder, 0o755)
        os.chown(program, 1000, 1000)
        program.chmod(0o700)
        app = self.app(NodeOfUser("private", program))
        daemon = self.daemon(with_only(*ON_EVERY_KERNEL))
        daemon.await_that(
            lambda said: said.find("uvtap_attach_failures_total", reason="inspect"), "it is counted"
        )
        self.assertRegex(daemon.log(), rf"pid {app.pid} cannot be looked into: .*node")
        report = check_with(*with_only(*ON_EVERY_KERNEL)).stdout
        self.assertRegex(report, rf"no  1 process .*/{app.pid} .*\n +what helps: .*DAC_READ_SEARCH")

    def deleted_and_replaced(self, folder: Path) -> list[App]:
        program, other = folder / "node", folder / "other"
        shutil.copy(node(NODE).binary, program)
        old = self.app(Node("old", program))
        shutil.copy(node(OTHER_NODE).binary, other)
        other.rename(program)
        new = self.app(Node("new", program))
        program.unlink()
        return [old, new]

    def test_a_port_that_only_root_may_listen_on(self):
        with mock.patch.object(uvtap, "free_port", lambda: 1009):
            daemon = self.daemon([])
        self.assertEqual(daemon.port, 1009)
        self.assertEqual(daemon.get("/readyz")[0], 200)


class Overlay(PrivilegesTest):
    """Containers: what stat says of a file in an overlay is not what the kernel probes."""

    def setUp(self):
        super().setUp()
        at = Path(self.running.enter_context(tempfile.TemporaryDirectory()))
        self.mount("-t", "tmpfs", "overlay-test", at)
        for name in ("lower", "upper", "work", "merged"):
            (at / name).mkdir()
        shutil.copy(node(NODE).binary, at / "lower")
        layers = f"lowerdir={at}/lower,upperdir={at}/upper,workdir={at}/work"
        self.mount("-t", "overlay", "-o", layers, "overlay-test", at / "merged")
        self.program = at / "merged" / "node"

    def mount(self, *arguments: str | Path) -> None:
        subprocess.run(["mount", *arguments], check=True)
        self.running.callback(subprocess.run, ["umount", "--lazy", arguments[-1]], check=True)

    def copy_up(self) -> None:
        self.program.chmod(0o775)

    def each_set(self) -> list[list[str]]:
        sets = [ON_EVERY_KERNEL, *([WITH_UPROBE_MULTI] if has_uprobe_multi() else [])]
        return [with_only(*capabilities) for capabilities in sets]

    def test_in_the_lower_layer(self):
        app = self.app(Node("lower", self.program))
        for prefix in self.each_set():
            self.check_figures(self.daemon(prefix), app)

    def test_copied_up_before_it_starts(self):
        self.copy_up()
        app = self.app(Node("upper", self.program))
        for prefix in self.each_set():
            self.check_figures(self.daemon(prefix), app)

    def test_copied_up_while_it_is_observed(self):
        app = self.app(Node("lower", self.program))
        daemon = self.daemon([])
        daemon.await_observed(app.pid)
        self.copy_up()
        self.check_figures(daemon, app, self.app(Node("upper", self.program)))

    def test_copied_up_before_uvtap_came(self):
        """No path leads to what the process runs any more. That is said, and nothing is attached
        where it would never be hit."""
        self.app(node(NODE))  # one that it can observe, so that it is ready
        self.app(Node("lower", self.program))
        self.copy_up()
        daemon = self.daemon([])
        daemon.await_that(
            lambda said: said.total("uvtap_attach_failures_total", reason="attach") > 0,
            "the failure is counted",
        )
        self.assertIn("copied up", daemon.log())


class Check(PrivilegesTest):
    def machine_lines(self, report: str) -> str:
        return report.partition("reading memory")[0]

    def test_says_how_it_attaches(self):
        self.assertRegex(check_with().stdout, r"ok  uprobes +by (uprobe_multi links|perf events); ")

    def test_nothing_is_missed_that_is_not_needed(self):
        self.skip_without_uprobe_multi()
        done = check_with(*with_only(*WITH_UPROBE_MULTI))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotRegex(self.machine_lines(done.stdout), r"(?m)^no  ")

    def test_perf_events_without_sys_admin(self):
        if has_uprobe_multi():
            self.skipTest("this kernel has uprobe_multi links")
        done = check_with(*with_only(*WITH_UPROBE_MULTI))
        self.assertRegex(done.stdout, r"no  uprobes +by perf events; .*SYS_ADMIN only: grant it")

    def test_seccomp_forbids_bpf(self):
        done = check_with(*privileges.without_bpf())
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"no  BPF programs +a seccomp profile forbids bpf\(2\)")

    def test_processes_of_others_cannot_be_looked_into(self):
        self.app(node(NODE))
        done = check_with(*with_only("sys_admin"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("without CAP_SYS_PTRACE", done.stdout)
        self.assertTrue(done.stdout.endswith("the processes of others cannot be looked into\n"))


class Missing(unittest.TestCase):
    """One sentence, and an exit code that is not zero."""

    def refusal(self, *prefix: str) -> str:
        listen = f"127.0.0.1:{uvtap.free_port()}"
        done = subprocess.run(
            [*prefix, uvtap.binary(), "serve", "--listen", listen],
            capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        self.assertGreater(done.returncode, 0)
        (line,) = done.stderr.strip().splitlines()
        return line

    def test_a_capability(self):
        for held, missing in (
            (("bpf", "perfmon"), "CAP_SYS_PTRACE"),
            (("sys_admin",), "CAP_SYS_PTRACE"),
            (("bpf", "sys_ptrace"), "CAP_PERFMON"),
            (("perfmon", "sys_ptrace"), "CAP_BPF"),
            ((), "CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF"),
        ):
            with self.subTest(held=held):
                said = self.refusal(*with_only(*held))
                self.assertTrue(re.search(f"without {missing}: run as root, or with", said), said)

    def test_bpf_is_forbidden(self):
        self.assertIn("seccomp profile forbids bpf(2)", self.refusal(*privileges.without_bpf()))


if __name__ == "__main__":
    tier.main((NODE, OTHER_NODE))
