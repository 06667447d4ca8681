/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
 *
 * The few kernel structures the programs look into, with the few members they read. CO-RE finds the
 * members' real places when the programs are loaded, so neither order nor size matters here, and a
 * build needs no kernel's BTF.
 */
#ifndef UVTAP_KERNEL_TYPES_H
#define UVTAP_KERNEL_TYPES_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
  int counter;
} atomic_t;

struct sched_entity {
  __u64 sum_exec_runtime;
};

struct sched_info {
  unsigned long long run_delay;
};

struct signal_struct {
  atomic_t live;
};

struct task_struct {
  int pid;
  int tgid;
  struct sched_entity se;
  struct sched_info sched_info;
  struct signal_struct *signal;
};

struct super_block {
  __u32 s_dev;
  unsigned long s_magic;
};

struct inode {
  unsigned long i_ino;
  struct super_block *i_sb;
};

struct file {
  struct inode *f_inode;
};

struct vm_area_struct {
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned long vm_flags;
  unsigned long vm_pgoff;
  struct file *vm_file;
};

struct seq_file;

struct bpf_iter_meta {
  struct seq_file *seq;
};

struct bpf_iter__task_vma {
  struct bpf_iter_meta *meta;
  struct task_struct *task;
  struct vm_area_struct *vma;
};

/* x86-64, as the kernel names the registers. */
struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
      flags, sp, ss;
};

#pragma clang attribute pop

/* A syscall tracepoint's record: 8 common bytes, the number, the arguments. */
struct syscall_enter_record {
  __u64 common;
  long number;
  unsigned long arguments[6];
};

#endif
