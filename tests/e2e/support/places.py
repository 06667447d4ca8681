# SPDX-License-Identifier: Apache-2.0
"""Commands that execute the one that follows them in a mount namespace of its own, where something is
not as it is on this machine."""

from pathlib import Path


def in_own_mounts(script: str, *arguments: str | Path) -> list[str]:
    """After this script of the shell."""
    then = f'shift {len(arguments)}; exec "$@"'
    own = ["unshare", "--mount", "sh", "-c", f"{script}; {then}", "sh"]
    return [*own, *map(str, arguments)]


def over(what: str | Path, by: Path) -> list[str]:
    """With something else in its place."""
    return in_own_mounts('mount --bind "$1" "$2"', by, what)


def with_tracefs() -> list[str]:
    return in_own_mounts("mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null")


def without_tracefs() -> list[str]:
    each = "for at in /sys/kernel/tracing /sys/kernel/debug"
    return in_own_mounts(f'{each}; do umount -R "$at" 2>/dev/null; done')
