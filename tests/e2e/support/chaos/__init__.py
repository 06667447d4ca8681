# SPDX-License-Identifier: Apache-2.0
"""Disturbs a machine and uvtap, and looks whether everything it promises still holds."""
