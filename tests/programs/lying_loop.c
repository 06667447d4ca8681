// SPDX-License-Identifier: Apache-2.0
//
// A small program that uvtap takes for Node.js with libuv 1.51: it exports the names, and its one
// loop waits and works as libuv would. Told to on standard input, it lies, or puts a file over its
// memory:
//
//   lie NAME          see lies[]
//   map FILE          maps the first page of FILE over the fields that uvtap reads
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define KERNEL_ADDRESS 0xffff888000001000ULL
#define NS_PER_MS 1000000ULL

/* uv_loop_t and its internal fields, by the offsets in userspace/symbols/libuv_layout.cpp. */
struct loop {
  uint64_t data, active_handles, queue_next, queue_previous, unused[1];
  uint64_t internal_fields;
  uint64_t stop_flag, flags;
  int32_t backend_fd;
  char more[544 - 68];
  uint64_t time_ms;
  char rest[848 - 552];
};
_Static_assert(offsetof(struct loop, internal_fields) == 40, "libuv 1.39 and later");
_Static_assert(offsetof(struct loop, backend_fd) == 64, "libuv 1.39 and later");
_Static_assert(offsetof(struct loop, time_ms) == 544, "libuv 1.39 and later");
struct fields {
  uint64_t flags, loop_count;
  char more[136 - 16];
  uint64_t entry_time_ns, idle_time_ns;
};
_Static_assert(offsetof(struct fields, entry_time_ns) == 136, "libuv 1.45 and later");

static struct loop the_loop __attribute__((aligned(PAGE)));
static struct fields field_pages[2][PAGE / sizeof(struct fields)] __attribute__((aligned(PAGE)));
static struct fields* fields = field_pages[0];
static struct loop* default_loop_ptr;

/* A std::string of libstdc++. */
struct text {
  const char* data;
  uint64_t length;
  char room[16];
};
struct text _ZN4node11per_process8metadataE;

int _ZN4node5StartEiPPc(int count, char** arguments) { return count + (arguments != NULL); }
unsigned uv_version(void) { return 0x013300; }
struct loop* uv_default_loop(void) { return default_loop_ptr; }

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static uint64_t any(void) {
  static uint64_t state = 88172645463325252ULL; /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* ---- lies: told before each poll, and again while it is busy ---- */

static void idle_jumps(void) { fields->idle_time_ns += 1ULL << 40; }
static void idle_is_huge(void) { fields->idle_time_ns |= 1ULL << 63; }
static void idle_overflows(void) { fields->idle_time_ns = ~0ULL; }
static void idle_goes_back(void) { fields->idle_time_ns = 0; }
static void idle_flickers(void) { fields->idle_time_ns = any(); }
static void waits_in_the_future(void) { fields->entry_time_ns = 1ULL << 63; }
static void waits_a_little_ahead(void) { fields->entry_time_ns = now_ns() + 3600000 * NS_PER_MS; }
static void waits_since_the_boot(void) { fields->entry_time_ns = 1; }
static void wait_flickers(void) { fields->entry_time_ns = any(); }
static void counts_turns_wildly(void) { fields->loop_count = any(); }
static void clock_is_wild(void) { the_loop.time_ms = any(); }
static void fields_in_the_kernel(void) { the_loop.internal_fields = KERNEL_ADDRESS; }
static void fields_nowhere(void) { the_loop.internal_fields = 0; }
static void fields_unaligned(void) { the_loop.internal_fields |= 1; }
static void fields_at_the_end(void) { the_loop.internal_fields = 0x7fffffffefff; }
static void fields_alternate(void) {
  fields = fields == field_pages[0] ? field_pages[1] : field_pages[0];
  fields->flags = 1;
  fields->idle_time_ns = any() >> 20;
  the_loop.internal_fields = (uint64_t)fields;
}
static void flags_none(void) { fields->flags = 0; }
static void flags_all(void) { fields->flags = ~0ULL; }
static void descriptor_is_wild(void) { the_loop.backend_fd = (int32_t)any(); }
static void queue_is_cyclic(void) { the_loop.queue_next = (uint64_t)&the_loop.queue_previous; }
static void queue_in_the_kernel(void) { the_loop.queue_next = KERNEL_ADDRESS; }
static void default_loop_in_the_kernel(void) { default_loop_ptr = (struct loop*)KERNEL_ADDRESS; }
static void default_loop_is_itself(void) { default_loop_ptr = (struct loop*)&default_loop_ptr; }
static void version_is_endless(void) { _ZN4node11per_process8metadataE.length = 1ULL << 60; }
static void version_in_the_kernel(void) {
  _ZN4node11per_process8metadataE.data = (const char*)KERNEL_ADDRESS;
}
static void all_is_wild(void) {
  for (size_t i = 1; i < sizeof(*fields) / sizeof(uint64_t); ++i) ((uint64_t*)fields)[i] = any();
  the_loop.time_ms = any();
}
static void nothing(void) {}

struct lie {
  const char* name;
  void (*tell)(void);
};
#define LIE(name) {#name, name}
static const struct lie lies[] = {
    LIE(idle_jumps),
    LIE(idle_is_huge),
    LIE(idle_overflows),
    LIE(idle_goes_back),
    LIE(idle_flickers),
    LIE(waits_in_the_future),
    LIE(waits_a_little_ahead),
    LIE(waits_since_the_boot),
    LIE(wait_flickers),
    LIE(counts_turns_wildly),
    LIE(clock_is_wild),
    LIE(fields_in_the_kernel),
    LIE(fields_nowhere),
    LIE(fields_unaligned),
    LIE(fields_at_the_end),
    LIE(fields_alternate),
    LIE(flags_none),
    LIE(flags_all),
    LIE(descriptor_is_wild),
    LIE(queue_is_cyclic),
    LIE(queue_in_the_kernel),
    LIE(default_loop_in_the_kernel),
    LIE(default_loop_is_itself),
    LIE(version_is_endless),
    LIE(version_in_the_kernel),
    LIE(all_is_wild),
    LIE(nothing),
};

/* Busy for two seconds, it claims to wait, and takes that back at the end of the turn. */
static int claims_to_wait;
static void (*volatile tell)(void) = nothing;
static const char* volatile file_to_map;

static void map_over(void* address, const char* path) {
  int fd = open(path, O_RDWR);
  if (fd < 0 ||
      mmap(address, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
    perror(path);
    exit(1);
  }
}

/* ---- a loop like libuv's ---- */

__attribute__((noinline)) void uv__io_poll(struct loop* loop, int timeout_ms) {
  struct epoll_event event;
  int descriptor = (int)(uintptr_t)loop->data; /* backend_fd may lie */
  int ready = epoll_wait(descriptor, &event, 1, 0);
  if (ready == 0) {
    fields->entry_time_ns = now_ns();
    tell();
    uint64_t entry_ns = now_ns();
    epoll_wait(descriptor, &event, 1, timeout_ms);
    fields->idle_time_ns += now_ns() - entry_ns;
    fields->entry_time_ns = 0;
  }
  fields->loop_count++;
  loop->time_ms = now_ns() / NS_PER_MS;
}

static void be_busy(uint64_t milliseconds) {
  uint64_t end_ns = now_ns() + milliseconds * NS_PER_MS;
  if (claims_to_wait) {
    fields->entry_time_ns = now_ns();
    end_ns += 2000 * NS_PER_MS;
  }
  tell();
  struct timespec nap = {0, NS_PER_MS};
  while (now_ns() < end_ns) nanosleep(&nap, NULL);
  if (claims_to_wait) fields->entry_time_ns = 0;
}

__attribute__((noinline)) int uv_run(struct loop* loop, int mode) {
  for (;;) {
    uv__io_poll(loop, 20);
    if (file_to_map) {
      map_over(field_pages, file_to_map);
      puts("mapped");
      fflush(stdout);
      for (;;) pause();
    }
    be_busy(5);
  }
  return mode;
}

static void obey(char* line) {
  char* word = strtok(line, " \n");
  char* name = strtok(NULL, " \n");
  if (!word || !name) return;
  if (strcmp(word, "map") == 0) file_to_map = strdup(name);
  if (strcmp(word, "lie") != 0) return;
  if (strcmp(name, "claims_to_wait") == 0) claims_to_wait = 1;
  for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); ++i)
    if (strcmp(name, lies[i].name) == 0) tell = lies[i].tell;
}

static void* listen_to_orders(void* unused) {
  char line[512];
  while (fgets(line, sizeof(line), stdin)) {
    obey(line);
    puts("done");
    fflush(stdout);
  }
  return unused;
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "--lies") == 0) {
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); ++i) puts(lies[i].name);
    puts("claims_to_wait");
    return 0;
  }
  struct text* version = &_ZN4node11per_process8metadataE;
  strcpy(version->room, "22.0.0");
  version->data = version->room;
  version->length = strlen(version->room);
  the_loop.queue_next = the_loop.queue_previous = (uint64_t)&the_loop.queue_next;
  the_loop.internal_fields = (uint64_t)fields;
  the_loop.backend_fd = epoll_create1(0);
  the_loop.data = (uint64_t)the_loop.backend_fd;
  fields->flags = 1;
  default_loop_ptr = &the_loop;
  pthread_t listener;
  pthread_create(&listener, NULL, listen_to_orders, NULL);
  return uv_run(uv_default_loop(), 0);
}
