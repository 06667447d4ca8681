// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/process_name.h"

#include <catch2/catch.hpp>
#include <vector>

namespace {

std::string name_of(const std::vector<std::string>& arguments) {
  return uvtap::display_name(arguments);
}

}  // namespace

TEST_CASE("a node process is called after its script", "[process_name]") {
  CHECK(name_of({"node", "server.js"}) == "server.js");
  CHECK(name_of({"/usr/bin/node", "/srv/app/main.mjs", "--port", "80"}) == "main.mjs");
  CHECK(name_of({"nodejs", "app/"}) == "app");
  CHECK(name_of({"node", "--", "-odd.js"}) == "-odd.js");
}

TEST_CASE("options and their values are not the script", "[process_name]") {
  CHECK(name_of({"node", "--inspect", "a.js"}) == "a.js");
  CHECK(name_of({"node", "--max-old-space-size=400", "a.js"}) == "a.js");
  CHECK(name_of({"node", "-r", "./hook.js", "--import", "x", "a.js"}) == "a.js");
  CHECK(name_of({"node", "--require", "dotenv", "a.js"}) == "a.js");
  CHECK(name_of({"node", "--require=dotenv", "a.js"}) == "a.js");
  CHECK(name_of({"node", "--loader", "ts-node/esm", "a.ts"}) == "a.ts");
  CHECK(name_of({"node", "--max_http_header_size", "9999", "a.js"}) == "a.js");
}

TEST_CASE("without a script the program's name stands", "[process_name]") {
  CHECK(name_of({"/opt/node"}) == "node");
  CHECK(name_of({"node", "-e", "setInterval(()=>{},1)"}) == "node");
  CHECK(name_of({"node", "--eval", "1", "x"}) == "node");
  CHECK(name_of({"node", "-pe", "1"}) == "node");
  CHECK(name_of({"node", "-"}) == "node");
  CHECK(name_of({"node", "."}) == "node");
  CHECK(name_of({"node", "-r"}) == "node");
  CHECK(name_of({"node", "--"}) == "node");
}

TEST_CASE("another program keeps its own name", "[process_name]") {
  CHECK(name_of({"/opt/my-service", "serve"}) == "my-service");
  CHECK(name_of({"my title"}) == "my title");
}

TEST_CASE("a name is printable and short", "[process_name]") {
  CHECK(name_of({}).empty());
  CHECK(name_of({"node", "a\nb\xff.js"}) == "a?b?.js");
  CHECK(name_of({"node", std::string(5000, 'x')}) == std::string(64, 'x'));
}
