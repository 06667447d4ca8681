// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/pod_json.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "userspace/identity/pod_directory.h"
#include "userspace/identity/pod_fields.h"

using namespace uvtap;

namespace {

/// Hands a text out in pieces of one size, and then ends, or fails.
class Pieces final : public ByteSource {
 public:
  explicit Pieces(std::string text, size_t size = 4096, std::optional<KubeFailure> failure = {})
      : text_(std::move(text)), size_(size), failure_(std::move(failure)) {}

  KubeResult<std::string_view> next_piece() override {
    const auto piece = std::string_view(text_).substr(at_, size_);
    if (piece.empty() && failure_) return std::unexpected(*failure_);
    at_ += piece.size();
    return piece;
  }
  [[nodiscard]] size_t handed_out() const { return at_; }

 private:
  std::string text_;
  size_t size_;
  std::optional<KubeFailure> failure_;
  size_t at_ = 0;
};

KubeResult<PodList> list_of(std::string text) {
  Pieces pieces(std::move(text));
  JsonStream stream(pieces);
  return read_pod_list(stream);
}

KubeResult<std::optional<PodEvent>> event_of(std::string text) {
  Pieces pieces(std::move(text));
  JsonStream stream(pieces);
  return read_pod_event(stream);
}

template <typename T>
std::optional<KubeReason> reason(const KubeResult<T>& result) {
  if (result) return std::nullopt;
  return result.error().reason;
}

/// A pod as the API server shows it, shortened; beside what is kept stands what looks like it.
const std::string web_pod = R"({
  "metadata": {
    "name": "web-6b7f9c5d8-x2x4z", "generateName": "web-6b7f9c5d8-", "namespace": "shop",
    "uid": "0d1c9e3a-1f4c-4a7a-8c11-5d2f3b6a7e90", "resourceVersion": "12345",
    "labels": {"app": "web", "pod-template-hash": "6b7f9c5d8", "uid": "no"},
    "annotations": {"name": "no", "json": "{\"metadata\":{\"uid\":\"no\"}}", "smile": "\ud83d\ude00"},
    "ownerReferences": [
      {"kind": "Backup", "name": "nightly", "uid": "no", "controller": false},
      {"kind": "ReplicaSet", "name": "web-6b7f9c5d8", "uid": "no", "controller": true},
      {"kind": "Other", "name": "other", "uid": "no"}
    ],
    "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:metadata": {"f:uid": {}}}}],
    "deletionGracePeriodSeconds": 30
  },
  "spec": {"nodeName": "node-1", "containers": [{"name": "no", "containerID": "no"}]},
  "status": {
    "containerStatuses": [
      {"name": "app", "containerID": "containerd://aaaa", "restartCount": 1, "ready": true,
       "lastState": {"terminated": {"containerID": "containerd://before", "exitCode": 1}}},
      {"containerID": "cri-o://bbbb", "name": "proxy"},
      {"name": "no-id-yet", "state": {"waiting": {}}},
      {"name": "empty-id", "containerID": ""},
      {"name": "without-scheme", "containerID": "cccc"}
    ],
    "initContainerStatuses": [{"name": "migrate", "containerID": "docker://dddd"}],
    "ephemeralContainerStatuses": [{"name": "debug", "containerID": "containerd://eeee"}],
    "podIP": null, "qos": 1.5e3
  }
})";

std::string minimal_pod(const std::string& more = "") {
  return R"({"metadata":{"uid":"u","namespace":"n","name":"p","resourceVersion":"7")" + more + "}}";
}

std::string list_text(const std::string& items) {
  return R"({"kind":"PodList","metadata":{"resourceVersion":"99"},"items":[)" + items + "]}";
}

std::string event_text(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

void check_is_web_pod(const KnownPod& pod) {
  CHECK(pod.uid == "0d1c9e3a-1f4c-4a7a-8c11-5d2f3b6a7e90");
  CHECK(pod.namespace_ == "shop");
  CHECK(pod.name == "web-6b7f9c5d8-x2x4z");
  CHECK(pod.workload_kind == "Deployment");
  CHECK(pod.workload == "web");
  CHECK(pod.containers == std::map<std::string, std::string>{{"aaaa", "app"},
                                                             {"bbbb", "proxy"},
                                                             {"cccc", "without-scheme"},
                                                             {"dddd", "migrate"},
                                                             {"eeee", "debug"}});
}

}  // namespace

TEST_CASE("of a pod only what is needed is kept") {
  const auto list = list_of(list_text(web_pod + "," + minimal_pod()));
  REQUIRE(list);
  CHECK(list->version == "99");
  REQUIRE(list->pods.size() == 2);
  check_is_web_pod(list->pods[0]);
  CHECK(list->pods[1].name == "p");
  CHECK(list->pods[1].workload.empty());
  CHECK(list->pods[1].containers.empty());
}

TEST_CASE("a list may be empty, and its parts in any order") {
  CHECK(list_of(list_text(""))->pods.empty());
  CHECK(list_of(R"({"items":null,"metadata":{"resourceVersion":"5"}})")->version == "5");
  const auto list = list_of(R"({"items":[)" + web_pod + R"(],"metadata":{"resourceVersion":"5"}})");
  CHECK(list->version == "5");
  check_is_web_pod(list->pods.at(0));
}

TEST_CASE("it does not matter where the pieces are cut") {
  const std::string text = event_text("ADDED", web_pod) + event_text("DELETED", minimal_pod());
  for (const size_t size : {1U, 2U, 3U, 5U, 7U, 64U, 1000U}) {
    Pieces pieces(text, size);
    JsonStream stream(pieces);
    const auto first = read_pod_event(stream);
    REQUIRE(first);
    CHECK((*first)->kind == PodEvent::Kind::put);
    check_is_web_pod((*first)->pod);
    const auto second = read_pod_event(stream);
    CHECK((*second)->kind == PodEvent::Kind::removed);
    CHECK((*second)->pod.uid == "u");
    CHECK((*second)->version == "7");
    const auto end = read_pod_event(stream);
    REQUIRE(end);
    CHECK_FALSE(*end);
  }
}

TEST_CASE("an event is complete without a look at what comes after it") {
  const std::string event = event_text("MODIFIED", minimal_pod());
  Pieces pieces(event + event, 1);
  JsonStream stream(pieces);
  REQUIRE(read_pod_event(stream));
  CHECK(pieces.handed_out() == event.size() - 1);  // up to the brace, not to the newline
}

TEST_CASE("a bookmark has a version and no pod") {
  const auto event = event_of(event_text(
      "BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"8","creationTimestamp":null},)"
                  R"("spec":{"containers":null},"status":{}})"));
  REQUIRE(event);
  CHECK((*event)->kind == PodEvent::Kind::bookmark);
  CHECK((*event)->version == "8");
}

TEST_CASE("an ERROR event is a failure") {
  CHECK(reason(event_of(event_text("ERROR", R"({"kind":"Status","code":410})"))) ==
        KubeReason::gone);
  const auto other = event_of(event_text("ERROR", R"({"kind":"Status","code":500})"));
  CHECK(reason(other) == KubeReason::http);
  CHECK(other.error().message.contains("500"));
  CHECK(reason(event_of(event_text("ERROR", "{}"))) == KubeReason::http);
  const auto lines = event_of(event_text("ERROR", R"({"code":"5\n\u001b[31m"})"));
  CHECK(lines.error().message == "the watch ended with code 5??[31m");
}

TEST_CASE("what is not a list of pods is malformed") {
  for (const char* text :
       {"", " ", "x", "[]", "1", "null", "\"\"", "{", "{}", R"({"items":[]})",
        R"({"metadata":{"resourceVersion":null},"items":[]})", "\xFF", "{\"a\":1e999}",
        "{\"a\":\"\xC3\x28\"}", "{\"a\":\"\n\"}", "{'a':1}", "{\"a\":nul}"}) {
    INFO(text);
    CHECK(reason(list_of(text)) == KubeReason::malformed);
  }
  for (const std::string item : {"{}", R"({"metadata":{"uid":"u","namespace":"n"}})",
                                 R"({"metadata":{"uid":"","namespace":"n","name":"p"}})"})
    CHECK(reason(list_of(list_text(item))) == KubeReason::malformed);
  CHECK(reason(list_of(list_text("") + "x")) == KubeReason::malformed);
}

TEST_CASE("what is not an event of a pod is malformed") {
  for (const auto& text :
       {event_text("MOVED", minimal_pod()), event_text("ADDED", "{}"), event_text("ADDED", "null"),
        event_text("BOOKMARK", "{}"), event_text("DELETED", R"({"metadata":{"uid":"u"}})"),
        std::string("[]"), std::string("}"), std::string(R"({"type":"ADDED")")})
    CHECK(reason(event_of(text)) == KubeReason::malformed);
}

TEST_CASE("a document that breaks off anywhere is a failure, and why is told") {
  const KubeFailure cut{KubeReason::disconnected, "cut"};
  const std::string text = list_text(web_pod);
  for (size_t size = 0; size < text.size(); ++size) {
    Pieces pieces(text.substr(0, size), 512, cut);
    JsonStream stream(pieces);
    CHECK(reason(read_pod_list(stream)) == KubeReason::disconnected);
    CHECK(reason(list_of(text.substr(0, size))) == KubeReason::malformed);
  }
  // Whole as JSON, but its end is not known to be one.
  Pieces pieces(text, 512, cut);
  JsonStream stream(pieces);
  CHECK(reason(read_pod_list(stream)) == KubeReason::disconnected);
}

TEST_CASE("strings and documents beyond the limits are given up") {
  const std::string long_text(JsonStream::max_string_bytes + 100, 'x');
  const auto annotated = [](const std::string& text) {
    return event_text("ADDED", minimal_pod(R"(,"annotations":{"a":")" + text + "\"}"));
  };
  CHECK(event_of(annotated(std::string(1 << 20, 'x'))));
  CHECK(reason(event_of(annotated(long_text))) == KubeReason::too_large);
  // Escaped quotes do not end a string.
  std::string escaped;
  while (escaped.size() < JsonStream::max_string_bytes + 100) escaped += "\\\"";
  CHECK(reason(event_of(annotated(escaped))) == KubeReason::too_large);
  // Nor does anything else that the parser would have to remember.
  CHECK(reason(event_of("{\"a\":" + std::string(long_text.size(), '7'))) == KubeReason::too_large);
  CHECK(reason(event_of("{\"a\":" + std::string(long_text.size(), ' '))) == KubeReason::too_large);
}

TEST_CASE("an event beyond the limit is given up") {
  std::string text = R"({"type":"ADDED")";
  while (text.size() <= max_event_bytes) text += R"(,"a":"bcdefghijklmnopqrstuvwxyz")";
  CHECK(reason(event_of(text + "}")) == KubeReason::too_large);
}

TEST_CASE("deep nesting is given up") {
  const auto nested = [](size_t depth) {
    return event_text("ADDED",
                      minimal_pod(",\"x\":" + std::string(depth, '[') + std::string(depth, ']')));
  };
  CHECK(event_of(nested(50)));
  CHECK(reason(event_of(nested(64))) == KubeReason::malformed);
  CHECK(reason(event_of(std::string(1'000'000, '['))) == KubeReason::malformed);
}

TEST_CASE("more pods than the directory takes are too many") {
  std::string items = minimal_pod();
  for (size_t i = 1; i < PodDirectory::max_pods; ++i) items += "," + minimal_pod();
  CHECK(list_of(list_text(items)));
  CHECK(reason(list_of(list_text(items + "," + minimal_pod()))) == KubeReason::too_large);
}

TEST_CASE("fields and containers of a pod are bounded") {
  const std::string long_name(PodFields::max_field_bytes + 1, 'x');
  CHECK(reason(list_of(list_text(R"({"metadata":{"uid":"u","namespace":"n","name":")" + long_name +
                                 "\"}}"))) == KubeReason::malformed);
  std::string statuses;
  for (size_t i = 0; i < PodFields::max_containers + 10; ++i)
    statuses +=
        (i == 0 ? "" : ",") + (R"({"name":"c","containerID":"x://)" + std::to_string(i)) + "\"}";
  const auto list = list_of(list_text(R"({"metadata":{"uid":"u","namespace":"n","name":"p"},)"
                                      R"("status":{"containerStatuses":[)" +
                                      statuses + "]}}"));
  REQUIRE(list);
  CHECK(list->pods.at(0).containers.size() == PodFields::max_containers);
}

TEST_CASE("a version that is too long to ask with is none") {
  const auto list_since = [](size_t digits) {
    return list_of(R"({"items":[],"metadata":{"resourceVersion":")" + std::string(digits, '9') +
                   "\"}}");
  };
  CHECK(list_since(PodFields::max_field_bytes));
  CHECK(reason(list_since(PodFields::max_field_bytes + 1)) == KubeReason::malformed);
}

TEST_CASE("a long key is not taken for one that begins like it") {
  const std::string key = "uid" + std::string(100, 'x');
  const auto event = event_of(event_text("ADDED", minimal_pod(",\"" + key + "\":\"no\"")));
  CHECK((*event)->pod.uid == "u");
}
