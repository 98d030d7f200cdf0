#!/bin/sh
# Installs the distribution's packages that Wavetank uses: `packages.sh [GROUP...]`, groups
# kernel, storage, browser, venv, bench, test, object (default: the first three). Only this script needs
# root, and takes it through sudo for that alone.
#
# Daemons run inside guests, never on this machine: a service that comes with a package is
# kept from starting during the installation, and disabled where the package is new here.
# What was installed before is left exactly as it is.
set -eu

POLICY=/usr/sbin/policy-rc.d
DAEMON_PACKAGES="nfs-kernel-server nfs-common rpcbind open-iscsi nvme-cli memcached redis-server"
MARK="wavetank: no service starts while its installer runs"

main() {
    [ "$(uname -m)" = x86_64 ] || fail "Wavetank runs on x86-64 so far, and this is $(uname -m)"
    command -v apt-get >/dev/null ||
        fail "this machine has no apt. Install the equivalents of: $(wanted "$@" | xargs)"
    missing=$(missing_of "$(wanted "$@")")
    [ -n "$missing" ] || exit 0
    become_root
    echo "wavetank: installing with apt: $missing"
    echo "wavetank: (their services stay off on this machine; only guests run them)"
    $SUDO apt-get update -qq || true # an old list may still do
    missing=$(missing_of "$(wanted "$@")")
    new=$(missing_of "$DAEMON_PACKAGES")
    forbid_service_starts
    # shellcheck disable=SC2086
    $SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        $missing </dev/null >"$log" 2>&1 || {
        tail -5 "$log" >&2
        fail "apt could not install: $missing. The whole log: $log"
    }
    disable_services "$new"
    rm -f "$log"
}

wanted() {
    [ $# -gt 0 ] || set -- kernel storage browser
    for group in "$@"; do
        case $group in
        kernel) echo "build-essential flex bison bc xz-utils $(kernel_source)" ;;
        storage) echo "nfs-kernel-server rpcbind open-iscsi dmsetup nvme-cli e2fsprogs xfsprogs" ;;
        browser) browser ;;
        venv) echo "python3-venv" ;;
        bench) echo "fio" ;;
        test) echo "tshark iperf3" ;;
        object) echo "s3fs fuse3 memcached redis-server" ;;
        *) fail "unknown group of packages: $group" ;;
        esac
    done
}

# The source the patches are made for where the distribution has it, else its own.
kernel_source() {
    if installable linux-source-6.12; then echo linux-source-6.12; else echo linux-source; fi
}

# Ubuntu's chromium packages only lead to a snap; it is called the same and does as well.
browser() {
    if installable chromium; then echo "chromium"; else echo "chromium-browser"; fi
}

installable() {
    installed "$1" || apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'
}

installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# A list of packages is only as good as apt's lists: on a new machine they are empty.
missing_of() {
    for name in $1; do
        installed "$name" || printf '%s ' "$name"
    done
}

become_root() {
    log=$(mktemp -t wavetank-apt-XXXXXX.log)
    if [ "$(id -u)" = 0 ]; then
        SUDO=""
    elif command -v sudo >/dev/null; then
        SUDO="sudo"
        echo "wavetank: asking sudo for the packages, and for nothing else"
    else
        fail "installing packages needs root, and there is no sudo. As root: apt-get install $missing"
    fi
}

# Debian's interface for that is /usr/sbin/policy-rc.d (invoke-rc.d(8)), 101 meaning "no". Ours
# says no only while this process lives, so that one left behind by a crash forbids nothing.
forbid_service_starts() {
    if [ -e "$POLICY" ] && ! grep -q "$MARK" "$POLICY"; then
        echo "wavetank: this machine has a $POLICY of its own; it decides which services start"
        return
    fi
    printf '#!/bin/sh\n# %s\n[ -d /proc/%s ] && exit 101\nexit 0\n' "$MARK" "$$" |
        $SUDO tee "$POLICY" >/dev/null
    $SUDO chmod 755 "$POLICY"
    trap '$SUDO rm -f "$POLICY"' EXIT
    trap 'exit 130' INT TERM HUP
}

# $1: packages that were not here before. Some come as dependencies of those asked for.
disable_services() {
    command -v systemctl >/dev/null || return 0
    for package in $1; do
        installed "$package" || continue
        units=$(dpkg -L "$package" |
            sed -n 's,.*/systemd/system/\([^/@]*\.\(service\|socket\|target\)\)$,\1,p')
        # shellcheck disable=SC2086
        [ -z "$units" ] || $SUDO systemctl disable --quiet $units >/dev/null 2>&1 || true
    done
}

fail() {
    echo "wavetank: $*" >&2
    exit 3
}

main "$@"
