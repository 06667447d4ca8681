// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_json.h"

#include <fmt/core.h>

#include <utility>

#include "userspace/identity/json_walk.h"
#include "userspace/identity/pod_directory.h"
#include "userspace/identity/pod_fields.h"
#include "userspace/util/printable.h"

namespace uvtap {
namespace {

/// White space after a list.
constexpr uint64_t max_rest_bytes = 1024;
constexpr size_t max_code_bytes = 16;
constexpr std::string_view item = "items[]";
constexpr std::string_view object = "object";

/// The rest of a path below `parent`; nothing if it is not below.
std::optional<std::string_view> below(std::string_view parent, std::string_view path) {
  if (path.size() <= parent.size() || !path.starts_with(parent) || path[parent.size()] != '/')
    return std::nullopt;
  return path.substr(parent.size() + 1);
}

bool is_pod(const KnownPod& pod) {
  return !pod.uid.empty() && !pod.namespace_.empty() && !pod.name.empty();
}

class ListVisitor final : public JsonVisitor {
 public:
  void value(std::string_view path, const std::string& text) override {
    const bool is_version = path == "metadata/resourceVersion";
    if (is_version && text.size() <= PodFields::max_field_bytes) list_.version = text;
    if (const auto in_pod = below(item, path)) fields_.value(*in_pod, text);
  }
  bool object_ends(std::string_view path) override {
    if (const auto in_pod = below(item, path)) fields_.object_ends(*in_pod);
    return path != item || keep(fields_.take());
  }
  [[nodiscard]] bool too_many() const { return list_.pods.size() > PodDirectory::max_pods; }
  [[nodiscard]] PodList take() { return std::move(list_); }

 private:
  bool keep(KnownPod pod) {
    if (!is_pod(pod)) return false;
    list_.pods.push_back(std::move(pod));
    return !too_many();
  }

  PodFields fields_;
  PodList list_;
};

class EventVisitor final : public JsonVisitor {
 public:
  void value(std::string_view path, const std::string& text) override {
    if (path == "type") type_ = text;
    if (path == "object/code") code_ = text;
    if (const auto in_pod = below(object, path)) fields_.value(*in_pod, text);
  }
  bool object_ends(std::string_view path) override {
    if (const auto in_pod = below(object, path)) fields_.object_ends(*in_pod);
    return true;
  }

  [[nodiscard]] KubeResult<PodEvent> take() {
    if (type_ == "ERROR") return error();
    const auto kind = kind_of(type_);
    PodEvent event{.kind = kind.value_or(PodEvent::Kind::bookmark),
                   .version = fields_.version(),
                   .pod = fields_.take()};
    const bool complete = event.kind == PodEvent::Kind::bookmark || is_pod(event.pod);
    if (!kind || !complete || event.version.empty())
      return kube_fail(KubeReason::malformed, "a watch sent something that is no event of a pod");
    return event;
  }

 private:
  static std::optional<PodEvent::Kind> kind_of(std::string_view type) {
    if (type == "ADDED" || type == "MODIFIED") return PodEvent::Kind::put;
    if (type == "DELETED") return PodEvent::Kind::removed;
    if (type == "BOOKMARK") return PodEvent::Kind::bookmark;
    return std::nullopt;
  }
  [[nodiscard]] KubeResult<PodEvent> error() const {
    if (code_ == "410") return kube_fail(KubeReason::gone, "the watch is too old to go on (410)");
    return kube_fail(KubeReason::http,
                     fmt::format("the watch ended with code {}", printable(code_, max_code_bytes)));
  }

  std::string type_;
  std::string code_;
  PodFields fields_;
};

}  // namespace

KubeResult<PodList> read_pod_list(JsonStream& stream) {
  if (!stream.begin_document(max_list_bytes)) {
    if (stream.failure()) return std::unexpected(*stream.failure());
    return kube_fail(KubeReason::malformed, "the list of pods is empty: not even JSON");
  }
  ListVisitor visitor;
  auto read = walk_json(stream, visitor);
  if (visitor.too_many())
    return kube_fail(KubeReason::too_large,
                     fmt::format("the list has more than {} pods", PodDirectory::max_pods));
  if (!read) return std::unexpected(read.error());
  // Only at its end is it known to be whole.
  const bool more = stream.begin_document(max_rest_bytes);
  if (stream.failure()) return std::unexpected(*stream.failure());
  PodList list = visitor.take();
  if (more || list.version.empty())
    return kube_fail(KubeReason::malformed, "an answer is not a list of pods");
  return list;
}

KubeResult<std::optional<PodEvent>> read_pod_event(JsonStream& stream) {
  if (!stream.begin_document(max_event_bytes)) {
    if (stream.failure()) return std::unexpected(*stream.failure());
    return std::nullopt;
  }
  EventVisitor visitor;
  if (auto read = walk_json(stream, visitor); !read) return std::unexpected(read.error());
  auto event = visitor.take();
  if (!event) return std::unexpected(event.error());
  return std::optional(std::move(*event));
}

}  // namespace uvtap
