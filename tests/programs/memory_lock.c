// SPDX-License-Identifier: Apache-2.0
//
// Keeps the lock of its own memory for as long as a file system does not answer: writes to a page
// of the file and maps something else over it, and the kernel writes the page back before it lets
// go of the lock. Meant to be linked statically, so that it shares no file with others.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char** arguments) {
  int fd = count > 1 ? open(arguments[1], O_RDWR) : -1;
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || page == MAP_FAILED) {
    perror("cannot map the file");
    return 1;
  }
  page[0] = 1;
  mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  puts("answered");
  fflush(stdout);
  return pause();
}
