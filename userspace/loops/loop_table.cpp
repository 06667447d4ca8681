// SPDX-License-Identifier: Apache-2.0
#include "userspace/loops/loop_table.h"

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace uvtap {
namespace {

constexpr size_t header_bytes = offsetof(loop_slot, turn_histogram);
/// A copy of the header takes some ten nanoseconds, a turn at least half a microsecond.
constexpr int consistent_read_attempts = 100;

uint32_t load_sequence(const loop_slot& slot) {
  return std::atomic_ref(const_cast<uint32_t&>(slot.sequence)).load(std::memory_order_acquire);
}

}  // namespace

LoopTable::LoopTable(const BpfPrograms& programs, loop_slot* slots, size_t mapped_bytes)
    : programs_(&programs), slots_(slots), mapped_bytes_(mapped_bytes), shares_(programs) {}

LoopTable::LoopTable(LoopTable&& other) noexcept
    : programs_(other.programs_),
      slots_(std::exchange(other.slots_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      shares_(std::move(other.shares_)) {}

LoopTable::~LoopTable() {
  if (slots_) munmap(slots_, mapped_bytes_);
}

Result<LoopTable> LoopTable::map(const BpfPrograms& programs) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (sizeof(loop_slot) * programs.max_loops() + page - 1) / page * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, programs.slots_fd(), 0);
  if (memory == MAP_FAILED) return fail_errno(errno, "cannot map the loops' slots");
  LoopTable table(programs, static_cast<loop_slot*>(memory), bytes);
  for (uint32_t index = 0; index < programs.max_loops(); ++index)
    if (bpf_map_update_elem(programs.free_slots_fd(), nullptr, &index, BPF_ANY) != 0)
      return fail_errno(errno, "cannot declare slot {} free", index);
  return table;
}

std::vector<LoopTable::Entry> LoopTable::entries() const {
  std::vector<Entry> found;
  const int fd = programs_->slot_of_thread_fd();
  uint32_t tid = 0;
  uint32_t* previous = nullptr;
  // Bounded: a key that BPF inserts meanwhile can be missed or met, never met for ever.
  while (found.size() < programs_->max_loops() && bpf_map_get_next_key(fd, previous, &tid) == 0) {
    previous = &tid;
    uint32_t index = 0;
    if (bpf_map_lookup_elem(fd, &tid, &index) == 0 && index < programs_->max_loops())
      found.push_back({static_cast<pid_t>(tid), index});
  }
  return found;
}

void LoopTable::read(uint32_t index, loop_slot& into) const {
  const loop_slot& slot = slots_[index];
  for (int attempt = 0; attempt < consistent_read_attempts; ++attempt) {
    const uint32_t before = load_sequence(slot);
    std::memcpy(&into, &slot, header_bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && load_sequence(slot) == before) break;
  }
  std::memcpy(into.turn_histogram, slot.turn_histogram,
              sizeof(into.turn_histogram) + sizeof(into.delay_histogram));
}

LoopTable::Mark LoopTable::mark(Entry entry) const {
  // The address is read after the sequence: if it is another loop's by then, so is the sequence.
  const loop_slot& slot = slots_[entry.index];
  const uint32_t sequence = load_sequence(slot);
  return {sequence, slot.tgid, slot.tid, slot.loop_address, slot.ended_ns != 0};
}

Result<uint32_t> LoopTable::take_free_slot() {
  uint32_t index = 0;
  if (bpf_map_lookup_and_delete_elem(programs_->free_slots_fd(), nullptr, &index) != 0 ||
      index >= programs_->max_loops())
    return fail("all {} loop slots are taken; raise --max-loops", programs_->max_loops());
  return index;
}

void LoopTable::free_slot(uint32_t index) {
  shares_.give_back(slots_[index].owner);
  std::memset(static_cast<void*>(&slots_[index]), 0, sizeof(loop_slot));
  bpf_map_update_elem(programs_->free_slots_fd(), nullptr, &index, BPF_ANY);
}

Result<void> LoopTable::add(const loop_slot& seed) {
  if (auto taken = shares_.take(seed.owner); !taken) return taken;
  auto index = take_free_slot();
  if (!index) {
    shares_.give_back(seed.owner);
    return std::unexpected(index.error());
  }
  std::memcpy(static_cast<void*>(&slots_[*index]), &seed, sizeof(seed));
  if (bpf_map_update_elem(programs_->slot_of_thread_fd(), &seed.tid, &*index, BPF_NOEXIST) == 0)
    return {};
  const int reason = errno;
  free_slot(*index);
  if (reason == EEXIST) return {};
  return fail_errno(reason, "the table of loops refuses thread {}", seed.tid);
}

void LoopTable::remove(Entry entry) {
  const auto tid = static_cast<uint32_t>(entry.tid);
  bpf_map_delete_elem(programs_->slot_of_thread_fd(), &tid);
  free_slot(entry.index);
}

std::vector<LoopTable::Entry> LoopTable::entries_of(pid_t pid) const {
  auto found = entries();
  std::erase_if(found, [&](const Entry& entry) {
    return slots_[entry.index].tgid != static_cast<uint32_t>(pid);
  });
  return found;
}

void LoopTable::remove_process(pid_t pid) {
  for (auto entry : entries_of(pid)) remove(entry);
}

void LoopTable::set_door(pid_t pid, front_door door) {
  for (auto entry : entries_of(pid))
    std::atomic_ref(slots_[entry.index].front_door).store(door, std::memory_order_release);
}

std::vector<loop_slot> LoopTable::take_process(pid_t pid) {
  std::vector<loop_slot> taken;
  for (auto entry : entries_of(pid)) {
    read(entry.index, taken.emplace_back());
    remove(entry);
  }
  return taken;
}

}  // namespace uvtap
