// SPDX-License-Identifier: Apache-2.0
#include "userspace/util/patient_thread.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

namespace uvtap {
namespace {

constexpr PatientThread::Interval farewell{100};
/// How often work that takes long is looked after.
constexpr PatientThread::Interval most_between_looks{20};

/// Trivially destroyed: a thread that was given up may come back while the program ends.
std::atomic<size_t> threads_given_up = 0;

}  // namespace

size_t PatientThread::abandoned() { return threads_given_up; }

PatientThread::~PatientThread() {
  if (!worker_) return;
  if (!await(farewell)) {
    (void)abandon();
    return;
  }
  {
    const std::scoped_lock lock(worker_->mutex);
    worker_->leave = true;
  }
  worker_->changed.notify_all();
  thread_.join();
}

void PatientThread::start(Work work) {
  if (!worker_) {
    worker_ = std::make_shared<Worker>();
    thread_ = std::thread([name = name_, worker = worker_] { serve(name, *worker); });
  }
  {
    const std::scoped_lock lock(worker_->mutex);
    worker_->work = std::move(work);
    worker_->busy = true;
    worker_->over = false;
  }
  worker_->changed.notify_all();
}

bool PatientThread::await(Interval limit) {
  if (!worker_) return true;
  std::unique_lock lock(worker_->mutex);
  return worker_->changed.wait_for(lock, limit, [this] { return !worker_->busy; });
}

Hang PatientThread::abandon() {
  const std::shared_ptr<Worker> worker = std::exchange(worker_, nullptr);
  thread_.detach();
  const std::scoped_lock lock(worker->mutex);
  worker->leave = true;
  worker->given_up = true;
  ++threads_given_up;
  worker->changed.notify_all();  // its work may have ended just now
  return Hang(std::shared_ptr<const std::atomic<bool>>(worker, &worker->over));
}

bool PatientThread::waits_now() const {
  if (!worker_) return false;
  const std::scoped_lock lock(worker_->mutex);
  return worker_->busy && worker_->waiting && worker_->waiting->waits_now();
}

std::optional<Hang> PatientThread::run(Work work, Interval limit) {
  start(std::move(work));
  while (!await(std::min(limit, most_between_looks)))
    if (has_waited_for(limit)) return abandon();
  last_waited_ns_ = worker_->waited_ns;
  return std::nullopt;
}

bool PatientThread::has_waited_for(Interval limit) {
  const std::scoped_lock lock(worker_->mutex);
  // A thread that has not begun, or is queued, wants nothing but a CPU.
  if (!worker_->busy || worker_->work || !worker_->waiting->waits_now()) return false;
  last_waited_ns_ = worker_->waiting->waited_since(worker_->waited_before_ns);
  return last_waited_ns_ >= static_cast<uint64_t>(std::chrono::nanoseconds(limit).count());
}

void PatientThread::serve(const std::string& name, Worker& worker) {
  prctl(PR_SET_NAME, name.c_str());
  std::unique_lock lock(worker.mutex);
  worker.waiting.emplace(gettid());
  for (;;) {
    worker.changed.wait(lock, [&] { return worker.leave || worker.work; });
    if (worker.work) do_work(worker, lock);
    if (worker.leave) break;
  }
  if (worker.given_up) --threads_given_up;
}

void PatientThread::do_work(Worker& worker, std::unique_lock<std::mutex>& lock) {
  Work work = std::exchange(worker.work, nullptr);
  worker.waited_before_ns = worker.waiting->waited_ns();
  lock.unlock();
  work();
  work = nullptr;  // what it holds is let go before anyone is told
  lock.lock();
  worker.waited_ns = worker.waiting->waited_since(worker.waited_before_ns);
  worker.busy = false;
  worker.over = true;
  worker.changed.notify_all();
}

}  // namespace uvtap
