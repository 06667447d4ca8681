/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
 *
 * The maps, and the counters that every early return goes through. Sizes that depend on --max-loops
 * are set by the daemon before it loads the programs.
 */
#ifndef UVTAP_MAPS_H
#define UVTAP_MAPS_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "bpf/loop_contract.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, __u32); /* tgid */
  __type(value, struct observed_process);
} processes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 512);
  __type(key, __u32); /* thread id */
  __type(value, __u32);
} slot_of_thread SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 512);
  __type(key, __u32);
  __type(value, struct loop_slot);
} slots SEC(".maps");

/* How many slots an owner has is what it has taken less what it has returned. Each of the two has
 * one writer, so neither needs a lock: BPF counts in taken_slots, the daemon in returned_slots. The
 * daemon makes and deletes the entries of both. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32); /* owner */
  __type(value, __u32);
} taken_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32); /* owner */
  __type(value, __u32);
} returned_slots SEC(".maps");

/* Slots nobody uses, all zero: filled by the daemon. */
struct {
  __uint(type, BPF_MAP_TYPE_QUEUE);
  __uint(max_entries, 512);
  __type(value, __u32);
} free_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LOST_REASON_COUNT);
  __type(key, __u32);
  __type(value, __u64);
} lost SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, IGNORED_COUNTERS);
  __type(key, __u32);
  __type(value, __u64);
} ignored SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024);
} lifecycle_events SEC(".maps");

/* Several threads may iterate at a time, since one that hangs is left behind. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 256);
  __type(key, __u32); /* thread id of the daemon's */
  __type(value, struct mapping_query);
} mapping_queries SEC(".maps");

static __always_inline void count_one(void *map, __u32 index) {
  __u64 *counter = bpf_map_lookup_elem(map, &index);
  if (counter) (*counter)++;
}

static __always_inline int lose(enum lost_reason reason) {
  count_one(&lost, reason);
  return 0;
}

static __always_inline int ignore(enum front_door door, enum ignored_reason reason) {
  count_one(&ignored, IGNORED_COUNTER(door, reason));
  return 0;
}

#endif
