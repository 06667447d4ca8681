// SPDX-License-Identifier: Apache-2.0
// What the API server answers, cut into pieces at any place. The first byte says what was asked for
// and how it ends, the next four how long the pieces are, in turn.
#include <array>

#include "tests/fuzz/fuzz.h"
#include "userspace/identity/kube_request.h"
#include "userspace/identity/pod_directory.h"
#include "userspace/identity/pod_fields.h"
#include "userspace/identity/pod_json.h"

using namespace uvtap;
using fuzz::require;

namespace {

using Lengths = std::array<uint8_t, 4>;

class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view text, Lengths lengths, bool breaks_off)
      : text_(text), lengths_(lengths), breaks_off_(breaks_off) {}

  KubeResult<std::string_view> next_piece() override {
    if (text_.empty() && breaks_off_) return kube_fail(KubeReason::disconnected, "broke off");
    const size_t length = size_t{1} + lengths_[next_++ % lengths_.size()];
    const std::string_view piece = text_.substr(0, length);
    text_.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::string_view text_;
  Lengths lengths_;
  bool breaks_off_;
  size_t next_ = 0;
};

void check_version(const std::string& version) {
  require(!version.empty() && version.size() <= PodFields::max_field_bytes, "a version is short");
  const std::string request = watch_request("node", version, std::chrono::seconds(300));
  require(!request.contains(' ') && fuzz::has_no_control(request) && fuzz::is_utf8(request),
          "a version does not break the next request");
}

void check_pod(const KnownPod& pod) {
  for (const std::string* text : {&pod.uid, &pod.namespace_, &pod.name}) {
    require(!text->empty(), "a pod has a uid, a namespace and a name");
    require(text->size() <= PodFields::max_field_bytes, "what is kept is short");
  }
  require(pod.workload.size() <= PodFields::max_field_bytes, "what is kept is short");
  require(pod.containers.size() <= PodFields::max_containers, "containers are few");
  for (const auto& [id, name] : pod.containers) {
    require(!id.empty() && !name.empty(), "a container has an id and a name");
    require(id.size() <= PodFields::max_field_bytes && name.size() <= PodFields::max_field_bytes,
            "what is kept is short");
  }
}

/// Every container of a pod that has just been put is known, as that pod's.
void check_known(const PodDirectory& directory, const KnownPod& pod) {
  for (const auto& [id, name] : pod.containers) {
    const auto found = directory.find(id);
    require(found && found->container == name && found->pod == pod.name, "it is found");
  }
}

/// What was read, in one text: to compare.
void note(std::string& story, const KnownPod& pod) {
  check_pod(pod);
  story += pod.uid + '\1' + pod.namespace_ + '\1' + pod.name + '\1' + pod.workload_kind + '\1' +
           pod.workload + '\2';
  for (const auto& [id, name] : pod.containers) story += id + '\1' + name + '\2';
}

std::string note(const KubeFailure& failure) {
  require(failure.message.size() < 200 && fuzz::has_no_control(failure.message), "one line");
  return "failed: " + failure.message;
}

std::string read_list(ByteSource&& source, bool breaks_off) {
  JsonStream stream(source);
  auto list = read_pod_list(stream);
  if (!list) return note(list.error());
  require(!breaks_off, "a list that breaks off is no list");
  check_version(list->version);
  std::string story = list->version;
  for (const KnownPod& pod : list->pods) note(story, pod);
  PodDirectory directory;
  const size_t pods = list->pods.size();
  directory.replace(std::move(list->pods));
  require(directory.pods() <= pods, "no more than there are");
  return story;
}

void take_over(PodDirectory& directory, const PodEvent& event) {
  if (event.kind == PodEvent::Kind::put) {
    require(directory.put(event.pod), "there is room");
    check_known(directory, event.pod);
  } else if (event.kind == PodEvent::Kind::removed) {
    directory.remove(event.pod.uid);
    for (const auto& [id, name] : event.pod.containers) (void)directory.find(id);
  }
}

std::string read_events(ByteSource&& source) {
  JsonStream stream(source);
  PodDirectory directory;
  std::string story;
  while (true) {
    const auto event = read_pod_event(stream);
    if (!event) return story + note(event.error());
    if (!*event) return story;
    check_version((*event)->version);
    story += (*event)->version + '\2';
    if ((*event)->kind == PodEvent::Kind::bookmark) continue;
    note(story, (*event)->pod);
    take_over(directory, **event);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const auto mode = input.take<uint8_t>();
  const auto lengths = input.take<Lengths>();
  const std::string_view text = input.text();
  const bool is_watch = (mode & 1) != 0;
  const bool breaks_off = (mode & 2) != 0;
  const auto read = [&](Lengths cut) {
    Pieces pieces(text, cut, breaks_off);
    return is_watch ? read_events(std::move(pieces)) : read_list(std::move(pieces), breaks_off);
  };
  require(read(lengths) == read({255, 255, 255, 255}), "where it is cut does not matter");
  return 0;
}
