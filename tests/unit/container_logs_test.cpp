// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/container_logs.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_directory.h"

namespace uvtap {
namespace {

const std::string id(64, 'a');
const std::string other_id(64, 'b');
constexpr uint64_t second_ns = 1'000'000'000;

TEST_CASE("the name of a log file tells pod, namespace and container") {
  const auto named = parse_log_name("web-7d4b9c-x2x_shop_node-app-" + id + ".log");
  REQUIRE(named);
  CHECK(named->id == id);
  CHECK(named->identity.pod == "web-7d4b9c-x2x");
  CHECK(named->identity.namespace_ == "shop");
  CHECK(named->identity.container == "node-app");
  CHECK(named->identity.workload.empty());
  CHECK(parse_log_name("kube-proxy-ip-10.internal_kube-system_proxy-" + id + ".log"));
}

TEST_CASE("other names tell nothing") {
  const auto name = GENERATE_REF(values<std::string>({
      "",
      ".log",
      "_",
      "__",
      "web_shop_app.log",
      "web_shop_app-" + id,
      "web_shop_app-" + id.substr(1) + ".log",
      "web_shop_app-" + std::string(64, 'A') + ".log",
      "web_app-" + id + ".log",
      "_shop_app-" + id + ".log",
      "web__app-" + id + ".log",
      "web_shop_-" + id + ".log",
      "we\nb_shop_app-" + id + ".log",
      "web_shop_a/b-" + id + ".log",
      "web_sh_op_app-" + id + ".log",
      std::string(254, 'w') + "_shop_app-" + id + ".log",
  }));
  CAPTURE(name);
  CHECK_FALSE(parse_log_name(name));
}

TEST_CASE("a container is found once its log file is there, a second later at the latest") {
  const test::TemporaryDirectory directory;
  const auto add = [&](const std::string& name) { std::ofstream(directory.path() / name); };
  add("web_shop_app-" + id + ".log");
  ContainerLogs logs(directory.path());
  CHECK(logs.available());
  REQUIRE(logs.find(id, second_ns));
  CHECK(logs.find(id, second_ns)->pod == "web");

  add("api_shop_app-" + other_id + ".log");
  CHECK_FALSE(logs.find(other_id, 2 * second_ns - 1));
  REQUIRE(logs.find(other_id, 2 * second_ns));
  CHECK(logs.find(other_id, 2 * second_ns)->pod == "api");
}

TEST_CASE("a directory that is not there holds nothing") {
  ContainerLogs logs("/nowhere/containers");
  CHECK_FALSE(logs.available());
  CHECK_FALSE(logs.find(id, second_ns));
}

}  // namespace
}  // namespace uvtap
