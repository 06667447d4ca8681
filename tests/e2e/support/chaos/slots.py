# SPDX-License-Identifier: Apache-2.0
"""No slot of the table of loops is lost: it can still be filled to the last one, and says so."""

import subprocess

from .. import bpf_objects
from ..kube_node import PATIENCE
from ..nodes import ENVIRONMENT, node
from ..uvtap import Uvtap
from .settings import TINY_LOOPS

FULL_WITHIN_S = 20.0 * PATIENCE
# More loops than there are slots.
_WORKERS = (
    "const { Worker } = require('worker_threads');"
    f"for (let i = 0; i < {TINY_LOOPS}; i++)"
    "  new Worker('setInterval(() => {}, 20)', { eval: true });"
)


def check_all_usable(uvtap: Uvtap) -> None:
    """`uvtap` has TINY_LOOPS slots."""

    def full(_) -> bool:
        return len(bpf_objects.map_keys(uvtap.pid, "slot_of_thread")) == TINY_LOOPS

    command = ["chrt", "--other", "0", node("22").binary, "-e", _WORKERS]
    many = subprocess.Popen(command, env=ENVIRONMENT)
    try:
        uvtap.await_that(full, f"all {TINY_LOOPS} slots are in use", FULL_WITHIN_S)
        uvtap.await_that(
            lambda said: said.total("uvtap_lost_total", reason="loops_full") > 0,
            "loops without a slot are counted as lost", FULL_WITHIN_S,
        )  # fmt: skip
    finally:
        many.kill()
        many.wait()
