// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/kube_api.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/identity/kube_request.h"
#include "userspace/version.h"

namespace uvtap {
namespace {

using std::chrono::milliseconds;

/// Received and not yet read: beyond this the server has to wait.
constexpr size_t max_received_bytes = 256 << 10;
/// A server that has vanished without a word is noticed within about 15 + 4 × 5 s.
constexpr long keepalive_idle_seconds = 15;
constexpr long keepalive_interval_seconds = 5;

template <typename Value>
void set(CURL* easy, CURLoption option, Value value) {
  // Fails only for want of memory, or on an option that libcurl was built without.
  curl_easy_setopt(easy, option, value);
}

KubeReason reason_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return KubeReason::unreachable;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return KubeReason::tls;
    case CURLE_OPERATION_TIMEDOUT:
      return KubeReason::timeout;
    default:
      return KubeReason::disconnected;
  }
}

KubeResult<void> check_status(long status) {
  switch (status) {
    case 200:
      return {};
    case 401:
      return kube_fail(KubeReason::unauthorized, "it does not accept the token (401)");
    case 403:
      return kube_fail(KubeReason::forbidden,
                       "it forbids to read pods (403): the service account needs a ClusterRole "
                       "with get, list and watch on pods");
    case 410:
      return kube_fail(KubeReason::gone, "the version to go on from is too old (410)");
    default:
      return kube_fail(KubeReason::http, fmt::format("it answers with status {}", status));
  }
}

}  // namespace

Result<std::unique_ptr<KubeApi>> KubeApi::make(const KubernetesAccess& access,
                                               const KubernetesPatience& patience) {
  auto base_url = kube_base_url(access);
  if (!base_url) return std::unexpected(base_url.error());
  curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<KubeApi> api(new KubeApi(access, patience, std::move(*base_url)));
  if (!api->multi_ || !api->easy_) return fail("libcurl cannot be used");
  api->set_up_handle();
  return api;
}

KubeApi::KubeApi(const KubernetesAccess& access, const KubernetesPatience& patience,
                 std::string base_url)
    : credentials_dir_(access.credentials_dir),
      base_url_(std::move(base_url)),
      patience_(patience),
      multi_(curl_multi_init()),
      easy_(curl_easy_init()) {}

KubeApi::~KubeApi() { give_up(); }

void KubeApi::set_up_handle() {
  CURL* easy = easy_.get();
  set(easy, CURLOPT_PROTOCOLS_STR, "https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_PROXY, "");  // also none from the environment
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_USERAGENT, fmt::format("uvtap/{}", version).c_str());

  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_CAINFO, (credentials_dir_ + "/ca.crt").c_str());
  set(easy, CURLOPT_CAPATH, nullptr);       // not the authorities that the system trusts
  set(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);  // the file may be replaced

  set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(patience_.connect.count()));
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_TCP_KEEPIDLE, keepalive_idle_seconds);
  set(easy, CURLOPT_TCP_KEEPINTVL, keepalive_interval_seconds);
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_QUICK_EXIT, 1L);  // does not wait for a name server in the end

  set(easy, CURLOPT_ERRORBUFFER, curl_says_.data());
  set(easy, CURLOPT_HEADERFUNCTION, &KubeApi::on_head_line);
  set(easy, CURLOPT_HEADERDATA, this);
  set(easy, CURLOPT_WRITEFUNCTION, &KubeApi::on_body);
  set(easy, CURLOPT_WRITEDATA, this);
}

KubeResult<void> KubeApi::get(const std::string& path, const Limits& limits) {
  give_up();
  if (auto ready = set_up_request(path, limits); !ready)
    return kube_fail(KubeReason::credentials, ready.error().message);
  is_done_ = false;
  is_added_ = curl_multi_add_handle(multi_.get(), easy_.get()) == CURLM_OK;
  if (!is_added_) return kube_fail(KubeReason::unreachable, "libcurl cannot be used");
  return await_status();
}

Result<void> KubeApi::set_up_request(const std::string& path, const Limits& limits) {
  const auto token = read_token(credentials_dir_ + "/token");
  if (!token) return std::unexpected(token.error());
  head_.reset(curl_slist_append(nullptr, ("Authorization: Bearer " + *token).c_str()));
  curl_slist_append(head_.get(), "Accept: application/json");
  CURL* easy = easy_.get();
  set(easy, CURLOPT_HTTPHEADER, head_.get());
  set(easy, CURLOPT_URL, (base_url_ + path).c_str());
  set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(limits.whole.count()));
  const auto silence = std::chrono::ceil<std::chrono::seconds>(limits.silence);
  set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(silence.count()));
  return {};
}

KubeResult<void> KubeApi::await_status() {
  if (auto head = await_head(); !head) return head;
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  auto checked = check_status(status);
  if (!checked) give_up();
  return checked;
}

KubeResult<void> KubeApi::await_head() {
  const auto until = Clock::now() + patience_.answer;
  while (!head_is_complete_ && !is_done_) {
    if (Clock::now() >= until) return kube_fail(KubeReason::timeout, "it does not answer");
    if (auto ok = proceed(until); !ok) return ok;
  }
  if (!head_is_complete_) return transfer_failure();
  return {};
}

KubeResult<std::string_view> KubeApi::next_piece() {
  piece_.clear();
  while (received_.empty() && !is_done_)
    if (auto ok = proceed(Clock::time_point::max()); !ok) return std::unexpected(ok.error());
  if (received_.empty() && result_ != CURLE_OK) return transfer_failure();
  std::swap(piece_, received_);
  if (std::exchange(is_paused_, false)) curl_easy_pause(easy_.get(), CURLPAUSE_CONT);
  return piece_;
}

KubeResult<bool> KubeApi::await_more(milliseconds at_most) {
  const auto until = Clock::now() + at_most;
  while (received_.empty() && !is_done_ && Clock::now() < until)
    if (auto ok = proceed(until); !ok) return std::unexpected(ok.error());
  return !received_.empty() || is_done_;
}

bool KubeApi::pause(milliseconds duration) {
  give_up();
  const auto until = Clock::now() + duration;
  while (Clock::now() < until)
    if (!proceed(until)) return false;
  return !stopped_;
}

void KubeApi::stop() {
  stopped_ = true;
  curl_multi_wakeup(multi_.get());
}

/// Lets libcurl do what it can do now; if that is nothing, waits for something to happen.
KubeResult<void> KubeApi::proceed(Clock::time_point until) {
  if (stopped_) return kube_fail(KubeReason::stopped, "stopped");
  something_new_ = false;
  int running = 0;
  curl_multi_perform(multi_.get(), &running);
  take_result();
  if (something_new_) return {};
  constexpr milliseconds longest_wait{1000};
  const auto left = until == Clock::time_point::max()
                        ? longest_wait
                        : std::chrono::ceil<milliseconds>(until - Clock::now());
  const auto wait = std::clamp(left, milliseconds{0}, longest_wait);
  curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
  return {};
}

void KubeApi::take_result() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    something_new_ = true;
    is_done_ = true;
    result_ = message->data.result;
  }
}

/// Ends the present request, if there is one; a connection whose answer is not complete is closed.
void KubeApi::give_up() {
  if (std::exchange(is_added_, false)) curl_multi_remove_handle(multi_.get(), easy_.get());
  head_is_complete_ = false;
  is_paused_ = false;
  is_done_ = true;
  result_ = CURLE_OK;
  received_.clear();
  curl_says_[0] = '\0';
}

std::unexpected<KubeFailure> KubeApi::transfer_failure() const {
  const char* says = curl_says_[0] != '\0' ? curl_says_.data() : curl_easy_strerror(result_);
  return kube_fail(reason_of(result_), says);
}

size_t KubeApi::on_head_line(const char* line, size_t size, size_t count, void* self) {
  auto& api = *static_cast<KubeApi*>(self);
  long status = 0;
  curl_easy_getinfo(api.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  // An empty line ends the head; after "100 Continue" another one follows.
  const bool is_empty = std::string_view(line, size * count) == "\r\n";
  if (is_empty && status >= 200) api.head_is_complete_ = api.something_new_ = true;
  return size * count;
}

size_t KubeApi::on_body(const char* data, size_t size, size_t count, void* self) {
  auto& api = *static_cast<KubeApi*>(self);
  if (!api.received_.empty() && api.received_.size() + count > max_received_bytes) {
    api.is_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  api.something_new_ = true;
  api.received_.append(data, size * count);
  return size * count;
}

}  // namespace uvtap
