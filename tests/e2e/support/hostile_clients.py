# SPDX-License-Identifier: Apache-2.0
"""HTTP clients that mean no good: raw requests, floods, slow ones. All on loopback, where every
address of 127.0.0.0/8 is a client of its own."""

import resource
import socket
import time
from contextlib import ExitStack, suppress
from typing import Iterator

PATIENCE_S = 15.0


def many_addresses() -> Iterator[str]:
    """Other clients than 127.0.0.1, where the tests themselves come from."""
    for number in range(1, 250 * 250):
        yield f"127.1.{number // 250}.{number % 250 + 1}"


def one_address() -> Iterator[str]:
    while True:
        yield "127.0.0.2"


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE_S, (source, 0))


def send(connection: socket.socket, data: bytes) -> bool:
    """False where the server has closed already."""
    try:
        connection.sendall(data)
        return True
    except OSError:
        return False


def received(connection: socket.socket) -> bytes:
    """Everything until the server closes or resets. AssertionError if it does neither."""
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except TimeoutError:
        raise AssertionError(f"not closed within {PATIENCE_S} s; so far {data[:80]!r}") from None
    except OSError:
        pass
    return data


def exchange(port: int, request: bytes) -> bytes:
    """What comes back. The server is told that there is no more to come."""
    with connect(port) as connection:
        if send(connection, request):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        return received(connection)


def trickle(port: int, begin: bytes, drop: bytes, apart_s: float) -> float:
    """Sends a drop now and then, for ever. Returns after how many seconds the server had enough."""
    with connect(port) as connection:
        started = time.monotonic()
        send(connection, begin)
        connection.settimeout(apart_s)
        while time.monotonic() - started < 3 * PATIENCE_S:
            if not send(connection, drop):
                break
            try:
                if not connection.recv(4096):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        return time.monotonic() - started


class Flood:
    """Many connections held open at once. Use with `with`."""

    def __init__(self, port: int, count: int, addresses: Iterator[str], begin: bytes = b""):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 256)), hard))
        self._open = ExitStack()
        for _, address in zip(range(count), addresses):
            connection = self._open.enter_context(connect(port, address))
            if begin:
                send(connection, begin)

    def __enter__(self) -> "Flood":
        return self

    def __exit__(self, *_) -> None:
        self._open.close()
