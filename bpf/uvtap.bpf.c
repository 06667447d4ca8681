// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The front doors: each finds the loop of the thread that hit it and hands over to on_turn().
// Everything that can be computed without the kernel is in loop_turn.h.

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/loop_contract.h"
#include "bpf/loop_turn.h"
#include "bpf/maps.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by the daemon between open and load. */
const volatile __u64 delay_resolution_ms = 20;
const volatile __u32 slots_per_owner = 128;

/* uv_loop_t in libuv 1.39 to 1.52, see userspace/symbols/libuv_layout.cpp. */
#define LOOP_INTERNAL_FIELDS 40
#define LOOP_BACKEND_FD 64
/* A bit of uv__loop_internal_fields_t.flags, at offset 0. */
#define METRICS_IDLE_TIME 1

static __always_inline __s64 read_user(void *into, __u32 size, __u64 address) {
  return bpf_probe_read_user(into, size, (const void *)address);
}

/* ---- a loop comes under observation ---- */

static __always_inline void fill_look(struct turn_look *look, __u64 idle_counter_ns, int timeout) {
  struct task_struct *task = bpf_get_current_task_btf();
  look->idle_counter_ns = idle_counter_ns;
  look->thread_cpu_ns = task->se.sum_exec_runtime;
  look->thread_runqueue_ns = task->sched_info.run_delay;
  look->poll_timeout_ms = timeout;
}

static __always_inline struct loop_slot *slot_of(__u32 tid) {
  __u32 *index = bpf_map_lookup_elem(&slot_of_thread, &tid);
  return index ? bpf_map_lookup_elem(&slots, index) : 0;
}

/* The loop runs JavaScript: Node switches idle metrics on for just these. */
static __always_inline bool runs_javascript(__u64 internal_fields) {
  __u32 flags = 0;
  return read_user(&flags, sizeof(flags), internal_fields) == 0 && (flags & METRICS_IDLE_TIME) &&
         flags < 256;
}

/* Counting (again) from this look: a thread's first loop, or its next one. */
static __always_inline void bind_loop(struct loop_slot *slot, __u64 loop, __u64 internal_fields,
                                      const struct observed_process *process) {
  slot->loop_address = loop;
  slot->internal_fields_address = internal_fields;
  slot->entry_time_offset = process->entry_time_offset;
  slot->rereads_clock = process->rereads_clock;
  slot->front_door = process->front_door;
  slot->backend_fd = -1;
  read_user(&slot->backend_fd, sizeof(slot->backend_fd), loop + LOOP_BACKEND_FD);
}

/* The count goes up first: the loops of an owner may begin on all CPUs at once. */
static __always_inline bool take_share(__u32 owner) {
  if (!owner) return true;
  __u32 *taken = bpf_map_lookup_elem(&taken_slots, &owner);
  __u32 *returned = bpf_map_lookup_elem(&returned_slots, &owner);
  if (!taken || !returned) return false;
  if (__sync_fetch_and_add(taken, 1) - *returned < slots_per_owner) return true;
  __sync_fetch_and_sub(taken, 1);
  return false;
}

static __always_inline void return_share(__u32 owner) {
  __u32 *taken = bpf_map_lookup_elem(&taken_slots, &owner);
  if (taken) __sync_fetch_and_sub(taken, 1);
}

static __always_inline struct loop_slot *take_free_slot(__u64 pid_tgid, __u64 now_ns, __u32 owner,
                                                        __u32 *index) {
  if (!take_share(owner)) {
    lose(LOST_SHARE_FULL);
    return 0;
  }
  if (bpf_map_pop_elem(&free_slots, index)) {
    return_share(owner);
    lose(LOST_LOOPS_FULL);
    return 0;
  }
  struct loop_slot *slot = bpf_map_lookup_elem(&slots, index);
  if (!slot) {
    lose(LOST_SLOT_MISSING);
    return 0;
  }
  slot->tid = (__u32)pid_tgid;
  slot->tgid = pid_tgid >> 32;
  slot->owner = owner;
  slot->observed_since_ns = now_ns;
  return slot;
}

/* From here on the daemon sees the slot, so it is complete by now. The daemon may have been quicker
 * with a slot of its own: then that one stays. */
static __always_inline int publish(struct loop_slot *slot, __u32 index) {
  __u32 tid = slot->tid, owner = slot->owner;
  if (bpf_map_update_elem(&slot_of_thread, &tid, &index, BPF_NOEXIST) == 0) return 0;
  __builtin_memset(slot, 0, __builtin_offsetof(struct loop_slot, turn_histogram));
  bpf_map_push_elem(&free_slots, &index, 0);
  return_share(owner);
  return slot_of(tid) ? 0 : lose(LOST_THREADS_FULL);
}

/* ---- one look ---- */

struct hit {
  __u64 loop;
  __u64 now_ns;
  __s32 timeout_ms;
  enum front_door door; /* FRONT_DOOR_NONE: the birth of a loop, whichever door it will use */
};

static __always_inline bool read_idle_counter(__u64 internal_fields, __u32 entry_time_offset,
                                              __u64 *idle_ns) {
  return read_user(idle_ns, sizeof(*idle_ns), internal_fields + entry_time_offset + 8) == 0;
}

/* A loop keeps its internal fields from uv_loop_init to uv_loop_close, and neither can happen while
 * it runs. So where uv_run is probed, it is enough to ask there. */
static __always_inline bool is_another_loop(const struct loop_slot *slot, __u64 loop) {
  __u64 internal_fields = 0;
  return read_user(&internal_fields, sizeof(internal_fields), loop + LOOP_INTERNAL_FIELDS) ||
         internal_fields != slot->internal_fields_address;
}

/* The counter at the end of a turn. libuv leaves it as it was where the poll was not to wait, and
 * reading an application's memory is a fifth of what a hit costs. */
static __always_inline bool read_idle_of_turn(const struct loop_slot *slot, enum front_door door,
                                              __u64 *idle_ns) {
  if (door == FRONT_DOOR_IO_POLL && slot->poll_timeout_ms == 0) {
    *idle_ns = slot->idle_counter_ns;
    return true;
  }
  return read_idle_counter(slot->internal_fields_address, slot->entry_time_offset, idle_ns);
}

static __always_inline void begin_in_slot(struct loop_slot *slot, const struct turn_look *look) {
  slot->sequence++;
  barrier();
  slot->hits++;
  loop_begins(slot, look, delay_resolution_ms);
  barrier();
  slot->sequence++;
}

/* A thread whose loop is not known yet, or is another one than before. */
static __noinline int on_unknown_loop(struct hit *hit) {
  if (!hit) return 0;
  __u64 pid_tgid = bpf_get_current_pid_tgid(), internal_fields = 0, idle_ns = 0;
  __u32 tgid = pid_tgid >> 32;
  struct observed_process *process = bpf_map_lookup_elem(&processes, &tgid);
  if (!process) return ignore(hit->door, IGNORED_UNOBSERVED_PROCESS);
  if (hit->door != FRONT_DOOR_NONE && hit->door != process->front_door)
    return ignore(hit->door, IGNORED_OTHER_DOOR);
  if (read_user(&internal_fields, sizeof(internal_fields), hit->loop + LOOP_INTERNAL_FIELDS))
    return lose(LOST_LOOP_UNREADABLE);
  if (!runs_javascript(internal_fields)) return ignore(hit->door, IGNORED_NO_JS_LOOP);
  if (!read_idle_counter(internal_fields, process->entry_time_offset, &idle_ns))
    return lose(LOST_COUNTERS_UNREADABLE);

  __u32 fresh_index = 0;
  struct loop_slot *known = slot_of((__u32)pid_tgid);
  struct loop_slot *slot =
      known ? known : take_free_slot(pid_tgid, hit->now_ns, process->owner, &fresh_index);
  if (!slot) return 0;
  struct turn_look look = {.now_ns = hit->now_ns};
  fill_look(&look, idle_ns, hit->timeout_ms);
  bind_loop(slot, hit->loop, internal_fields, process);
  begin_in_slot(slot, &look);
  return known ? 0 : publish(slot, fresh_index);
}

static __always_inline int on_turn(struct hit *hit) {
  __u64 idle_ns = 0;
  struct loop_slot *slot = slot_of((__u32)bpf_get_current_pid_tgid());
  if (!slot || slot->loop_address != hit->loop) return on_unknown_loop(hit);
  if (slot->ended_ns) return lose(LOST_THREAD_REUSED);
  if (slot->front_door != hit->door) return ignore(hit->door, IGNORED_OTHER_DOOR);
  if (hit->door != FRONT_DOOR_IO_POLL && is_another_loop(slot, hit->loop))
    return on_unknown_loop(hit);
  if (!read_idle_of_turn(slot, hit->door, &idle_ns)) return lose(LOST_COUNTERS_UNREADABLE);

  struct turn_look look = {.now_ns = hit->now_ns};
  fill_look(&look, idle_ns, hit->timeout_ms);
  slot->sequence++;
  barrier();
  slot->hits++;
  int result = loop_turns(slot, &look, delay_resolution_ms);
  barrier();
  slot->sequence++;
  return result ? lose(LOST_CLOCK_BACKWARDS) : 0;
}

/* ---- the front doors ---- */

/* uv__io_poll(uv_loop_t* loop, int timeout): once per turn. */
SEC("uprobe")
int on_io_poll(struct pt_regs *ctx) {
  struct hit hit = {.loop = ctx->di,
                    .now_ns = bpf_ktime_get_ns(),
                    .timeout_ms = (__s32)ctx->si,
                    .door = FRONT_DOOR_IO_POLL};
  return on_turn(&hit);
}

/* uv_run(uv_loop_t* loop, uv_run_mode mode): the birth of a loop. A loop that is known already is
 * entered again and again by some embedders; its turns tell enough. */
SEC("uprobe")
int on_uv_run(struct pt_regs *ctx) {
  struct hit hit = {.loop = ctx->di, .now_ns = bpf_ktime_get_ns()};
  struct loop_slot *slot = slot_of((__u32)bpf_get_current_pid_tgid());
  if (slot && slot->loop_address == hit.loop && !is_another_loop(slot, hit.loop)) return 0;
  return on_unknown_loop(&hit);
}

/* libuv keeps its loop pointer in a callee-saved register while it calls epoll_wait. It is the one
 * that leads to the epoll descriptor of this call. */
static __always_inline bool leads_to_fd(__u64 candidate, __s32 epoll_fd) {
  __s32 fd = -1;
  if (candidate < 0x10000 || candidate & 7) return false;
  return read_user(&fd, sizeof(fd), candidate + LOOP_BACKEND_FD) == 0 && fd == epoll_fd;
}

struct callee_saved {
  __u64 r12, r13, r14, r15, bx, bp;
};

/* A copy: the verifier wants the context read at fixed offsets. */
#define CALLEE_SAVED(regs) \
  {(regs)->r12, (regs)->r13, (regs)->r14, (regs)->r15, (regs)->bx, (regs)->bp}

static __always_inline __u64 loop_in_registers(const struct callee_saved *saved, __s32 epoll_fd) {
  if (leads_to_fd(saved->r13, epoll_fd)) return saved->r13;
  if (leads_to_fd(saved->r14, epoll_fd)) return saved->r14;
  if (leads_to_fd(saved->r15, epoll_fd)) return saved->r15;
  if (leads_to_fd(saved->r12, epoll_fd)) return saved->r12;
  if (leads_to_fd(saved->bx, epoll_fd)) return saved->bx;
  if (leads_to_fd(saved->bp, epoll_fd)) return saved->bp;
  return 0;
}

/* With idle metrics on, libuv first polls with timeout 0: that call begins the turn. A second call
 * with the real timeout follows only if nothing was ready. */
static __always_inline int on_epoll(struct hit *hit, const struct callee_saved *saved,
                                    __s32 epoll_fd) {
  struct loop_slot *slot = slot_of((__u32)bpf_get_current_pid_tgid());
  if (slot && slot->backend_fd == epoll_fd) {
    hit->loop = slot->loop_address;
  } else {
    __u32 tgid = bpf_get_current_pid_tgid() >> 32;
    if (!slot && !bpf_map_lookup_elem(&processes, &tgid))
      return ignore(hit->door, IGNORED_UNOBSERVED_PROCESS);
    hit->loop = loop_in_registers(saved, epoll_fd);
    if (!hit->loop) return ignore(hit->door, IGNORED_NO_JS_LOOP);
  }
  if (hit->timeout_ms == 0) return on_turn(hit);
  if (!slot || slot->loop_address != hit->loop || slot->front_door != hit->door) return 0;
  slot->hits++;
  slot->poll_timeout_ms = hit->timeout_ms;
  return 0;
}

/* epoll_wait(fd, events, maxevents, timeout) and epoll_pwait(the same, sigmask). */
SEC("uprobe")
int on_epoll_wait(struct pt_regs *ctx) {
  struct hit hit = {
      .now_ns = bpf_ktime_get_ns(), .timeout_ms = (__s32)ctx->cx, .door = FRONT_DOOR_EPOLL};
  struct callee_saved saved = CALLEE_SAVED(ctx);
  return on_epoll(&hit, &saved, (__s32)ctx->di);
}

SEC("tracepoint")
int on_sys_enter_epoll(struct syscall_enter_record *ctx) {
  struct hit hit = {.now_ns = bpf_ktime_get_ns(),
                    .timeout_ms = (__s32)ctx->arguments[3],
                    .door = FRONT_DOOR_TRACEPOINT};
  struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
  struct callee_saved saved = CALLEE_SAVED(regs);
  return on_epoll(&hit, &saved, (__s32)ctx->arguments[0]);
}

/* ---- signals, lives and deaths ---- */

static __always_inline bool is_stop_signal(int signal) {
  return signal >= 19 && signal <= 22; /* SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal_deliver, int signal) {
  __u64 entry_time_ns = 0;
  struct loop_slot *slot = slot_of((__u32)bpf_get_current_pid_tgid());
  if (!slot || slot->ended_ns || !slot->internal_fields_address) return 0;
  if (read_user(&entry_time_ns, sizeof(entry_time_ns),
                slot->internal_fields_address + slot->entry_time_offset))
    return lose(LOST_COUNTERS_UNREADABLE);
  if (!entry_time_ns) return 0;
  slot->sequence++;
  barrier();
  loop_is_interrupted(slot, bpf_ktime_get_ns(), entry_time_ns, is_stop_signal(signal));
  barrier();
  slot->sequence++;
  return 0;
}

static __always_inline int tell(enum lifecycle_kind kind, __u32 tgid) {
  struct lifecycle_event *event = bpf_ringbuf_reserve(&lifecycle_events, sizeof(*event), 0);
  if (!event) return lose(LOST_EVENTS_FULL);
  event->kind = kind;
  event->tgid = tgid;
  bpf_ringbuf_submit(event, 0);
  return 0;
}

/* The loop that the thread has run is gone with the memory it was in; the next one is a new one. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task) {
  struct loop_slot *slot = slot_of(task->pid);
  if (slot) {
    slot->loop_address = slot->internal_fields_address = 0;
    slot->backend_fd = -1;
  }
  return tell(LIFECYCLE_EXEC, task->tgid);
}

/* A child of an observed process may go on with its image; most exec at once. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
  __u32 tgid = parent->tgid;
  if (child->pid != child->tgid || !bpf_map_lookup_elem(&processes, &tgid)) return 0;
  return tell(LIFECYCLE_FORK, child->tgid);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
  __u32 tgid = task->tgid;
  struct loop_slot *slot = slot_of(task->pid);
  if (slot) slot->ended_ns = bpf_ktime_get_ns();
  if (task->signal->live.counter != 0 || !bpf_map_lookup_elem(&processes, &tgid)) return 0;
  return tell(LIFECYCLE_EXIT, tgid);
}

/* ---- which files a process maps executable, by their inodes below any overlay ---- */

#define VM_EXEC 0x4
#define PAGE_SHIFT 12

SEC("iter/task_vma")
int list_mapped_files(struct bpf_iter__task_vma *ctx) {
  struct task_struct *task = ctx->task;
  struct vm_area_struct *vma = ctx->vma;
  if (!task || !vma || task->pid != task->tgid) return 0;
  __u32 reader = (__u32)bpf_get_current_pid_tgid();
  struct mapping_query *query = bpf_map_lookup_elem(&mapping_queries, &reader);
  if (!query || (__u32)task->tgid != query->tgid) return 0;
  struct file *file = vma->vm_file;
  if (!file) return 0;
  if (query->start ? vma->vm_start != query->start : !(vma->vm_flags & VM_EXEC)) return 0;
  struct mapped_file record = {.inode = file->f_inode->i_ino,
                               .device = file->f_inode->i_sb->s_dev,
                               .tgid = task->tgid,
                               .start = vma->vm_start,
                               .end = vma->vm_end,
                               .file_offset = vma->vm_pgoff << PAGE_SHIFT,
                               .filesystem = file->f_inode->i_sb->s_magic};
  bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
  return 0;
}
