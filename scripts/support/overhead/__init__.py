# SPDX-License-Identifier: Apache-2.0
"""What scripts/overhead is made of.

    plan.py         workloads, variants, and which of them are measured
    app.js          the application, with workloads.js and busy_worker.js
    machine.py      what runs where
    application.py  the application and its clients; a slice of its life in figures
    observers.py    begins and ends observation
    run.py          slices, interleaved
    comparison.py   pairs of slices → medians with their spread
    targets.py      what it may cost
    report.py       tables and docs/overhead.md; plot.py its picture
"""
