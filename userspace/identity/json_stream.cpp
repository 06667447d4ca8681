// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/json_stream.h"

namespace uvtap {
namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

bool JsonStream::begin_document(uint64_t max_bytes) {
  bytes_left_ = max_bytes;
  bytes_since_quote_ = 0;
  escaped_ = false;
  while (!at_end()) {
    if (!is_space(peek())) return true;
    advance();
  }
  return false;
}

bool JsonStream::at_end() {
  if (failure_) return true;
  if (piece_.empty() && !ended_) fill();
  if (piece_.empty()) return true;
  if (bytes_left_ == 0 || bytes_since_quote_ > max_string_bytes) fail_as_too_large();
  return failure_.has_value();
}

void JsonStream::advance() {
  // The parser keeps what it has read since a string began, so that is what has to be bounded; keys
  // are strings too, and in what Kubernetes sends they are never far apart.
  const char byte = piece_.front();
  bytes_since_quote_ = byte == '"' && !escaped_ ? 0 : bytes_since_quote_ + 1;
  escaped_ = byte == '\\' && !escaped_;
  piece_.remove_prefix(1);
  --bytes_left_;
}

void JsonStream::fill() {
  auto piece = source_.next_piece();
  if (!piece) {
    failure_ = std::move(piece.error());
    return;
  }
  piece_ = *piece;
  ended_ = piece_.empty();
}

void JsonStream::fail_as_too_large() {
  failure_ = KubeFailure{KubeReason::too_large, bytes_left_ == 0
                                                    ? "an answer is too large"
                                                    : "an answer has a string longer than 2 MiB"};
}

}  // namespace uvtap
