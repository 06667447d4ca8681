// SPDX-License-Identifier: Apache-2.0
#include "userspace/probes/file_page.h"

#include <sys/mman.h>

#include <cerrno>

#include "userspace/symbols/regular_file.h"

namespace uvtap {
namespace {

constexpr size_t size = 1;  // rounded up to a page

}  // namespace

Result<FilePage> FilePage::map(const std::string& path) {
  const auto file = RegularFile::open(path);
  if (!file) return fail("{} {}", path, file.error().message);
  void* page = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (page == MAP_FAILED) return fail_errno(errno, "{} cannot be mapped", path);
  return FilePage(page);
}

FilePage::~FilePage() {
  if (page_) munmap(page_, size);
}

}  // namespace uvtap
