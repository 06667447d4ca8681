// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "userspace/identity/json_stream.h"
#include "userspace/identity/kube_failure.h"

namespace uvtap {

/// Goes through a JSON document without keeping it, and tells of its values by their path:
/// "metadata/name", "items[]/status/containerStatuses[]/name". In a key longer than 64 bytes the
/// rest is left out of the path.
class JsonVisitor {
 public:
  JsonVisitor() = default;
  JsonVisitor(const JsonVisitor&) = delete;
  JsonVisitor& operator=(const JsonVisitor&) = delete;
  virtual ~JsonVisitor() = default;

  /// A string, a whole number or a boolean, as text.
  virtual void value(std::string_view path, const std::string& text) = 0;
  /// The object at this path is complete. False to give the document up.
  virtual bool object_ends(std::string_view path) = 0;
};

/// Reads one document, of which begin_document() has told. Fails as the stream does, and as
/// malformed on what is not JSON, nested too deeply, or given up by the visitor.
[[nodiscard]] KubeResult<void> walk_json(JsonStream& stream, JsonVisitor& visitor);

}  // namespace uvtap
