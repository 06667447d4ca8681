// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "userspace/identity/json_stream.h"
#include "userspace/identity/kube_access.h"
#include "userspace/identity/kube_failure.h"
#include "userspace/util/result.h"

namespace uvtap {

/// Asks the API server, one request at a time. Everything is called by one thread, which waits for
/// the answers; only stop() is for others.
class KubeApi final : public ByteSource {
 public:
  /// Fails on an access that makes no sense. Nothing is sent yet.
  static Result<std::unique_ptr<KubeApi>> make(const KubernetesAccess& access,
                                               const KubernetesPatience& patience);
  ~KubeApi() override;

  /// How long an answer may take.
  struct Limits {
    std::chrono::milliseconds whole{};
    std::chrono::milliseconds silence{};  ///< without a byte; 0: as long as it takes
  };
  /// Sends a request with the present token, after giving up the one before. Returns when an answer
  /// with status 200 has begun: next_piece() has the rest.
  KubeResult<void> get(const std::string& path, const Limits& limits);
  KubeResult<std::string_view> next_piece() override;
  /// Waits for more of the answer, or its end. False if there was none of it for so long.
  KubeResult<bool> await_more(std::chrono::milliseconds at_most);
  /// Waits. False if the wait was ended by stop().
  bool pause(std::chrono::milliseconds duration);

  /// Ends every wait, now and from now on, with KubeReason::stopped. To be called by any thread.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  template <auto free>
  struct Free {
    void operator()(auto* handle) const { free(handle); }
  };

  KubeApi(const KubernetesAccess& access, const KubernetesPatience& patience, std::string base_url);
  static size_t on_head_line(const char* line, size_t size, size_t count, void* self);
  static size_t on_body(const char* data, size_t size, size_t count, void* self);

  void set_up_handle();
  Result<void> set_up_request(const std::string& path, const Limits& limits);
  KubeResult<void> await_head();
  KubeResult<void> await_status();
  KubeResult<void> proceed(Clock::time_point until);
  void take_result();
  void give_up();
  [[nodiscard]] std::unexpected<KubeFailure> transfer_failure() const;

  const std::string credentials_dir_;
  const std::string base_url_;
  const KubernetesPatience patience_;

  std::unique_ptr<CURLM, Free<curl_multi_cleanup>> multi_;
  std::unique_ptr<CURL, Free<curl_easy_cleanup>> easy_;
  std::unique_ptr<curl_slist, Free<curl_slist_free_all>> head_;
  std::array<char, CURL_ERROR_SIZE> curl_says_{};
  std::atomic<bool> stopped_ = false;

  // of the present request
  bool is_added_ = false;
  bool head_is_complete_ = false;
  bool is_paused_ = false;
  bool is_done_ = true;
  bool something_new_ = false;  // whatever somebody may wait for
  CURLcode result_ = CURLE_OK;
  std::string received_;
  std::string piece_;  // what next_piece() has handed out
};

}  // namespace uvtap
