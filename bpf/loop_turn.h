/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
 *
 * The pure part: one turn of a loop -> counters, histograms and the virtual delay monitor. No BPF
 * helper, no map, no loop; the BPF programs and the daemon (for the turn in progress) and the unit
 * tests compile this same file.
 *
 * A turn lasts from one entry of uv__io_poll to the next:
 *
 *     e                     x                                  e'
 *     | waits in epoll      | callbacks, check, timers: busy   |
 *     entry of the poll     idle end = e + idle of this turn   entry of the next poll
 *
 * libuv itself counts the idle time (provider_idle_time), so one look at e' tells all of it.
 */
#ifndef UVTAP_LOOP_TURN_H
#define UVTAP_LOOP_TURN_H

#include "bpf/loop_contract.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define NS_PER_MS 1000000ULL

/* What one look at a loop tells, at the entry of a poll. */
struct turn_look {
  __u64 now_ns;
  __u64 idle_counter_ns; /* provider_idle_time */
  __u64 thread_cpu_ns;
  __u64 thread_runqueue_ns;
  __s32 poll_timeout_ms;
};

/* A timers pass takes about this long when only the monitor's own timer is due (measured). */
#define TIMERS_PASS_NS 25000ULL
/* The slack starts here, moves by a step towards each new observation and so settles on their
 * median; 25 to 85 us on the machines measured. */
#define SLACK_START_NS 60000ULL
#define SLACK_STEP_NS 500ULL
#define SLACK_LIMIT_NS 1000000ULL

/* floor(log2(value)) for value > 0, in six steps. */
static __always_inline __u32 log2_u64(__u64 value) {
  __u32 result = 0;
  if (value >> 32) {
    result += 32;
    value >>= 32;
  }
  if (value >> 16) {
    result += 16;
    value >>= 16;
  }
  if (value >> 8) {
    result += 8;
    value >>= 8;
  }
  if (value >> 4) {
    result += 4;
    value >>= 4;
  }
  if (value >> 2) {
    result += 2;
    value >>= 2;
  }
  return result + (__u32)(value >> 1);
}

static __always_inline __u32 histogram_index(__u64 value_ns, __u32 min_shift, __u32 sub_bits,
                                             __u32 buckets) {
  if (value_ns < (1ULL << min_shift)) return 0;
  if (value_ns >= (1ULL << HISTOGRAM_MAX_SHIFT)) return buckets - 1;
  __u32 octave = log2_u64(value_ns);
  __u32 sub = (__u32)(value_ns >> (octave - sub_bits)) & ((1U << sub_bits) - 1);
  return 1 + ((octave - min_shift) << sub_bits) + sub;
}

static __always_inline void add_to_bucket(struct histogram_bucket *bucket, __u64 value_ns,
                                          __u64 count) {
  bucket->count += count;
  bucket->sum_ns += value_ns * count;
}

/* At most `last`, in a way that the verifier sees: the compiler may compare one copy of a number
 * and go on with another, of which the verifier of Linux 6.1 then knows no bound. */
static __always_inline __u64 at_most(__u64 number, __u64 last) {
#ifdef __bpf__
  asm volatile("if %0 <= %1 goto +1\n%0 = %1" : "+r"(number) : "i"(last));
  return number;
#else
  return number < last ? number : last;
#endif
}

static __always_inline void record_busy_stretch(struct loop_slot *slot, __u64 busy_ns) {
  __u32 index = histogram_index(busy_ns, TURN_MIN_SHIFT, TURN_SUB_BITS, TURN_BUCKETS);
  add_to_bucket(&slot->turn_histogram[at_most(index, TURN_BUCKETS - 1)], busy_ns, 1);
}

static __always_inline void record_delay(struct loop_slot *slot, __u64 interval_ns, __u64 count) {
  __u32 index = histogram_index(interval_ns, DELAY_MIN_SHIFT, DELAY_SUB_BITS, DELAY_BUCKETS);
  add_to_bucket(&slot->delay_histogram[at_most(index, DELAY_BUCKETS - 1)], interval_ns, count);
}

/* The timer fires and is armed again, as a repeating uv_timer_t in whole milliseconds. */
static __always_inline void timer_fires(struct loop_slot *slot, __u64 at_ns, __u64 resolution_ms) {
  struct virtual_timer *timer = &slot->timer;
  if (timer->previous_firing_ns && at_ns > timer->previous_firing_ns)
    record_delay(slot, at_ns - timer->previous_firing_ns, 1);
  timer->previous_firing_ns = at_ns;
  timer->expiry_ms = at_ns / NS_PER_MS + resolution_ms;
}

/* How many of `count` intervals are a millisecond shorter: each time the latenesses have added up
 * to a millisecond, the rounding to whole milliseconds takes one away. */
static __always_inline __u64 shorter_intervals(__u64 first_ns, __u64 late_ns, __u64 count) {
  __u64 shorter = (first_ns % NS_PER_MS + TIMERS_PASS_NS + count * late_ns) / NS_PER_MS;
  return shorter < count ? shorter : count;
}

/* Firings after the one at `first_ns`, up to `until_ns`, in a wait that nothing else ends; without
 * a loop. */
static __always_inline void timer_repeats(struct loop_slot *slot, __u64 first_ns, __u64 until_ns,
                                          __u64 resolution_ms) {
  __u64 resolution_ns = resolution_ms * NS_PER_MS;
  __u64 late_ns = slot->timer.slack_ns + TIMERS_PASS_NS;
  __u64 interval_ns = resolution_ns + late_ns;
  if (until_ns < first_ns + interval_ns) return;
  __u64 count = (until_ns - first_ns - late_ns) / resolution_ns;
  __u64 shorter = shorter_intervals(first_ns, late_ns, count);
  if (first_ns + count * interval_ns - shorter * NS_PER_MS > until_ns) {
    count--;
    shorter = shorter_intervals(first_ns, late_ns, count);
  }
  record_delay(slot, interval_ns, count - shorter);
  record_delay(slot, interval_ns - NS_PER_MS, shorter);
  slot->timer.previous_firing_ns = first_ns + count * interval_ns - shorter * NS_PER_MS;
  slot->timer.expiry_ms = slot->timer.previous_firing_ns / NS_PER_MS + resolution_ms;
}

/* The wait [entry, end): would the monitor's own timer have ended it earlier? */
static __always_inline void timer_while_waiting(struct loop_slot *slot, __u64 entry_ns,
                                                __u64 end_ns, int timed_out, __u64 resolution_ms) {
  struct virtual_timer *timer = &slot->timer;
  __u64 loop_ms = timer->loop_time_ms;
  if (timed_out && timer->expiry_ms >= loop_ms + (__u64)slot->poll_timeout_ms) return;
  __u64 wake_ns = entry_ns;
  if (timer->expiry_ms > loop_ms)
    wake_ns += (timer->expiry_ms - loop_ms) * NS_PER_MS + timer->slack_ns;
  if (wake_ns >= end_ns) return;
  timer_fires(slot, wake_ns, resolution_ms);
  timer_repeats(slot, wake_ns, end_ns, resolution_ms);
}

/* The busy stretch [start, end): timers run once, after the I/O callbacks. */
static __always_inline void timer_while_busy(struct loop_slot *slot, __u64 start_ns, __u64 end_ns,
                                             int timed_out, __u64 resolution_ms) {
  struct virtual_timer *timer = &slot->timer;
  if (!timed_out) {
    if (timer->expiry_ms <= end_ns / NS_PER_MS) timer_fires(slot, end_ns, resolution_ms);
    return;
  }
  /* Woken by a timer of the application: the timers pass begins at once, the earliest first. */
  if (timer->expiry_ms <= start_ns / NS_PER_MS) {
    int is_first = timer->expiry_ms <= timer->loop_time_ms + (__u64)slot->poll_timeout_ms;
    timer_fires(slot, is_first ? start_ns : end_ns, resolution_ms);
  } else if (slot->rereads_clock && timer->expiry_ms <= end_ns / NS_PER_MS) {
    timer_fires(slot, end_ns, resolution_ms);
  }
}

static __always_inline void learn_slack(struct virtual_timer *timer, __u64 late_ns) {
  if (late_ns > timer->slack_ns && timer->slack_ns < SLACK_LIMIT_NS)
    timer->slack_ns += SLACK_STEP_NS;
  else if (timer->slack_ns > SLACK_STEP_NS)
    timer->slack_ns -= SLACK_STEP_NS;
}

/* Where the next turn is counted from. */
static __always_inline void loop_enters_poll(struct loop_slot *slot, const struct turn_look *look) {
  slot->poll_entry_ns = look->now_ns;
  slot->idle_counter_ns = look->idle_counter_ns;
  slot->thread_cpu_ns = look->thread_cpu_ns;
  slot->thread_runqueue_ns = look->thread_runqueue_ns;
  slot->poll_timeout_ms = look->poll_timeout_ms;
  slot->forgotten_idle_ns = 0;
  slot->stopped_in_wait = 0;
}

/* The first look at a loop, or the first after it was lost: counts start here. */
static __always_inline void loop_begins(struct loop_slot *slot, const struct turn_look *look,
                                        __u64 resolution_ms) {
  loop_enters_poll(slot, look);
  slot->timer.previous_firing_ns = 0;
  slot->timer.loop_time_ms = look->now_ns / NS_PER_MS;
  slot->timer.expiry_ms = slot->timer.loop_time_ms + resolution_ms;
  if (!slot->timer.slack_ns) slot->timer.slack_ns = SLACK_START_NS;
}

static __always_inline __u64 difference_or_zero(__u64 a, __u64 b) { return a > b ? a - b : 0; }

/* Idle time of a turn that takes `wall_ns`. libuv forgets what had passed when a signal interrupts
 * the wait; forgotten_idle_ns has it, as seen when the signal came. After a stop signal the rest is
 * only known from the scheduler: what was neither running nor queued was waiting. */
static __always_inline __u64 idle_of_turn(const struct loop_slot *slot,
                                          const struct turn_look *look, __u64 wall_ns) {
  __u64 idle_ns = look->idle_counter_ns - slot->idle_counter_ns + slot->forgotten_idle_ns;
  if (slot->stopped_in_wait) {
    __u64 ran_ns = look->thread_cpu_ns - slot->thread_cpu_ns + look->thread_runqueue_ns -
                   slot->thread_runqueue_ns;
    __u64 waited_ns = difference_or_zero(wall_ns, ran_ns);
    if (waited_ns > idle_ns) idle_ns = waited_ns;
  }
  return idle_ns < wall_ns ? idle_ns : wall_ns;
}

/* The stretch from one poll's entry up to a look, cut in two. */
struct turn_span {
  __u64 entry_ns;
  __u64 idle_end_ns;
  __u64 end_ns;
  int timed_out; /* the wait lasted as long as it was asked to */
};

static __always_inline int counters_went_back(const struct loop_slot *slot,
                                              const struct turn_look *look) {
  return look->now_ns < slot->poll_entry_ns || look->idle_counter_ns < slot->idle_counter_ns ||
         look->thread_cpu_ns < slot->thread_cpu_ns ||
         look->thread_runqueue_ns < slot->thread_runqueue_ns;
}

/* Adds the time since the poll's entry to the totals. */
static __always_inline struct turn_span account_time(struct loop_slot *slot,
                                                     const struct turn_look *look) {
  __u64 wall_ns = look->now_ns - slot->poll_entry_ns;
  __u64 idle_ns = idle_of_turn(slot, look, wall_ns);
  __u64 asked_ns = slot->poll_timeout_ms > 0 ? (__u64)slot->poll_timeout_ms * NS_PER_MS : 0;
  slot->active_ns += wall_ns - idle_ns;
  slot->idle_ns += idle_ns;
  slot->repaired_idle_ns +=
      difference_or_zero(idle_ns, look->idle_counter_ns - slot->idle_counter_ns);
  slot->cpu_ns += look->thread_cpu_ns - slot->thread_cpu_ns;
  slot->runqueue_ns += look->thread_runqueue_ns - slot->thread_runqueue_ns;
  struct turn_span span = {slot->poll_entry_ns, slot->poll_entry_ns + idle_ns, look->now_ns,
                           asked_ns && idle_ns >= asked_ns};
  return span;
}

/* A turn ends: the loop enters its next poll. Returns 0, or -1 when a counter went back, which can
 * only be another loop at the same place; counting then starts anew from this look. */
static __always_inline int loop_turns(struct loop_slot *slot, const struct turn_look *look,
                                      __u64 resolution_ms) {
  if (counters_went_back(slot, look)) {
    loop_begins(slot, look, resolution_ms);
    return -1;
  }
  struct turn_span span = account_time(slot, look);
  slot->turns++;
  record_busy_stretch(slot, span.end_ns - span.idle_end_ns);
  if (span.timed_out)
    learn_slack(&slot->timer,
                span.idle_end_ns - span.entry_ns - (__u64)slot->poll_timeout_ms * NS_PER_MS);
  timer_while_waiting(slot, span.entry_ns, span.idle_end_ns, span.timed_out, resolution_ms);
  timer_while_busy(slot, span.idle_end_ns, span.end_ns, span.timed_out, resolution_ms);
  /* loop->time is read after the wait and before the timers, which came last. */
  slot->timer.loop_time_ms = (span.timed_out ? span.idle_end_ns : span.end_ns) / NS_PER_MS;
  loop_enters_poll(slot, look);
  return 0;
}

/* The turn in progress at a look between two polls, on the daemon's own copy of a slot: time counts
 * and the virtual timer's firings in the wait do, the busy stretch is not finished. Returns how
 * long it lasts already: 0 while the loop waits. */
static __always_inline __u64 loop_in_progress(struct loop_slot *slot, const struct turn_look *look,
                                              int is_waiting, __u64 resolution_ms) {
  if (counters_went_back(slot, look)) return 0;
  struct turn_span span = account_time(slot, look);
  if (is_waiting) span.timed_out = 0;
  timer_while_waiting(slot, span.entry_ns, span.idle_end_ns, span.timed_out, resolution_ms);
  return is_waiting ? 0 : span.end_ns - span.idle_end_ns;
}

/* A signal reaches the thread while it waits since entry_time_ns (provider_entry_time, not 0).
 * libuv will start its wait anew and forget what had passed. */
static __always_inline void loop_is_interrupted(struct loop_slot *slot, __u64 now_ns,
                                                __u64 entry_time_ns, int is_stop) {
  __u64 from_ns =
      entry_time_ns > slot->forgotten_until_ns ? entry_time_ns : slot->forgotten_until_ns;
  slot->forgotten_idle_ns += difference_or_zero(now_ns, from_ns);
  slot->forgotten_until_ns = now_ns;
  if (is_stop) slot->stopped_in_wait = 1;
}

#endif
