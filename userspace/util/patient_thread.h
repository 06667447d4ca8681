// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "userspace/util/thread_waiting.h"

namespace uvtap {

/// Work that was given up. It may still come to its end, or never.
class Hang {
 public:
  explicit Hang(std::shared_ptr<const std::atomic<bool>> over) : over_(std::move(over)) {}
  [[nodiscard]] bool is_over() const { return *over_; }

 private:
  std::shared_ptr<const std::atomic<bool>> over_;
};

/// A thread for work that the kernel may hold up for ever, and that no signal but a fatal one would
/// end: a file whose file system does not answer, memory mapped from it. Work that takes too long
/// is given up together with its thread, and the next work gets a new one. A thread that was given
/// up ends by itself if its work ever does.
///
/// So work owns what it uses, or shares it: it may outlive whoever gave it. It does not throw.
/// To be used by one thread; new threads inherit that one's capabilities.
class PatientThread {
 public:
  using Work = std::function<void()>;
  using Interval = std::chrono::milliseconds;

  /// `name`: as it is seen in /proc, at most 15 characters.
  explicit PatientThread(std::string name) : name_(std::move(name)) {}
  /// Waits a moment for work that is being done, then gives it up.
  ~PatientThread();
  PatientThread(const PatientThread&) = delete;
  PatientThread& operator=(const PatientThread&) = delete;

  /// Does this work, and does not wait for it. None may be under way.
  void start(Work work);
  /// Whether no work is under way, or it ended within this time.
  [[nodiscard]] bool await(Interval limit);
  /// Whether the work under way waits in the kernel just now: it neither runs nor wants a CPU.
  [[nodiscard]] bool waits_now() const;
  /// Gives up the work that is under way.
  [[nodiscard]] Hang abandon();

  /// Does this work; gives it up once it has waited in the kernel for `limit` in all. The time that
  /// it computes, or that it gets no CPU, does not count.
  [[nodiscard]] std::optional<Hang> run(Work work, Interval limit);
  /// How long the work that run() did last has waited in the kernel.
  [[nodiscard]] uint64_t last_waited_ns() const { return last_waited_ns_; }

  /// Does this work and returns what it returns.
  template <typename Function>
  [[nodiscard]] std::expected<std::invoke_result_t<Function>, Hang> call(Function function,
                                                                         Interval limit) {
    auto value = std::make_shared<std::optional<std::invoke_result_t<Function>>>();
    const auto hang =
        run([value, function = std::move(function)]() mutable { *value = function(); }, limit);
    if (hang) return std::unexpected(*hang);
    return std::move(**value);
  }

  /// Threads of the whole program that were given up and have not ended.
  [[nodiscard]] static size_t abandoned();

 private:
  struct Worker {
    std::mutex mutex;
    std::condition_variable changed;
    Work work;           ///< to be done
    bool busy = false;   ///< from when work is given until it is done
    bool leave = false;  ///< no more work will come
    bool given_up = false;
    std::atomic<bool> over = false;        ///< for those who hold a Hang
    std::optional<ThreadWaiting> waiting;  ///< once its thread runs
    uint64_t waited_before_ns = 0;         ///< when the work began
    uint64_t waited_ns = 0;                ///< by work that is done
  };
  static void serve(const std::string& name, Worker& worker);
  static void do_work(Worker& worker, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool has_waited_for(Interval limit);

  std::string name_;
  std::shared_ptr<Worker> worker_;  ///< shared with its thread
  std::thread thread_;
  uint64_t last_waited_ns_ = 0;
};

}  // namespace uvtap
