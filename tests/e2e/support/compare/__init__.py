# SPDX-License-Identifier: Apache-2.0
"""uvtap's figures against the application's own, over the same windows."""
