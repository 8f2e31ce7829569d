# Shared functions, sourced by the scripts beside it. Not a program.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# The programs to build and install, the one that users run first; the only list of them.
programs=(ffmount ffconvert ffpages ffscan ffmedia ffoffice fflayout ffarchive ffdisk ffserve ffremote ffkeep)

# Prints a message and exits the script.
die() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit "${2:-1}"
}

# Adds swift to the PATH, or prints where to get it.
need_swift() {
    PATH=$PATH:/opt/swift/usr/bin
    command -v swift >/dev/null ||
        die "Swift 6.3 or later is needed, on the PATH or in /opt/swift: see https://www.swift.org/install/linux/"
}

# Prints the packages with libheif's encoders, one in a line. Debian 12 and Ubuntu 22.04 have them in libheif itself.
heif_encoders() {
    # shellcheck source=/dev/null
    case $(. /etc/os-release && echo "$ID ${VERSION_ID:-}") in
    "debian 12" | "ubuntu 22.04") ;;
    *) printf '%s\n' libheif-plugin-aomenc libheif-plugin-x265 ;;
    esac
}

# Prints the package with 7-Zip's library. The package 7zip of Debian 12 and Ubuntu 22.04 does not have it.
seven_zip_package() {
    # shellcheck source=/dev/null
    case $(. /etc/os-release && echo "$ID ${VERSION_ID:-}") in
    "debian 12" | "ubuntu 22.04") echo p7zip-full ;;
    *) echo 7zip ;;
    esac
}

# Runs a command as root: directly, or with sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root, and there is no sudo: run as root: $*"
    fi
}

# Builds the release programs and sets $release to their folder: all, or those of a mount if $1 is `local`. One build, since
# the chain of modules of ffmount occupies one core only. If FFMOUNT_BUILT is set, it is the folder of programs that were
# built before. The programs do not contain the path of the sources.
build_release() {
    local options=(-c release --static-swift-stdlib -debug-info-format none --package-path "$root")
    if [ -n "${FFMOUNT_BUILT:-}" ]; then
        release=$(cd "$FFMOUNT_BUILT" && pwd -P)
        return
    fi
    # Functions that nothing calls are left out by the linker.
    options+=(-Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections -Xcc -fdata-sections)
    options+=(-Xcc "-ffile-prefix-map=$root=." -Xcxx "-ffile-prefix-map=$root=." -Xswiftc -file-prefix-map -Xswiftc "$root=.")
    need_swift
    FFMOUNT_PROGRAMS=${1:-all} swift build "${options[@]}" >&2
    release=$(FFMOUNT_PROGRAMS=${1:-all} swift build "${options[@]}" --show-bin-path)
}

# Strips the programs $@. Hashes of how Swift modules were built, which depend on the path of the sources, become zeros, and the
# identifier of the build is then that of the other bytes: two builds of the same sources are equal. Neither section is removed,
# since strip would drop the segment that becomes read-only (PT_GNU_RELRO) with it.
strip_programs() {
    local program size section id
    section=$(mktemp)
    strip --strip-all --remove-section=.comment "$@"
    for program; do
        size=$(objdump -h -w "$program" | awk '$2 == ".swift_modhash" { print $3 }')
        [ -z "$size" ] || {
            head -c $((16#$size)) /dev/zero >"$section"
            objcopy --update-section .swift_modhash="$section" "$program"
        }
        for id in zeros digest; do
            case $id in
            zeros) id=$(printf '%040d' 0) ;;
            digest) id=$(sha1sum <"$program" | cut -c 1-40) ;;
            esac
            # The header of a note of the type NT_GNU_BUILD_ID, with a name of 4 bytes and 20 of content.
            # shellcheck disable=SC2001 # the whole match is not at hand in ${…//}
            printf '%b' '\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0' "$(sed 's/../\\x&/g' <<<"$id")" >"$section"
            objcopy --update-section .note.gnu.build-id="$section" "$program"
        done
    done
    rm "$section"
}

# Appends to the array $build what makes `swift build` use the sanitizer $1, which may need a file in the folder $2.
build_sanitized() {
    local method
    build+=(--sanitize "$1")
    [ "$1" = thread ] || return 0
    # See the comment in the file.
    clang -c -O1 -fPIC "$root/Tests/Programs/Sanitizers/mutex.c" -o "$2/mutex.o"
    build+=(-Xlinker "$2/mutex.o")
    for method in 9_lockSlowyys6UInt32VF 12_tryLockSlowSbyF 11_unlockSlowyyF; do
        build+=(-Xlinker "--wrap=\$s15Synchronization12_MutexHandleV$method")
    done
}
