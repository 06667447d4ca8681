// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/calibration.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <functional>
#include <thread>

#include "userspace/symbols/elf_file.h"
#include "userspace/symbols/libuv_layout.h"
#include "userspace/util/unique_fd.h"

// The two ways into a poll, as libuv has them: a function whose first instruction is `push`, and a
// call of libc's epoll_wait with the loop pointer kept in a callee-saved register.
extern "C" {
int uvtap_calibration_io_poll(void* loop, int timeout);
int uvtap_calibration_epoll(void* loop, int epoll_fd, epoll_event* events, void* epoll_wait);
}
asm(R"(
  .pushsection .text
  .globl uvtap_calibration_io_poll
  .type uvtap_calibration_io_poll, @function
uvtap_calibration_io_poll:
  push %rbp
  pop %rbp
  xor %eax, %eax
  ret
  .globl uvtap_calibration_epoll
  .type uvtap_calibration_epoll, @function
uvtap_calibration_epoll:
  push %r13
  mov %rdi, %r13
  mov %esi, %edi
  mov %rdx, %rsi
  mov %rcx, %rax
  mov $1, %edx
  xor %ecx, %ecx
  call *%rax
  pop %r13
  ret
  .popsection
)");

namespace uvtap {
namespace {

constexpr uint64_t calls_per_batch = 200;
constexpr uint64_t batches = 9;

/// What uv_loop_t and its internal fields look like to the probes.
class FakeLoop {
 public:
  FakeLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    put(layout().internal_fields, reinterpret_cast<uint64_t>(internal_fields_.data()));
    put(layout().backend_fd, epoll_.get());
    internal_fields_[0] = std::byte{1};  // UV_METRICS_IDLE_TIME
  }
  [[nodiscard]] void* address() { return loop_.data(); }
  [[nodiscard]] int epoll_fd() const { return epoll_.get(); }
  [[nodiscard]] static LibuvLayout layout() { return libuv_layout({1, 52, 1}).value(); }

 private:
  template <typename T>
  void put(uint32_t offset, T value) {
    std::memcpy(&loop_[offset], &value, sizeof(value));
  }
  UniqueFd epoll_;
  alignas(16) std::array<std::byte, 848> loop_{};
  alignas(16) std::array<std::byte, 160> internal_fields_{};
};

/// Enters the poll of a loop, by whichever way the door under trial watches.
using PollCall = std::function<void(FakeLoop&)>;
using Attach = std::function<Result<std::vector<Link>>()>;

/// Where an address of this process stands in its file.
Result<UprobeTarget> target_of(void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (!dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map)
    return fail("the dynamic linker does not know one of our own functions");
  // The main program's name is empty.
  std::string path = map->l_name[0] ? map->l_name : "/proc/self/exe";
  auto file = ElfFile::open(path);
  if (!file) return std::unexpected(file.error());
  auto offset = file->file_offset_of(reinterpret_cast<uint64_t>(address) - map->l_addr);
  if (!offset) return std::unexpected(offset.error());
  return UprobeTarget{std::move(path), *offset};
}

double thread_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

/// The quickest batch, per call, in CPU time: what else the machine does at this moment can only
/// make it look dearer.
double seconds_per_call(const std::function<void()>& call) {
  std::array<double, batches> seconds{};
  for (double& batch : seconds) {
    const double start = thread_cpu_seconds();
    for (uint64_t i = 0; i < calls_per_batch; ++i) call();
    batch = thread_cpu_seconds() - start;
  }
  return std::ranges::min(seconds) / calls_per_batch;
}

/// Turns counted for a thread, whose loop is then forgotten.
uint64_t take_turns(LoopTable& table, pid_t tid) {
  uint64_t turns = 0;
  for (auto entry : table.entries()) {
    if (entry.tid != tid) continue;
    loop_slot slot{};
    table.read(entry.index, slot);
    turns = slot.turns;
    table.remove(entry);
  }
  return turns;
}

Result<std::vector<Link>> attach_uprobe_at(bpf_program* program, void* function) {
  auto target = target_of(function);
  if (!target) return std::unexpected(target.error());
  auto link = attach_uprobe(program, *target, getpid());
  if (!link) return std::unexpected(link.error());
  std::vector<Link> links;
  links.push_back(std::move(*link));
  return links;
}

/// The first hit only makes the loop known.
Result<void> check_turns(uint64_t calls, uint64_t turns, std::string_view where) {
  if (turns == calls - 1) return {};
  return fail("of {} turns{} it counted {}", calls - 1, where, turns);
}

/// A probe in one process must see all its threads: Workers turn on threads of their own.
Result<void> check_second_thread(LoopTable& table, const PollCall& call) {
  pid_t tid = 0;
  std::thread worker([&] {
    tid = gettid();
    FakeLoop loop;
    for (uint64_t i = 0; i < calls_per_batch; ++i) call(loop);
  });
  worker.join();
  return check_turns(calls_per_batch, take_turns(table, tid), " of a second thread");
}

/// While the door is attached: the seconds that a call takes, if all turns are counted.
Result<double> measure_probed(LoopTable& table, const PollCall& call) {
  FakeLoop loop;
  const double seconds = seconds_per_call([&] { call(loop); });
  const uint64_t turns = take_turns(table, gettid());
  if (auto all = check_turns(calls_per_batch * batches, turns, ""); !all)
    return std::unexpected(all.error());
  if (auto all = check_second_thread(table, call); !all) return std::unexpected(all.error());
  return seconds;
}

Result<double> measure(BpfPrograms& programs, LoopTable& table, const observed_process& self,
                       const Attach& attach, const PollCall& call) {
  FakeLoop loop;
  const double bare_seconds = seconds_per_call([&] { call(loop); });
  if (auto observing = programs.observe(getpid(), self); !observing)
    return std::unexpected(observing.error());
  auto links = attach();
  auto probed_seconds =
      links ? measure_probed(table, call) : Result<double>(std::unexpected(links.error()));
  programs.forget(getpid());
  if (!probed_seconds) return probed_seconds;
  return std::max(0.0, *probed_seconds - bare_seconds);
}

/// libc's own. ThreadSanitizer has one in front of it, and the loop pointer would be in no register
/// any more when that makes the system call.
void* libc_epoll_wait() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return dlsym(libc != nullptr ? libc : RTLD_DEFAULT, "epoll_wait");
}

}  // namespace

std::vector<DoorTrial> try_front_doors(BpfPrograms& programs, LoopTable& table) {
  // A poll that may wait: it costs most.
  auto io_poll_call = [](FakeLoop& loop) { uvtap_calibration_io_poll(loop.address(), -1); };
  void* const epoll_wait = libc_epoll_wait();
  auto epoll_call = [epoll_wait](FakeLoop& loop) {
    epoll_event event{};
    uvtap_calibration_epoll(loop.address(), loop.epoll_fd(), &event, epoll_wait);
  };
  auto attach_io_poll = [&] {
    return attach_uprobe_at(programs.io_poll(),
                            reinterpret_cast<void*>(&uvtap_calibration_io_poll));
  };
  auto attach_epoll = [&] { return attach_uprobe_at(programs.epoll_wait(), epoll_wait); };
  auto attach_tracepoint = [&] { return attach_epoll_tracepoints(programs); };
  auto trial = [&](front_door door, const auto& attach, const auto& call) {
    const observed_process self{door, FakeLoop::layout().entry_time, 0, 0};
    return DoorTrial{door, measure(programs, table, self, attach, call)};
  };
  return {trial(FRONT_DOOR_IO_POLL, attach_io_poll, io_poll_call),
          trial(FRONT_DOOR_TRACEPOINT, attach_tracepoint, epoll_call),
          trial(FRONT_DOOR_EPOLL, attach_epoll, epoll_call)};
}

DoorCosts door_costs(const std::vector<DoorTrial>& trials) {
  DoorCosts costs{};
  for (const auto& trial : trials) costs[trial.door] = trial.seconds_per_hit.value_or(0);
  return costs;
}

std::vector<front_door> usable_doors(const std::vector<DoorTrial>& trials) {
  std::vector<const DoorTrial*> working;
  for (const auto& trial : trials)
    if (trial.seconds_per_hit) working.push_back(&trial);
  // uv__io_poll is hit once per turn and by nobody else, so it stays in front whatever it costs.
  std::ranges::sort(working, {}, [](const DoorTrial* trial) {
    return trial->door == FRONT_DOOR_IO_POLL ? 0.0 : *trial->seconds_per_hit;
  });
  std::vector<front_door> doors;
  doors.reserve(working.size() + 1);
  for (const auto* trial : working) doors.push_back(trial->door);
  doors.push_back(FRONT_DOOR_MEMORY);
  return doors;
}

}  // namespace uvtap
