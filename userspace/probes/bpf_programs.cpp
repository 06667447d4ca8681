// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <span>

#include "userspace/probes/read_user.h"
#include "userspace/probes/refusals.h"
#include "userspace/probes/uprobe_multi.h"
#include "uvtap.skel.h"

namespace uvtap {
namespace {

/// libbpf's own words at our debug level: our errors say the same in one line. The verifier gives
/// its reason at the end of a long log, so of a long text the end is shown.
int log_libbpf(enum libbpf_print_level level, const char* format, va_list arguments) {
  constexpr size_t longest = size_t{1} << 20;
  constexpr size_t shown = 4096;
  if (level == LIBBPF_DEBUG || !spdlog::should_log(spdlog::level::debug)) return 0;
  std::string text(longest, '\0');
  const int length = vsnprintf(text.data(), text.size(), format, arguments);
  text.resize(std::min(longest - 1, static_cast<size_t>(std::max(length, 0))));
  if (text.size() > shown) text.erase(0, text.size() - shown);
  spdlog::debug("{}", text);
  return 0;
}

template <size_t Size>
std::array<uint64_t, Size> sum_over_cpus(const bpf_map* map) {
  std::array<uint64_t, Size> totals{};
  std::vector<uint64_t> per_cpu(static_cast<size_t>(libbpf_num_possible_cpus()));
  for (uint32_t key = 0; key < Size; ++key) {
    if (bpf_map_lookup_elem(bpf_map__fd(map), &key, per_cpu.data()) != 0) continue;
    for (uint64_t count : per_cpu) totals[key] += count;
  }
  return totals;
}

}  // namespace

std::string_view to_string(UprobeWay way) {
  return way == UprobeWay::uprobe_multi ? "uprobe_multi links" : "perf events";
}

void BpfPrograms::SkeletonDeleter::operator()(uvtap_bpf* skeleton) const {
  uvtap_bpf__destroy(skeleton);
}

BpfPrograms::BpfPrograms(Skeleton skeleton, const BpfSettings& settings,
                         std::shared_ptr<const MappedFiles> mapped_files)
    : skeleton_(std::move(skeleton)), settings_(settings), mapped_files_(std::move(mapped_files)) {}
BpfPrograms::BpfPrograms(BpfPrograms&&) noexcept = default;
BpfPrograms::~BpfPrograms() = default;

Result<BpfPrograms> BpfPrograms::load(const BpfSettings& wanted) {
  BpfSettings settings = wanted;
  if (!settings.uprobe_way)
    settings.uprobe_way = has_uprobe_multi() ? UprobeWay::uprobe_multi : UprobeWay::perf_event;
  libbpf_set_print(log_libbpf);
  if (auto kept = keep_bpf_probe_read_user(); !kept) return std::unexpected(kept.error());
  Skeleton skeleton(uvtap_bpf__open());
  if (!skeleton) return fail("{}", why_programs_are_refused(errno));
  skeleton->rodata->delay_resolution_ms = settings.delay_resolution_ms;
  skeleton->rodata->slots_per_owner = settings.max_loops_per_owner;
  bpf_map__set_max_entries(skeleton->maps.slots, settings.max_loops);
  bpf_map__set_max_entries(skeleton->maps.slot_of_thread, settings.max_loops);
  bpf_map__set_max_entries(skeleton->maps.free_slots, settings.max_loops);
  // Every owner has a loop, as a rule: with more owners than loops it is the slots that are short.
  bpf_map__set_max_entries(skeleton->maps.taken_slots, 2 * settings.max_loops);
  bpf_map__set_max_entries(skeleton->maps.returned_slots, 2 * settings.max_loops);
  if (settings.uprobe_way == UprobeWay::uprobe_multi)
    for (bpf_program* program :
         {skeleton->progs.on_io_poll, skeleton->progs.on_uv_run, skeleton->progs.on_epoll_wait})
      bpf_program__set_expected_attach_type(program,
                                            static_cast<bpf_attach_type>(uprobe_multi_attach_type));
  int error = find_tracepoints(*skeleton);
  if (!error) error = uvtap_bpf__load(skeleton.get());
  if (error) return fail("{}", why_programs_are_refused(-error));
  auto mapped_files = MappedFiles::create(bpf_program__fd(skeleton->progs.list_mapped_files),
                                          bpf_map__fd(skeleton->maps.mapping_queries));
  if (!mapped_files) return std::unexpected(mapped_files.error());
  return BpfPrograms(std::move(skeleton), settings, std::move(*mapped_files));
}

Result<void> BpfPrograms::start_lifecycle() {
  for (bpf_program* program : {skeleton_->progs.on_exec, skeleton_->progs.on_fork,
                               skeleton_->progs.on_exit, skeleton_->progs.on_signal_deliver}) {
    Link link(bpf_program__attach_trace(program));
    if (!link)
      return fail(
          "cannot attach {} to its tracepoint, without which no start or end of a process "
          "is seen: {}",
          bpf_program__name(program), why_kernel_tracepoint_is_refused(errno));
    lifecycle_links_.push_back(std::move(link));
  }
  return {};
}

bpf_program* BpfPrograms::io_poll() const { return skeleton_->progs.on_io_poll; }
bpf_program* BpfPrograms::uv_run() const { return skeleton_->progs.on_uv_run; }
bpf_program* BpfPrograms::epoll_wait() const { return skeleton_->progs.on_epoll_wait; }
bpf_program* BpfPrograms::sys_enter_epoll() const { return skeleton_->progs.on_sys_enter_epoll; }

Result<void> BpfPrograms::observe(pid_t pid, const observed_process& process) {
  if (bpf_map__update_elem(skeleton_->maps.processes, &pid, sizeof(pid), &process, sizeof(process),
                           BPF_ANY) != 0)
    return fail_errno(errno, "the table of observed processes refuses pid {}", pid);
  return {};
}

void BpfPrograms::forget(pid_t pid) {
  bpf_map__delete_elem(skeleton_->maps.processes, &pid, sizeof(pid), 0);
}

int BpfPrograms::slots_fd() const { return bpf_map__fd(skeleton_->maps.slots); }
int BpfPrograms::slot_of_thread_fd() const { return bpf_map__fd(skeleton_->maps.slot_of_thread); }
int BpfPrograms::free_slots_fd() const { return bpf_map__fd(skeleton_->maps.free_slots); }
int BpfPrograms::taken_slots_fd() const { return bpf_map__fd(skeleton_->maps.taken_slots); }
int BpfPrograms::returned_slots_fd() const { return bpf_map__fd(skeleton_->maps.returned_slots); }
int BpfPrograms::lifecycle_events_fd() const {
  return bpf_map__fd(skeleton_->maps.lifecycle_events);
}

BpfPrograms::LostCounts BpfPrograms::lost() const {
  return sum_over_cpus<LOST_REASON_COUNT>(skeleton_->maps.lost);
}

BpfPrograms::IgnoredCounts BpfPrograms::ignored() const {
  return sum_over_cpus<IGNORED_COUNTERS>(skeleton_->maps.ignored);
}

}  // namespace uvtap
