# SPDX-License-Identifier: Apache-2.0
"""What scripts/daemon-cost is made of.

    fleet.py      many small Node.js processes in pods
    process.py    what the kernel says of the daemon: CPU time and memory
    measure.py    the figures of one number of processes
    targets.py    which of them are promised
    report.py     the Markdown and the TSV; plot.py: the picture
"""
