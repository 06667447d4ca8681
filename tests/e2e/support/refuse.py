#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a kernel that seems to lack something.

    refuse.py WHAT=ERRNO... -- COMMAND...      e.g. uprobe_multi=EOPNOTSUPP

A seccomp filter hands the calls in question to a supervisor, which looks at what they ask for,
refuses what is named (RULES) and lets all else go on. It ends with the command. Run as root.
"""

import array
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

_SECCOMP, _SET_MODE_FILTER, _NEW_LISTENER = 317, 1, 8
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_NOTIFICATION, _RESPONSE = struct.Struct("QIIiIQ6Q"), struct.Struct("QqiI")
_LOAD_NUMBER, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000

_PERF_EVENT_OPEN, _BPF, _FSOPEN = 298, 321, 430
_RAW_TRACEPOINT_OPEN, _LINK_CREATE = 17, 28
_TRACE_RAW_TP, _TRACE_UPROBE_MULTI = 23, 48
_TYPE_TRACEPOINT = 2
_UPROBE_TYPE = Path("/sys/bus/event_source/devices/uprobe/type")


@dataclass(frozen=True)
class Call:
    """One that a supervised process is about to make."""

    number: int
    pid: int
    arguments: tuple[int, ...]

    def word_at(self, address: int) -> int:
        """The four bytes there in the memory of the process."""
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return struct.unpack("I", memory.read(4))[0]

    def links(self, attach_type: int) -> bool:
        """By bpf(BPF_LINK_CREATE, {program, target, attach type, …})."""
        is_link = self.number == _BPF and self.arguments[0] == _LINK_CREATE
        return is_link and self.word_at(self.arguments[1] + 8) == attach_type

    def opens_event(self, event_type: int) -> bool:
        """By perf_event_open({type, …})."""
        return self.number == _PERF_EVENT_OPEN and self.word_at(self.arguments[0]) == event_type


def _opens_raw_tracepoint(call: Call) -> bool:
    older_way = call.number == _BPF and call.arguments[0] == _RAW_TRACEPOINT_OPEN
    return older_way or call.links(_TRACE_RAW_TP)


RULES: dict[str, Callable[[Call], bool]] = {
    "bpf": lambda call: call.number == _BPF,
    "fsopen": lambda call: call.number == _FSOPEN,
    "kernel_tracepoints": _opens_raw_tracepoint,
    "tracepoint_events": lambda call: call.opens_event(_TYPE_TRACEPOINT),
    "uprobe_events": lambda call: call.opens_event(int(_UPROBE_TYPE.read_text())),
    "uprobe_multi": lambda call: call.links(_TRACE_UPROBE_MULTI),
}


def refusing(**errors: str) -> list[str]:
    """A command that executes the one that follows it where these are refused."""
    rules = [f"{what}={error}" for what, error in errors.items()]
    return [sys.executable, "-B", __file__, *rules, "--"]


def _install_filter() -> int:
    """Returns the descriptor of who is to be asked."""
    asked = (_PERF_EVENT_OPEN, _BPF, _FSOPEN)
    steps = [(_LOAD_NUMBER, 0, 0, 0)]
    steps += [(_JUMP_IF_EQUAL, len(asked) - at, 0, call) for at, call in enumerate(asked)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ASK)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    arguments = (_SET_MODE_FILTER, _NEW_LISTENER, ctypes.c_char_p(program))
    listener = ctypes.CDLL(None, use_errno=True).syscall(_SECCOMP, *arguments)
    if listener < 0:
        sys.exit(f"refuse: cannot install a seccomp filter: {os.strerror(ctypes.get_errno())}")
    return listener


def _supervise(listener: int, errors: dict[str, int]) -> None:
    """Until no process has the filter any more."""
    while True:
        buffer = array.array("B", bytes(_NOTIFICATION.size))
        try:
            fcntl.ioctl(listener, _RECEIVE, buffer)
            identity, pid, _, number, _, _, *arguments = _NOTIFICATION.unpack(buffer)
            error = _error_of(Call(number, pid, tuple(arguments)), errors)
            answer = _RESPONSE.pack(identity, 0, -error, 0 if error else _CONTINUE)
            fcntl.ioctl(listener, _SEND, answer)
        except OSError as gone:
            if gone.errno != errno.ENOENT or not _has_processes(listener):
                return


def _error_of(call: Call, errors: dict[str, int]) -> int:
    return next((error for what, error in errors.items() if RULES[what](call)), 0)


def _has_processes(listener: int) -> bool:
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return not any(events & select.POLLHUP for _, events in poll.poll(0))


def _start_supervisor(errors: dict[str, int]) -> socket.socket:
    """Returns where it waits for the descriptor."""
    ours, theirs = socket.socketpair()
    if os.fork():
        theirs.close()
        return ours
    ours.close()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    _, (listener, *_), _, _ = socket.recv_fds(theirs, 1, 1)
    _supervise(listener, errors)
    os._exit(0)


def main() -> None:
    end = sys.argv.index("--")
    rules = dict(each.split("=") for each in sys.argv[1:end])
    errors = {what: getattr(errno, name) for what, name in rules.items()}
    supervisor = _start_supervisor(errors)
    socket.send_fds(supervisor, [b"x"], [_install_filter()])
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
