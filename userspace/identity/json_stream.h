// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "userspace/identity/kube_failure.h"

namespace uvtap {

/// Where bytes come from, piece by piece.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Waits for the next piece, which is valid until the next call. Empty at the end.
  virtual KubeResult<std::string_view> next_piece() = 0;
};

/// JSON documents that follow one another, read byte by byte as a parser asks for them: nothing of
/// them is kept here. Looks at the next byte only when it is needed, so that a document is complete
/// without waiting for what comes after it.
class JsonStream {
 public:
  /// An object in etcd takes 1.5 MiB at most by default, so no string in it is longer.
  static constexpr size_t max_string_bytes = 2 << 20;

  explicit JsonStream(ByteSource& source) : source_(source) {}

  /// Waits for the beginning of a document that may have this many bytes. False at the end of the
  /// stream, and after a failure.
  [[nodiscard]] bool begin_document(uint64_t max_bytes);
  /// Whether there is no byte left for this document: the stream has ended, failed, or the document
  /// is beyond a limit. Waits for the next byte.
  [[nodiscard]] bool at_end();
  /// The next byte, of which at_end() has said that it is there.
  [[nodiscard]] char peek() const { return piece_.front(); }
  void advance();

  /// Why the stream ended before its end.
  [[nodiscard]] const std::optional<KubeFailure>& failure() const { return failure_; }

 private:
  void fill();
  void fail_as_too_large();

  ByteSource& source_;
  std::string_view piece_;
  bool ended_ = false;
  std::optional<KubeFailure> failure_;
  uint64_t bytes_left_ = 0;  // of what the document may have
  uint64_t bytes_since_quote_ = 0;
  bool escaped_ = false;  // the byte before was a backslash that counts
};

/// A stream's bytes for nlohmann::json: an input iterator. A default one is the end.
class JsonStreamIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  JsonStreamIterator() = default;
  explicit JsonStreamIterator(JsonStream& stream) : stream_(&stream) {}

  char operator*() const { return stream_->peek(); }
  JsonStreamIterator& operator++() {
    stream_->advance();
    return *this;
  }
  JsonStreamIterator operator++(int) {
    stream_->advance();
    return *this;
  }
  bool operator==(const JsonStreamIterator& other) const { return at_end() == other.at_end(); }

 private:
  [[nodiscard]] bool at_end() const { return stream_ == nullptr || stream_->at_end(); }

  JsonStream* stream_ = nullptr;
};

}  // namespace uvtap
