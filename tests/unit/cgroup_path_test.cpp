// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/cgroup_path.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

namespace uvtap {
namespace {

const std::string uid = "a4c123b1-612d-d272-d137-1c17149d4395";
const std::string uid_systemd = "a4c123b1_612d_d272_d137_1c17149d4395";
const std::string static_uid = "cc2bd818319478da6bd0c621de49f145";
const std::string id(64, 'a');
const std::string other_id(64, 'b');
const std::string slice = "kubepods-burstable-pod" + uid_systemd + ".slice";

CgroupContainer parse_v2(const std::string& path) { return parse_cgroup("0::" + path + "\n"); }

TEST_CASE("a container of a pod, as each driver and runtime names it") {
  const auto path = GENERATE_REF(values<std::string>({
      "/kubepods.slice/kubepods-burstable.slice/" + slice + "/cri-containerd-" + id + ".scope",
      "/kubepods.slice/" + slice + "/crio-" + id + ".scope",
      "/kubepods.slice/" + slice + "/docker-" + id + ".scope",
      "/kubepods/burstable/pod" + uid + "/" + id,
      "/kubepods/burstable/pod" + uid + "/crio-" + id,
      // systemd names under a cgroupfs driver
      "/system.slice/containerd.service/" + slice + ":cri-containerd:" + id,
      "/" + slice + ":cri-containerd:" + id,
      // the kubelet started with --cgroup-root=/nodes
      "/nodes.slice/nodes-kubepods.slice/nodes-kubepods-pod" + uid_systemd +
          ".slice/cri-containerd-" + id + ".scope",
      // seen from a cgroup namespace of one's own
      "/../../../" + slice + "/cri-containerd-" + id + ".scope",
      "/../../pod" + uid + "/" + id,
      // removed while its last process is still there
      "/kubepods/pod" + uid + "/" + id + " (deleted)",
  }));
  CAPTURE(path);
  CHECK(parse_v2(path) == CgroupContainer{uid, id});
}

TEST_CASE("nodes that are containers themselves") {
  const auto path = GENERATE_REF(values<std::string>({
      "/docker/" + other_id + "/kubelet/kubepods/burstable/pod" + uid + "/" + id,
      "/system.slice/docker-" + other_id + ".scope/kubepods.slice/" + slice + "/docker-" + id +
          ".scope",
      "/kubelet.slice/kubelet-kubepods.slice/kubelet-" + slice + "/cri-containerd-" + id + ".scope",
      "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + other_id +
          ".scope/container/kubelet.slice/kubelet-" + slice + "/cri-containerd-" + id + ".scope",
  }));
  CAPTURE(path);
  CHECK(parse_v2(path) == CgroupContainer{uid, id});
}

TEST_CASE("what stands below a container belongs to it") {
  const std::string container = "/kubepods/burstable/pod" + uid + "/" + id;
  const auto below = GENERATE_REF(values<std::string>({
      "/init.scope",
      "/system.slice/node.service",
      "/docker/" + other_id,
      // made by the container itself, to pass for another pod
      "/kubepods/burstable/pod" + static_uid + "/" + other_id,
      "/" + slice + ":cri-containerd:" + other_id,
  }));
  CAPTURE(below);
  CHECK(parse_v2(container + below) == CgroupContainer{uid, id});
}

TEST_CASE("a static pod's uid is a hash") {
  CHECK(parse_v2("/kubepods/pod" + static_uid + "/" + id) == CgroupContainer{static_uid, id});
}

TEST_CASE("a container outside any pod") {
  const auto path = GENERATE_REF(values<std::string>({
      "/docker/" + id, "/system.slice/docker-" + id + ".scope", "/system.slice:docker:" + id,
      "/machine.slice/libpod-" + id + ".scope/container",
      "/ecs/0123456789abcdef0123456789abcdef/" + id,
      "/../cri-containerd-" + id + ".scope",  // a neighbour in the reader's own pod
  }));
  CAPTURE(path);
  CHECK(parse_v2(path) == CgroupContainer{"", id});
}

TEST_CASE("the monitor beside a container is not in it") {
  CHECK(parse_v2("/kubepods.slice/" + slice + "/crio-conmon-" + id + ".scope") ==
        CgroupContainer{uid, ""});
  CHECK(parse_v2("/machine.slice/libpod-conmon-" + id + ".scope") == CgroupContainer{});
}

TEST_CASE("what is no container gives nothing") {
  const auto path = GENERATE_REF(values<std::string>({
      "/",
      "",
      "/../..",
      "/init.scope",
      "/user.slice/user-1000.slice/session-3.scope",
      "/lxc.payload.web/init.scope",
      "/azure.slice/azure-agent.service",
      "/kube.slice/kubelet.service",
      "/system.slice/" + id + ".service",  // a unit that is only named like an id
      "/system.slice/x" + id,
      "/docker/" + id.substr(1),
      "/docker/" + id + "a",
      "/docker/" + std::string(64, 'A'),
      "/podinfo/pod/pod-",
  }));
  CAPTURE(path);
  CHECK(parse_v2(path) == CgroupContainer{});
}

TEST_CASE("a pod's uid must be one") {
  const auto bad = GENERATE_REF(values<std::string>({
      uid.substr(1),
      uid + "0",
      "a4c123b1x612d-d272-d137-1c17149d4395",
      "a4c123b1-612d-d272-d137-1c17149d439g",
      "------------------------------------",
      std::string(36, 'a'),
      static_uid + "0",
  }));
  CAPTURE(bad);
  CHECK(parse_v2("/kubepods/pod" + bad + "/" + id) == CgroupContainer{"", id});
}

TEST_CASE("of several hierarchies the one that names the pod counts") {
  const std::string pod = "/kubepods/burstable/pod" + uid + "/" + id;
  CHECK(parse_cgroup("12:pids:/system.slice/docker-" + other_id + ".scope\n9:memory:" + pod +
                     "\n1:name=systemd:/\n0::/\n") == CgroupContainer{uid, id});
  CHECK(parse_cgroup("0::/\n4:cpu,cpuacct:/docker/" + id) == CgroupContainer{"", id});
}

TEST_CASE("text that is no cgroup file does no harm") {
  for (const auto* text : {"", "\n\n\n", "0", "0:", "0::", ":::::", "no colon at all"})
    CHECK(parse_cgroup(text) == CgroupContainer{});
  CHECK(parse_cgroup("0::" + std::string(60'000, '/')) == CgroupContainer{});
  CHECK(parse_cgroup("0::" + std::string(60'000, ':')) == CgroupContainer{});
}

std::vector<std::string> columns(const std::string& row) {
  std::vector<std::string> all;
  std::stringstream rest(row);
  for (std::string column; std::getline(rest, column, '\t');) all.push_back(column);
  all.resize(4);
  return all;
}

TEST_CASE("the collected cases") {
  const auto file = std::filesystem::path(UVTAP_SOURCE_DIR) / "../shared/cases/cgroup-paths.tsv";
  std::ifstream cases(file);
  if (!cases) {
    WARN("not run: there is no " + file.string());
    return;
  }
  for (std::string row; std::getline(cases, row);) {
    if (row.starts_with('#')) continue;
    const auto column = columns(row);
    INFO(column[0]);
    CHECK(parse_cgroup(column[1]) == CgroupContainer{column[2], column[3]});
  }
}

}  // namespace
}  // namespace uvtap
