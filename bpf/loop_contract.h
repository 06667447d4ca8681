/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
 *
 * What the BPF programs and the C++ daemon share: plain C, fixed widths, explicit padding. The one
 * declaration of each structure; both sides include this file.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC unless a name says otherwise.
 */
#ifndef UVTAP_LOOP_CONTRACT_H
#define UVTAP_LOOP_CONTRACT_H

#include <linux/types.h>

/* One way to observe the turns of a loop. */
enum front_door {
  FRONT_DOOR_NONE = 0,
  FRONT_DOOR_IO_POLL = 1,    /* uprobe on libuv's uv__io_poll */
  FRONT_DOOR_EPOLL = 2,      /* uprobe on libc's epoll_wait and epoll_pwait */
  FRONT_DOOR_TRACEPOINT = 3, /* tracepoints sys_enter_epoll_wait and sys_enter_epoll_pwait */
  FRONT_DOOR_MEMORY = 4,     /* no probe: the daemon reads libuv's counters */
  FRONT_DOOR_COUNT = 5,
};

/* Why a hit did not become a turn. Each early return in BPF counts one of these. */
enum lost_reason {
  LOST_LOOP_UNREADABLE = 0, /* loop->internal_fields could not be read */
  LOST_COUNTERS_UNREADABLE, /* the idle counters could not be read */
  LOST_LOOPS_FULL,          /* every slot is taken: raise --max-loops */
  LOST_SHARE_FULL,      /* its container has its share of the slots: --max-loops-per-container */
  LOST_THREADS_FULL,    /* the thread table refused an entry */
  LOST_SLOT_MISSING,    /* a slot number outside the table */
  LOST_THREAD_REUSED,   /* a thread number came back before its last loop was collected */
  LOST_CLOCK_BACKWARDS, /* a counter went back: counted anew from here */
  LOST_EVENTS_FULL,     /* the lifecycle ring buffer was full; the /proc scan catches up */
  LOST_REASON_COUNT,
};

/* Hits that are no turn of a loop that runs JavaScript, and no loss either. */
enum ignored_reason {
  IGNORED_UNOBSERVED_PROCESS = 0, /* shares a probed file, but is not observed (yet) */
  IGNORED_OTHER_DOOR,             /* the process is observed through another front door */
  IGNORED_NO_JS_LOOP,             /* a loop without UV_METRICS_IDLE_TIME, or no loop at all */
  IGNORED_REASON_COUNT,
};
/* One counter per front door and reason. */
#define IGNORED_COUNTERS 15
#define IGNORED_COUNTER(door, reason) ((int)(door) * (int)IGNORED_REASON_COUNT + (int)(reason))

/* What the daemon tells BPF of a process it observes. Key: tgid. */
struct observed_process {
  __u32 front_door;
  __u32 entry_time_offset; /* of provider_entry_time in uv__loop_internal_fields_t;
                              provider_idle_time follows it */
  __u32 rereads_clock;     /* libuv < 1.48: the clock is read again between timers */
  __u32 owner;             /* whose share of the slots its loops take; 0: nobody's */
};

struct histogram_bucket {
  __u64 count;
  __u64 sum_ns;
};

/* Log-linear histograms: every power of two from 2^MIN_SHIFT to 2^MAX_SHIFT ns is cut into
 * 2^SUB_BITS equal buckets; one bucket below and one above take the rest. Sixteen cuts put a value
 * within 3.1 % of its bucket's middle, thirty-two within 1.6 %; the sum makes the mean exact.
 * Busy stretches: 32.8 us to 68.7 s in 21 * 16 + 2 = 338 buckets.
 * Delay: 1.05 ms to 68.7 s in 16 * 32 + 2 = 514 buckets. */
#define HISTOGRAM_MAX_SHIFT 36
#define TURN_MIN_SHIFT 15
#define TURN_SUB_BITS 4
#define TURN_BUCKETS (((HISTOGRAM_MAX_SHIFT - TURN_MIN_SHIFT) << TURN_SUB_BITS) + 2)
#define DELAY_MIN_SHIFT 20
#define DELAY_SUB_BITS 5
#define DELAY_BUCKETS (((HISTOGRAM_MAX_SHIFT - DELAY_MIN_SHIFT) << DELAY_SUB_BITS) + 2)

/* Node's delay monitor, simulated: see loop_turn.h. */
struct virtual_timer {
  __u64 expiry_ms;          /* when it is due, in the loop's own milliseconds */
  __u64 previous_firing_ns; /* 0 before the first */
  __u64 loop_time_ms;       /* what loop->time holds when the poll is entered */
  __u64 slack_ns;           /* running median: how late a timed-out poll returns */
};

/* One event loop that runs JavaScript. Written by the loop's own thread only (from BPF), read by
 * the daemon through mmap; sequence is odd while it is being written. */
struct loop_slot {
  __u32 sequence;
  __u32 tgid;
  __u32 tid;
  __u32 front_door;
  __u64 loop_address;
  __u64 internal_fields_address;
  __u64 observed_since_ns;
  __u64 ended_ns; /* when its thread ended; 0 while it lives */

  /* where the last hit left it: the entry of a poll */
  __u64 poll_entry_ns;
  __u64 idle_counter_ns;    /* provider_idle_time there */
  __u64 thread_cpu_ns;      /* se.sum_exec_runtime there */
  __u64 thread_runqueue_ns; /* sched_info.run_delay there */
  __s32 poll_timeout_ms;    /* what the poll was asked to wait; -1 without end */
  __s32 backend_fd;         /* the loop's epoll descriptor; -1 while not known */
  __u32 entry_time_offset;
  __u32 rereads_clock;

  /* idle time that libuv forgets when a signal interrupts the wait */
  __u64 forgotten_idle_ns;
  __u64 forgotten_until_ns;
  __u32 stopped_in_wait; /* a stop signal came during the wait */
  __u32 owner;           /* of observed_process, when the slot was taken */

  /* totals since observed_since_ns, finished turns only */
  __u64 hits; /* of the front door */
  __u64 turns;
  __u64 active_ns;
  __u64 idle_ns;
  __u64 cpu_ns;
  __u64 runqueue_ns;
  __u64 repaired_idle_ns; /* part of idle_ns that libuv itself forgot */

  struct virtual_timer timer;
  struct histogram_bucket turn_histogram[TURN_BUCKETS];
  struct histogram_bucket delay_histogram[DELAY_BUCKETS];
};

/* A process appeared or left: what BPF sends through the ring buffer. */
enum lifecycle_kind { LIFECYCLE_EXEC = 1, LIFECYCLE_EXIT = 2, LIFECYCLE_FORK = 3 };

struct lifecycle_event {
  __u32 kind;
  __u32 tgid;
};

/* One file mapped executable by a process, as the task_vma iterator writes it. The device and inode
 * number are those of the file behind the mapping, below any overlay: the identity of a probe
 * target. */
struct mapped_file {
  __u64 inode;
  __u32 device;
  __u32 tgid;
  __u64 start; /* first address of the mapping */
  __u64 end;
  __u64 file_offset;
  __u64 filesystem; /* the magic number of its kind, as in linux/magic.h */
};

/* What a thread of the daemon wants to know from the task_vma iterator. Key: its thread id. */
struct mapping_query {
  __u32 tgid;
  __u32 pad;
  __u64 start; /* the start of the only mapping that is meant; 0 for all that are executable */
};

#ifdef __cplusplus
#define CONTRACT_ASSERT static_assert
#else
#define CONTRACT_ASSERT _Static_assert
#endif
CONTRACT_ASSERT(IGNORED_COUNTERS == (int)FRONT_DOOR_COUNT * (int)IGNORED_REASON_COUNT,
                "all of them");
CONTRACT_ASSERT(sizeof(struct observed_process) == 16, "no hidden padding");
CONTRACT_ASSERT(sizeof(struct histogram_bucket) == 16, "no hidden padding");
CONTRACT_ASSERT(sizeof(struct virtual_timer) == 32, "no hidden padding");
CONTRACT_ASSERT(sizeof(struct loop_slot) == 208 + 16 * (TURN_BUCKETS + DELAY_BUCKETS),
                "no hidden padding");
CONTRACT_ASSERT(sizeof(struct lifecycle_event) == 8, "no hidden padding");
CONTRACT_ASSERT(sizeof(struct mapped_file) == 48, "no hidden padding");
CONTRACT_ASSERT(sizeof(struct mapping_query) == 16, "no hidden padding");

#endif
