// SPDX-License-Identifier: Apache-2.0
#include "userspace/metrics/tls_files.h"

#include <gnutls/gnutls.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

namespace uvtap {
namespace {

/// A chain of a few certificates has some 10 kB.
constexpr size_t max_pem_bytes = 262'144;

struct FreeCredentials {
  void operator()(gnutls_certificate_credentials_t credentials) const {
    gnutls_certificate_free_credentials(credentials);
  }
};
using Credentials =
    std::unique_ptr<std::remove_pointer_t<gnutls_certificate_credentials_t>, FreeCredentials>;

gnutls_datum_t datum(const std::string& text) {
  // The library only reads it.
  return {reinterpret_cast<unsigned char*>(const_cast<char*>(text.data())),
          static_cast<unsigned>(text.size())};
}

/// By the library that is going to use them.
Result<void> check_pair(const std::string& certificate, const std::string& key) {
  gnutls_certificate_credentials_t made = nullptr;
  if (gnutls_certificate_allocate_credentials(&made) != GNUTLS_E_SUCCESS)
    return fail("no memory for TLS");
  const Credentials credentials(made);
  const gnutls_datum_t certificate_pem = datum(certificate);
  const gnutls_datum_t key_pem = datum(key);
  const int error = gnutls_certificate_set_x509_key_mem(credentials.get(), &certificate_pem,
                                                        &key_pem, GNUTLS_X509_FMT_PEM);
  if (error == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) return fail("they do not belong together");
  if (error < 0) return fail("{}", gnutls_strerror(error));
  return {};
}

}  // namespace

TlsFiles::TlsFiles(std::string certificate_path, std::string key_path)
    : certificate_path_(std::move(certificate_path)), key_path_(std::move(key_path)) {}

Result<TlsFiles> TlsFiles::read(std::string certificate_path, std::string key_path) {
  TlsFiles files(std::move(certificate_path), std::move(key_path));
  if (auto done = files.renew(); !done) return std::unexpected(done.error());
  if (files.key_.readable_by_all)
    spdlog::warn("every user of this machine may read the TLS key {}: chmod o-r", files.key_path_);
  return files;
}

bool TlsFiles::changed() const {
  return stamp_of(certificate_path_) != seen_certificate_ || stamp_of(key_path_) != seen_key_;
}

Result<void> TlsFiles::renew() {
  seen_certificate_ = stamp_of(certificate_path_);
  seen_key_ = stamp_of(key_path_);
  auto certificate = read_secret_file(certificate_path_, max_pem_bytes);
  if (!certificate) return fail("the TLS certificate: {}", certificate.error().message);
  auto key = read_secret_file(key_path_, max_pem_bytes);
  if (!key) return fail("the TLS key: {}", key.error().message);
  if (auto fits = check_pair(certificate->text, key->text); !fits)
    return fail("the TLS certificate {} and the key {} cannot be used: {}", certificate_path_,
                key_path_, fits.error().message);
  certificate_ = std::move(*certificate);
  key_ = std::move(*key);
  return {};
}

}  // namespace uvtap
