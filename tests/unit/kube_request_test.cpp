// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/kube_request.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace uvtap;

namespace {

Result<std::string> base_url(const std::string& host, uint16_t port = 443) {
  return kube_base_url({.host = host, .port = port, .credentials_dir = {}, .node_name = {}});
}

/// A file with a token; removed at the end.
class TokenFile {
 public:
  explicit TokenFile(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TokenFile() { std::filesystem::remove(path_); }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  [[nodiscard]] Result<std::string> read() const { return read_token(path_); }

 private:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("uvtap-token-" + std::to_string(::getpid())))
          .string();
};

}  // namespace

TEST_CASE("base URLs") {
  CHECK(base_url("10.100.0.1") == "https://10.100.0.1:443");
  CHECK(base_url("fd00:10::1", 6443) == "https://[fd00:10::1]:6443");
  CHECK(base_url("kubernetes.default.svc") == "https://kubernetes.default.svc:443");
}

TEST_CASE("what is no host is refused") {
  for (const char* host :
       {"", "a/b", "user@host", "[::1]", "a b", "a\nb", "host?x", "host#x", "a%2"})
    CHECK_FALSE(base_url(host));
  CHECK_FALSE(base_url(std::string(254, 'a')));
}

TEST_CASE("names of nodes") {
  CHECK(is_node_name("ip-10-0-0-7.eu-west-1.compute.internal"));
  CHECK(is_node_name(std::string(253, 'a')));
  for (const char* name : {"", "a,b", "a=b", "a&b", "a b", "a/b", "a%b"})
    CHECK_FALSE(is_node_name(name));
  CHECK_FALSE(is_node_name(std::string(254, 'a')));
}

TEST_CASE("requests") {
  CHECK(list_request("node-1", false) ==
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&resourceVersion=0");
  CHECK(list_request("node-1", true) == "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1");
  CHECK(watch_request("node-1", "12 3&", std::chrono::seconds{300}) ==
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&watch=true&allowWatchBookmarks=true"
        "&resourceVersion=12%203%26&timeoutSeconds=300");
}

TEST_CASE("tokens") {
  CHECK(TokenFile("eyJhbGciOi.J-_9=").read() == "eyJhbGciOi.J-_9=");
  CHECK(TokenFile("token\r\n").read() == "token");
  CHECK(TokenFile(std::string(16384, 't')).read()->size() == 16384);
}

TEST_CASE("what is no token does not get into a header") {
  CHECK_FALSE(TokenFile("").read());
  CHECK_FALSE(TokenFile("\n").read());
  CHECK_FALSE(TokenFile("a\r\nX-Other: b").read());
  CHECK_FALSE(TokenFile("a b").read());
  CHECK_FALSE(TokenFile(std::string("a\0b", 3)).read());
  CHECK_FALSE(TokenFile("\xC3\xA9").read());
  CHECK_FALSE(TokenFile(std::string(16385, 't')).read());
  CHECK_FALSE(TokenFile(std::string(1 << 20, ' ')).read());
  CHECK_FALSE(read_token("/nowhere/token"));
  CHECK_FALSE(read_token("/"));
}
