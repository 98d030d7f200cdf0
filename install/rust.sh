#!/bin/sh
# Makes sure of a cargo that is recent enough: the one in PATH, else the distribution's, else
# rustup's by way of the distribution. Prints nothing when there is nothing to do.
set -eu

NEEDED_MINOR=85 # of Rust 1

main() {
    recent_enough && exit 0
    command -v apt-get >/dev/null && as_root apt-get update -qq
    for package in cargo-web cargo; do # Debian 12 carries a current Rust under the first name
        if [ "$(candidate_minor "$package")" -ge "$NEEDED_MINOR" ]; then
            install_packages "$package" "$(echo "$package" | sed 's/cargo/rustc/')"
            optional_package "$(echo "$package" | sed 's/cargo/rustfmt/')"
            recent_enough && exit 0
        fi
    done
    if [ -n "$(apt-cache policy rustup 2>/dev/null)" ]; then
        install_packages rustup
        rustup toolchain install stable --profile minimal --component clippy --component rustfmt
        rustup default stable
        recent_enough && exit 0
    fi
    echo "wavetank: Rust 1.$NEEDED_MINOR or newer is needed. Install it from https://rustup.rs, then make install" >&2
    exit 3
}

recent_enough() {
    command -v cargo >/dev/null && [ "$(minor "$(cargo --version 2>/dev/null)")" -ge "$NEEDED_MINOR" ]
}

minor() {
    found=$(echo "$1" | sed -n 's/^[^0-9]*1\.\([0-9]*\)\..*/\1/p')
    echo "${found:-0}"
}

candidate_minor() {
    minor "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/.*Candidate: \([0-9].*\)/\1/p')"
}

install_packages() {
    echo "wavetank: installing with apt: $*"
    log=$(mktemp -t wavetank-apt-XXXXXX.log)
    as_root apt-get install -y -qq --no-install-recommends "$@" </dev/null >"$log" 2>&1 || {
        tail -5 "$log" >&2
        echo "wavetank: apt could not install: $*. The whole log: $log" >&2
        exit 3
    }
    rm -f "$log"
}

# rustfmt serves `make check` alone. Debian has no clippy of the version of its cargo-web.
optional_package() {
    as_root apt-get install -y -qq --no-install-recommends "$1" </dev/null >/dev/null 2>&1 || true
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

main
