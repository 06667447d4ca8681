# SPDX-License-Identifier: Apache-2.0
"""What each kind of event of the plan does to the crowd."""

import os
import signal
from typing import Any, Callable, Sequence

from ..nodes import ENVIRONMENT
from .members import Member
from .plan import Event

SHORT = (["/bin/true"], ["/bin/sh", "-c", ":"], ["/bin/cat", "/dev/null"])
HARMLESS = (signal.SIGWINCH, signal.SIGURG, signal.SIGCHLD, signal.SIGCONT)
OTHER_PROGRAMS = ("sh", "tail", "node")
BY_SHELL = ("/bin/sh", "-c", 'exec "$@"', "sh")
NAMESPACES = (
    ("unshare", "--mount"),
    ("unshare", "--uts"),
    ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
)

Happening = Callable[[Any, Event], bool]  # of a Crowd; False: there is nobody for it


def one_of(choices: Sequence, how: float):
    return choices[int(how * len(choices))]


def short_process(_crowd, event: Event) -> bool:
    command = one_of(SHORT, event.how)
    os.posix_spawn(command[0], command, ENVIRONMENT)
    return True


def fork_without_exec(_crowd, _event: Event) -> bool:
    if os.fork() == 0:
        os._exit(0)
    return True


def starts(crowd, event: Event) -> bool:
    return crowd.admit(event.whom)


def starts_by_shell(crowd, event: Event) -> bool:
    return crowd.admit(event.whom, BY_SHELL)


def starts_in_namespace(crowd, event: Event) -> bool:
    return crowd.admit(event.whom, one_of(NAMESPACES, event.how))


def to_member(act: Callable[[Member, Event], None]) -> Happening:
    def happen(crowd, event: Event) -> bool:
        if crowd.members:
            act(one_of(crowd.members, event.whom), event)
        return bool(crowd.members)

    return happen


def order(text: str) -> Happening:
    return to_member(lambda member, _: member.tell(text))


def to_binary(act: Callable) -> Happening:
    def happen(crowd, event: Event) -> bool:
        act(crowd.binary, event)
        return True

    return happen


OF_KIND: dict[str, Happening] = {
    "short process": short_process,
    "fork without exec": fork_without_exec,
    "signal": to_member(lambda member, event: member.send(one_of(HARMLESS, event.how))),
    "stop": to_member(lambda member, _: member.stop()),
    "continue": to_member(lambda member, _: member.go_on()),
    "title": to_member(lambda member, event: member.tell(f"title title-{event.number}")),
    "busy for a moment": to_member(lambda member, event: member.tell(f"spin {10 * event.how:.1f}")),
    "Worker begins": order("workerBegins"),
    "Worker ends": order("workerEnds"),
    "child process": order("spawn"),
    "Node.js starts": starts,
    "Node.js starts by a shell's exec": starts_by_shell,
    "Node.js starts in a namespace": starts_in_namespace,
    "killed": to_member(lambda member, _: member.send(signal.SIGKILL)),
    "ends by itself": to_member(lambda member, _: member.end()),
    "exec of another program": to_member(
        lambda member, event: member.tell(f"exec {one_of(OTHER_PROGRAMS, event.how)}")
    ),
    "forks itself": order("fork"),
    "cluster": order("cluster"),
    "another user": order("user"),
    "binary renamed over": to_binary(lambda binary, _: binary.rename_over()),
    "binary unlinked": to_binary(lambda binary, _: binary.unlink()),
    "binary chmod": to_binary(lambda binary, event: binary.chmod(event.how)),
}
