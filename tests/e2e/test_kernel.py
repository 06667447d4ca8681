#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests with containers on another kernel, in a machine with cgroup v2 only.

    test_kernel.py KERNEL [--long]      KERNEL: 6.1 or 6.12, as scripts/kernels has them

The short form has a few containers; the long one is all that the three test files have. The machine
is emulated: expect minutes.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from support import containers, nodes, tier, uvtap
from support.nodes import REPOSITORY

NOT_RUN = 125  # scripts/kernels: it could not start the machine
PATIENCE = 10
TESTS = Path(__file__).parent


def commands(long: bool) -> list[list[str]]:
    life = [] if long else ["Life.test_a_container_is_removed"]
    names = [["test_pod_names.py"]] if long else []
    return [["test_containers.py"], ["test_container_life.py", *life], *names]


def environment(image: str, long: bool) -> list[str]:
    values = {
        "UVTAP": uvtap.binary(), "UVTAP_IMAGE": image, "UVTAP_NODES": nodes.nodes_dir(),
        "UVTAP_E2E_SHORT": "" if long else "1", "UVTAP_E2E_PATIENCE": PATIENCE,
    }  # fmt: skip
    return [f"{name}={value}" for name, value in values.items()]


def run_there(kernel: str, long: bool, image: str) -> int:
    scripts = " && ".join(
        " ".join(["python3", "-B", str(TESTS / command[0]), *command[1:]])
        for command in commands(long)
    )
    there = ["env", *environment(image, long), "sh", "-c", f"uname -r && {scripts}"]
    not_longer_than_this = ["setpriv", "--pdeathsig", "KILL"]
    kernels = [REPOSITORY / "scripts" / "kernels", kernel]
    return subprocess.run([*not_longer_than_this, *kernels, *there]).returncode


def main(kernel: str, long: bool) -> int:
    reason = containers.obstacle() or tier.obstacle(("20", "22", "24", "debian18"))
    if reason:
        print(f"SKIPPED: Linux {kernel}: {reason}")
        return tier.SKIPPED
    with tempfile.TemporaryDirectory() as image:
        collect = REPOSITORY / "daemonset" / "collect-files"
        subprocess.run([collect, uvtap.binary(), image], check=True, stdout=subprocess.DEVNULL)
        code = run_there(kernel, long, image)
    if code == NOT_RUN:
        print(f"SKIPPED: Linux {kernel}: no machine with it could be started")
        return tier.SKIPPED
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--long" in sys.argv[2:]))
