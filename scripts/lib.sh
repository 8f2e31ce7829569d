# Shared by the scripts beside it, which source it. Not a program.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# The programs that are built and installed: the one list of them.
programs=(ffmount ffconvert ffpages)

# Says one sentence and ends the script.
die() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit "${2:-1}"
}

# Puts swift on the PATH, or says where to get it.
need_swift() {
    PATH=$PATH:/opt/swift/usr/bin
    command -v swift >/dev/null ||
        die "Swift 6.3 or later is needed, on the PATH or in /opt/swift: see https://www.swift.org/install/linux/"
}

# Runs a command as root: at once, or by sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root, and there is no sudo: run as root: $*"
    fi
}

# Builds the release programs, and names their folder in $release.
build_release() {
    local program options=(-c release --static-swift-stdlib --package-path "$root")
    need_swift
    for program in "${programs[@]}"; do
        swift build "${options[@]}" --product "$program" >&2
    done
    release=$(swift build "${options[@]}" --show-bin-path)
}
