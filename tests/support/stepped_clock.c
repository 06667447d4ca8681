// SPDX-License-Identifier: Apache-2.0
//
// To be preloaded: shows a process a wall clock that is off by the seconds which the file named by
// UVTAP_STEPPED_CLOCK holds, a 64-bit number that may change at any moment. CLOCK_MONOTONIC is left
// alone, as a step of the machine's clock leaves it alone.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* offset_s;

__attribute__((constructor)) static void map_offset(void) {
  const char* path = getenv("UVTAP_STEPPED_CLOCK");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* page = mmap(NULL, sizeof(*offset_s), PROT_READ, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) offset_s = page;
  close(fd);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  long result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME && offset_s) now->tv_sec += *offset_s;
  return (int)result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
