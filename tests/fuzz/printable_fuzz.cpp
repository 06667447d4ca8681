// SPDX-License-Identifier: Apache-2.0
// Text from a stranger on its way to a label, a log line or a terminal.
#include "tests/fuzz/fuzz.h"
#include "userspace/metrics/label_value.h"
#include "userspace/util/printable.h"

using namespace uvtap;
using fuzz::require;

namespace {

void check_text(const std::string& text, size_t limit) {
  require(text.size() <= limit, "bounded");
  require(fuzz::is_utf8(text), "UTF-8");
  require(fuzz::has_no_control(text), "no control character");
  for (const std::string_view hidden : {"\u0085", "\u200b", "\u202e", "\u2066", "\ufeff"})
    require(!text.contains(hidden), "nothing that hides or turns text");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t limit = input.take<uint8_t>();
  const std::string_view text = input.text();

  const std::string whole = printable(text);
  check_text(whole, text.size());
  require(printable(whole) == whole, "what is printable stays as it is");
  const std::string cut = printable(text, limit);
  check_text(cut, limit);
  require(whole.starts_with(cut), "a cut text is the beginning of the whole");
  require(cut == whole || limit - cut.size() < 4, "no more is cut off than has to be");

  const std::string label = label_value(text);
  check_text(label, label_value_limit);
  require(label_value(label) == label, "a label stays as it is");
  require(whole.size() > label_value_limit || label == whole, "a short text is kept");
  require(whole.size() <= label_value_limit || label.size() > label_value_limit - 8,
          "a long one fills the limit");
  return 0;
}
