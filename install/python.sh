#!/bin/sh
# Makes `.venv` in the checkout with the package in editable form: `python.sh EXTRA...`.
# A stamp named by the digest of what it was made from makes the second call instant.
set -eu

cd "$(dirname "$0")/.."

main() {
    python=$(newest_python) || {
        echo "wavetank: Python 3.11 or newer is needed. Try: sudo apt-get install python3 python3-venv" >&2
        exit 3
    }
    for extra in "$@"; do
        stamp=".venv/.wavetank-$extra-$(digest "$python")"
        [ -e "$stamp" ] && continue
        make_environment
        echo "wavetank: installing Python packages into .venv ($extra)"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$extra]"
        rm -f ".venv/.wavetank-$extra-"*
        : >"$stamp"
    done
}

newest_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    return 1
}

digest() {
    { "$1" --version && cat pyproject.toml install/python.sh; } | sha256sum | cut -c1-16
}

make_environment() {
    [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 && return
    "$python" -c 'import ensurepip, venv' 2>/dev/null || sh install/packages.sh venv
    rm -rf .venv
    "$python" -m venv .venv
}

main "$@"
