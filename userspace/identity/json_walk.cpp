// SPDX-License-Identifier: Apache-2.0
#include "userspace/identity/json_walk.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace uvtap {
namespace {

using Json = nlohmann::json;

constexpr size_t max_depth = 64;  // a pod's managedFields take about 20
constexpr size_t max_key_bytes = 64;

/// The path to where the parser is. Keys that contain the separators cannot be told from a path;
/// Kubernetes lets people choose keys only in maps like labels and annotations, below which only
/// one plain key is of interest.
class JsonPath {
 public:
  [[nodiscard]] std::string_view text() const { return text_; }

  void key(std::string_view name) {
    text_.resize(inside_.back());
    if (!text_.empty()) text_ += '/';
    text_ += name.substr(0, max_key_bytes);
  }
  [[nodiscard]] bool enter(std::string_view suffix) {
    text_ += suffix;
    inside_.push_back(text_.size());
    return inside_.size() <= max_depth;
  }
  void leave(std::string_view suffix) {
    text_.resize(inside_.back() - suffix.size());
    inside_.pop_back();
  }

 private:
  std::string text_;
  std::vector<size_t> inside_;  // for each open object or array, the length of the path to it
};

/// What the parser calls. A false result ends the parsing.
class Handler final : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(JsonVisitor& visitor) : visitor_(visitor) {}

  bool null() override { return true; }
  bool boolean(bool value) override { return tell(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return tell(std::to_string(value)); }
  bool number_unsigned(uint64_t value) override { return tell(std::to_string(value)); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return true; }
  bool string(std::string& value) override { return tell(value); }
  bool binary(Json::binary_t& /*value*/) override { return false; }
  bool key(std::string& name) override {
    path_.key(name);
    return true;
  }
  bool start_object(size_t /*size*/) override { return path_.enter(""); }
  bool end_object() override {
    path_.leave("");
    return visitor_.object_ends(path_.text());
  }
  bool start_array(size_t /*size*/) override { return path_.enter("[]"); }
  bool end_array() override {
    path_.leave("[]");
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

 private:
  bool tell(const std::string& text) {
    visitor_.value(path_.text(), text);
    return true;
  }

  JsonVisitor& visitor_;
  JsonPath path_;
};

}  // namespace

KubeResult<void> walk_json(JsonStream& stream, JsonVisitor& visitor) {
  Handler handler(visitor);
  const bool complete = Json::sax_parse(JsonStreamIterator(stream), JsonStreamIterator(), &handler,
                                        nlohmann::json::input_format_t::json, /*strict=*/false);
  if (complete) return {};
  if (stream.failure()) return std::unexpected(*stream.failure());
  return kube_fail(KubeReason::malformed, "an answer is not the JSON that was asked for");
}

}  // namespace uvtap
