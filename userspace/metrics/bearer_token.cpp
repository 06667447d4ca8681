// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/bearer_token.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "userspace/util/monotonic_clock.h"

namespace uvtap {
namespace {

constexpr size_t max_token_bytes = 4096;
constexpr uint64_t look_interval_ns = 1'000'000'000;

bool belongs_to_token(char byte) { return byte > ' ' && byte < 0x7F; }

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

/// "Bearer <token>" → the token; nothing of it where the scheme is another.
std::string_view shown_token(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  if (!equal_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return {};
  authorization.remove_prefix(scheme.size());
  return authorization;
}

/// Takes as long for a right beginning as for a wrong one: every byte that was shown is compared.
bool is_same(std::string_view shown, std::string_view token) {
  volatile unsigned char difference = shown.size() == token.size() ? 0 : 1;
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto unlike = static_cast<unsigned char>(shown[i] ^ token[i % token.size()]);
    difference = static_cast<unsigned char>(difference | unlike);
  }
  return difference == 0;
}

}  // namespace

Result<std::shared_ptr<BearerToken>> BearerToken::read(const std::string& path) {
  std::shared_ptr<BearerToken> token(new BearerToken(path));
  if (auto loaded = token->load(); !loaded) return std::unexpected(loaded.error());
  return token;
}

Result<void> BearerToken::load() {
  auto file = read_secret_file(path_, max_token_bytes + 2);
  if (!file) return fail("the bearer token: {}", file.error().message);
  std::string_view text = file->text;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (text.empty() || text.size() > max_token_bytes || !std::ranges::all_of(text, belongs_to_token))
    return fail("the bearer token: {} must hold 1 to {} printable characters without spaces", path_,
                max_token_bytes);
  token_ = text;
  stamp_ = file->stamp;
  return {};
}

void BearerToken::renew(uint64_t now_ns) {
  if (now_ns - looked_at_ns_ < look_interval_ns) return;
  looked_at_ns_ = now_ns;
  const FileStamp stamp = stamp_of(path_);
  if (stamp == stamp_) return;
  if (auto loaded = load(); loaded) {
    spdlog::info("the bearer token was read again: {} has changed", path_);
  } else {
    log_.warn("renew", now_ns, loaded.error().message + "; the last one stays good");
  }
}

bool BearerToken::accepts(std::string_view authorization) {
  const std::scoped_lock lock(mutex_);
  renew(monotonic_now_ns());
  return is_same(shown_token(authorization), token_);
}

HttpHandler guarded(HttpHandler pages, std::shared_ptr<BearerToken> token) {
  return [pages = std::move(pages), token = std::move(token)](const HttpRequest& request) {
    if (request.path != "/metrics" || token->accepts(request.authorization)) return pages(request);
    return HttpResponse{.status = 401, .body = "not authorized\n"};
  };
}

}  // namespace uvtap
