# SPDX-License-Identifier: Apache-2.0
# What uvtap needs of Debian 12, and how to have it. To be sourced.

build_packages=(
  ca-certificates cmake g++ ninja-build pkg-config
  clang-19 bpftool libbpf-dev libelf-dev zlib1g-dev            # BPF
  libcli11-dev libcurl4-openssl-dev libgnutls28-dev libmicrohttpd-dev libspdlog-dev nlohmann-json3-dev prometheus-cpp-dev
)
test_packages=(
  catch2 clang-format-19 clang-tidy-19 libclang-rt-19-dev      # unit tests, style, sanitizers
  binutils curl mmdebstrap openssl python3 util-linux xz-utils  # what the end-to-end tests run
  python3-yaml                                                 # the rules, scrape jobs and ScaledObjects
  buildah runc                                                 # the image, and containers
  busybox-static golang-github-containers-common               # what containers consist of
  iproute2                                                     # a network for the quickstart alone
  bpftrace                                                     # what scripts/overhead compares with
  cpio kmod qemu-system-x86                                    # other kernels
)

is_installed() {
  [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = "install ok installed" ]
}

# install_missing PACKAGE...: installs what is not there yet; needs root only then.
install_missing() {
  local package missing=()
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "these packages are missing; run this once as root, or: apt-get install ${missing[*]}" >&2
    return 1
  fi
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# install_npm: Node.js and npm, from Debian unless the machine has them from elsewhere.
install_npm() {
  command -v node >/dev/null && command -v npm >/dev/null && return 0
  install_missing nodejs npm
}
