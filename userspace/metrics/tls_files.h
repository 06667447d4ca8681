// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "userspace/util/result.h"
#include "userspace/util/secret_file.h"

namespace uvtap {

/// A server's certificate, followed by those that lead to its issuer, and its private key: two PEM
/// files that may change while uvtap runs.
class TlsFiles {
 public:
  /// Fails unless both can be read and belong together. A key that everybody may read is warned of.
  static Result<TlsFiles> read(std::string certificate_path, std::string key_path);

  [[nodiscard]] const std::string& certificate() const { return certificate_.text; }
  [[nodiscard]] const std::string& key() const { return key_.text; }

  /// Whether a file is another one than at the last read() or renew().
  [[nodiscard]] bool changed() const;
  /// Reads both again; on failure what was read before stays.
  Result<void> renew();

 private:
  TlsFiles(std::string certificate_path, std::string key_path);

  std::string certificate_path_;
  std::string key_path_;
  SecretText certificate_;
  SecretText key_;
  FileStamp seen_certificate_;
  FileStamp seen_key_;
};

}  // namespace uvtap
