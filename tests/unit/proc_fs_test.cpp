// SPDX-License-Identifier: Apache-2.0
#include "userspace/discovery/proc_fs.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/fake_proc.h"
#include "userspace/discovery/bounded_file.h"

using namespace uvtap;
using uvtap::test::FakeProc;

namespace {

// A non-PIE node with a library and a deleted file.
constexpr const char* maps =
    "00400000-00c00000 r--p 00000000 fe:01 1234                               /usr/bin/node\n"
    "00c00000-02c00000 r-xp 00800000 fe:01 1234                               /usr/bin/node\n"
    "05000000-05100000 rw-p 00000000 00:00 0                                  [heap]\n"
    "7f0000000000-7f0000001000 r--p 00002000 00:2b 99      /lib/with space.so\n"
    "7f0000001000-7f0000003000 r-xp 00003000 00:2b 99      /lib/with space.so\n"
    "7f0000010000-7f0000020000 rwxp 00000000 00:00 0 \n"
    "7f0000030000-7f0000040000 r-xp 00000000 103:05 18446744073709551615 /tmp/a (deleted)\n"
    "7ffff7fc0000-7ffff7fc2000 r-xp 00000000 00:00 0                          [vdso]\n";

}  // namespace

TEST_CASE("pids are the directories with numbers", "[proc_fs]") {
  FakeProc fake;
  fake.process(1, 1);
  fake.process(4194304, 1);
  for (const char* name : {"self", "1x", "-3", "0", "99999999999", "2 ", "+5"})
    fake.directory(name);
  auto pids = ProcFs(fake.root()).list_pids().value();
  std::ranges::sort(pids);
  CHECK(pids == std::vector<pid_t>{1, 4194304});
}

TEST_CASE("threads are listed", "[proc_fs]") {
  FakeProc fake;
  fake.directory("7/task/7");
  fake.directory("7/task/9");
  auto tids = ProcFs(fake.root()).threads(7).value();
  std::ranges::sort(tids);
  CHECK(tids == std::vector<pid_t>{7, 9});
  CHECK_FALSE(ProcFs(fake.root()).threads(8));
}

TEST_CASE("a listing with more entries than allowed is refused", "[proc_fs]") {
  FakeProc fake;
  for (const char* name : {"7", "8", "9"}) fake.directory(name);
  CHECK(list_numbers(fake.root(), 5)->size() == 3);  // "." and ".." are entries too
  const auto numbers = list_numbers(fake.root(), 4);
  REQUIRE_FALSE(numbers);
  CHECK(numbers.error().message.find("more than 4 entries") != std::string::npos);
}

TEST_CASE("the start time follows the last bracket, whatever the name", "[proc_fs]") {
  const std::string name =
      GENERATE("node", "a b", "a) S 1 2 3 (b", ")", "", "a\nb", "((((", "1 (x) Z 0 0");
  CAPTURE(name);
  FakeProc fake;
  fake.file("42/stat", "42 (" + name + ") S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 11 0 777 1000 200\n");
  CHECK(ProcFs(fake.root()).start_time_ticks(42) == 777);
  CHECK(ProcFs(fake.root()).process_stat(42)->state == 'S');
}

TEST_CASE("a stat that is cut off or nonsense is an error", "[proc_fs]") {
  const std::string text =
      GENERATE("", "42", "42 (node", "42 (node)", "42 (node) ", "42 (node) S 1 1 1 0 -1 0",
               "42 (node) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 11 0",
               "42 (node) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 11 0 x 1",
               "42 (node) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 11 0 99999999999999999999999 1");
  FakeProc fake;
  fake.file("42/stat", text);
  CHECK_FALSE(ProcFs(fake.root()).start_time_ticks(42));
}

TEST_CASE("files that are missing, binary, or no files are errors and never block", "[proc_fs]") {
  FakeProc fake;
  const ProcFs proc(fake.root());
  const std::string binary(
      "\x00\xff\x7f"
      "ELF\n\n\x01",
      9);
  for (const char* file :
       {"stat", "maps", "comm", "cmdline", "task/42/syscall", "task/42/schedstat"}) {
    const std::string path = fmt::format("42/{}", file);
    SECTION("missing " + path) {}
    SECTION("fifo " + path) { fake.fifo(path); }
    SECTION("directory " + path) { fake.directory(path); }
    SECTION("binary " + path) { fake.file(path, binary); }
    SECTION("empty " + path) { fake.file(path, ""); }
    SECTION("huge " + path) { fake.file(path, std::string(size_t{17} << 20, '7')); }
  }
  CHECK_FALSE(proc.start_time_ticks(42));
  CHECK_FALSE(proc.blocked_syscall(42, 42));
  CHECK_FALSE(proc.thread_times(42, 42));
  const auto images = proc.mapped_images(42);
  CHECK((!images || images->empty()));
  const auto arguments = proc.command_line(42);
  CHECK((!arguments || arguments->size() <= 4));
  const auto comm = proc.comm(42);
  CHECK((!comm || comm->size() <= 4096));
}

TEST_CASE("the command line is split, and bounded", "[proc_fs]") {
  FakeProc fake;
  const ProcFs proc(fake.root());
  using Arguments = std::vector<std::string>;
  fake.file("1/cmdline", std::string("node\0\0a b\0", 10));
  CHECK(proc.command_line(1) == Arguments{"node", "", "a b"});
  fake.file("1/cmdline", std::string("a title\0\0\0\0\0", 12));
  CHECK(proc.command_line(1) == Arguments{"a title"});
  fake.file("1/cmdline", "");
  CHECK(proc.command_line(1) == Arguments{});
  fake.file("1/cmdline", std::string(1 << 20, 'x'));
  CHECK(proc.command_line(1)->at(0).size() == 65536);
  fake.file("1/cmdline", std::string(60000, '\0') + "x");
  CHECK(proc.command_line(1)->size() == 1024);
}

TEST_CASE("executable mappings of files are found with their file's lowest mapping", "[proc_fs]") {
  FakeProc fake;
  fake.file("42/maps", maps);
  const auto images = ProcFs(fake.root()).mapped_images(42).value();
  REQUIRE(images.size() == 3);
  CHECK(images[0].path == "/usr/bin/node");
  CHECK(images[0].start == 0xc00000);
  CHECK(images[0].end == 0x2c00000);
  CHECK(images[0].file_offset == 0x800000);
  CHECK(images[0].inode == 1234);
  CHECK(images[0].device_major == 0xfe);
  CHECK(images[0].device_minor == 1);
  CHECK(images[0].lowest_start == 0x400000);
  CHECK(images[0].lowest_file_offset == 0);
  CHECK(images[1].path == "/lib/with space.so");
  CHECK(images[1].lowest_start == 0x7f0000000000);
  CHECK(images[1].lowest_file_offset == 0x2000);
  CHECK(images[2].path == "/tmp/a (deleted)");
  CHECK(images[2].inode == 18446744073709551615U);
}

TEST_CASE("the load bias moves linked addresses to the process", "[proc_fs]") {
  MappedImage image;
  image.lowest_start = 0x400000;
  CHECK(load_bias(image, 0x400000, 0) == 0);  // not PIE
  image.lowest_start = 0x7f0000000000;
  CHECK(load_bias(image, 0, 0) == 0x7f0000000000);
  CHECK(load_bias(image, 0x1000, 0) + 0x1234 == 0x7f0000000234);
}

TEST_CASE("lines of maps that make no sense are left out", "[proc_fs]") {
  FakeProc fake;
  const std::string good = "1000-2000 r-xp 00000000 fe:01 5 /good\n";
  const std::string bad = GENERATE(
      "", "\n\n", "x", "1000", "1000-", "1000-2000 r-xp", "1000-2000 r-xp 0 fe:01\n",
      "2000-1000 r-xp 00000000 fe:01 5 /backwards\n", "1000-2000 r-x 00000000 fe:01 5 /short\n",
      "g000-2000 r-xp 00000000 fe:01 5 /hex\n", "11111111111111111-2 r-xp 0 fe:01 5 /large\n");
  CAPTURE(bad);
  fake.file("42/maps", bad + (bad.ends_with('\n') || bad.empty() ? "" : "\n") + good);
  const auto images = ProcFs(fake.root()).mapped_images(42).value();
  REQUIRE(images.size() == 1);
  CHECK(images[0].path == "/good");
}

TEST_CASE("maps is bounded in lines, in images and in size", "[proc_fs]") {
  FakeProc fake;
  const ProcFs proc(fake.root());
  const std::string line = "1000-2000 r-xp 00000000 fe:01 5 /lib\n";
  std::string text = "1000-2000 r-xp 00000000 fe:01 5 /" + std::string(9000, 'x') + "\n" + line;
  fake.file("42/maps", text);
  CHECK(proc.mapped_images(42)->size() == 1);
  for (int i = 0; i < 5000; ++i) text += line;
  fake.file("42/maps", text);
  CHECK(proc.mapped_images(42)->size() == 4096);
  fake.file("42/maps", std::string((size_t{16} << 20) + 1, '\n'));
  CHECK_FALSE(proc.mapped_images(42));
  fake.file("42/maps", line.substr(0, line.size() - 1));  // no newline at the end
  CHECK(proc.mapped_images(42)->size() == 1);
}

TEST_CASE("a blocked system call is read", "[proc_fs]") {
  FakeProc fake;
  const ProcFs proc(fake.root());
  fake.file("4/task/5/syscall", "running\n");
  CHECK_FALSE(proc.blocked_syscall(4, 5).value());
  fake.file("4/task/5/syscall", "281 0xd 0x7ffc 0x400 0xffffffff 0x0 0x8 0x7ffcbeef 0x7f01\n");
  const BlockedSyscall call = proc.blocked_syscall(4, 5)->value();
  CHECK(call.number == 281);
  CHECK(call.arguments[0] == 13);
  CHECK(call.arguments[5] == 8);
  CHECK(call.stack_pointer == 0x7ffcbeef);
  CHECK(call.instruction_pointer == 0x7f01);
  CHECK(epoll_descriptor(call) == 13);
  fake.file("4/task/5/syscall", "-1 0x10 0x20\n");
  CHECK(proc.blocked_syscall(4, 5)->value().stack_pointer == 0x10);
  CHECK_FALSE(epoll_descriptor(proc.blocked_syscall(4, 5)->value()));
}

TEST_CASE("a system call that is cut off is an error", "[proc_fs]") {
  FakeProc fake;
  const std::string text = GENERATE("\n", "281\n", "281 0x1 0x2\n", "-1 0x1\n", "x 0x1 0x2\n",
                                    "281 1 2 3 4 5 6 7 8\n", "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n");
  fake.file("4/task/5/syscall", text);
  CHECK_FALSE(ProcFs(fake.root()).blocked_syscall(4, 5));
}

TEST_CASE("a thread's times are read", "[proc_fs]") {
  FakeProc fake;
  fake.file("4/task/5/schedstat", "123456789 4567 89\n");
  CHECK(ProcFs(fake.root()).thread_times(4, 5) == ThreadTimes{123456789, 4567});
  fake.file("4/task/5/schedstat", "123456789\n");
  CHECK_FALSE(ProcFs(fake.root()).thread_times(4, 5));
}

TEST_CASE("paths stand under the root", "[proc_fs]") {
  const ProcFs proc("/host/proc");
  CHECK(proc.exe_path(7) == "/host/proc/7/exe");
  CHECK(proc.root_path(7, "/usr/bin/node") == "/host/proc/7/root/usr/bin/node");
  CHECK(proc.map_files_path(7, 0x400000, 0x7f0000000000) ==
        "/host/proc/7/map_files/400000-7f0000000000");
}

TEST_CASE("this very process can be read", "[proc_fs]") {
  const ProcFs proc("/proc");
  const pid_t self = ::getpid();
  CHECK(std::ranges::count(proc.list_pids().value(), self) == 1);
  CHECK(proc.start_time_ticks(self).value() > 0);
  CHECK_FALSE(proc.comm(self)->empty());
  CHECK_FALSE(proc.command_line(self)->empty());
  CHECK_FALSE(proc.mapped_images(self)->empty());
  CHECK(proc.blocked_syscall(self, self)->value().number == SYS_read);  // of that very file
  CHECK(proc.thread_times(self, self)->cpu_ns > 0);
}
