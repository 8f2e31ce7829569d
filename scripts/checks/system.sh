# Fresh systems, in which checks try what is built. Sourced by the checks beside it. Not a program.
#
# The check sets `suite` and `system`, the folder of a system in $roots, `folder`, which is /packages there, and `limit`,
# the maximum number of seconds of a run.
# shellcheck shell=bash disable=SC2154

# A system is kept there for a week, and used unchanged.
roots=/var/tmp/ffmount-roots
check=$(basename "$0")

skip() {
    echo "$check: skipped: $1"
    exit 0
}

# Prints what is done, and the seconds since the start.
step() { printf '%s: %3d s: %s\n' "$check" "$SECONDS" "$1"; }

# Prints what debootstrap has to know of Ubuntu's releases besides the folder; nothing for Debian's.
ubuntu() {
    case $suite in
    jammy | noble) echo http://archive.ubuntu.com/ubuntu gutsy ;;
    esac
}

# Makes the system that all runs start from.
make_system() {
    local options=(--variant=minbase) keys=$roots/ubuntu-archive-keyring.gpg
    [ -z "$(find "$system" -maxdepth 0 -mtime +7 2>/dev/null)" ] || rm -rf --one-file-system "$system"
    [ ! -d "$system" ] || return 0
    mkdir -p "$roots"
    if [ -n "$(ubuntu)" ]; then
        [ -e "$keys" ] || fetch_keys "$keys"
        options+=("--components=main,universe" "--keyring=$keys")
    fi
    step "debootstrap $suite"
    rm -rf --one-file-system "$system.new"
    # shellcheck disable=SC2046 # two words
    {
        timeout 900 debootstrap "${options[@]}" "$suite" "$system.new" $(ubuntu) >"$roots/$suite.log" 2>&1 &&
            cp /etc/resolv.conf "$system.new/etc/resolv.conf" &&
            timeout 120 chroot "$system.new" apt-get -qq update >>"$roots/$suite.log" 2>&1
    } || skip "debootstrap could not make $suite: $(tail -n 1 "$roots/$suite.log")"
    # debootstrap keeps the times of the archive's files.
    touch "$system.new"
    mv "$system.new" "$system"
}

# Writes the keys of Ubuntu's archive, which Debian 13 has and Debian 12 does not.
fetch_keys() {
    local debian=$roots/trixie
    (suite=trixie system=$debian make_system)
    timeout 300 chroot "$debian" sh -c 'cd /tmp && apt-get -qq download ubuntu-keyring' >&2
    dpkg-deb --fsys-tarfile "$debian"/tmp/ubuntu-keyring_*.deb |
        tar -xO ./usr/share/keyrings/ubuntu-archive-keyring.gpg >"$1"
    rm "$debian"/tmp/ubuntu-keyring_*.deb
}

# Makes a fresh copy of the system, whose changes go into the folder $1, and goes there. Called in mount and process
# namespaces of its own, which end with it, and all mounts and processes with them.
prepare_system() {
    local work=$1
    mkdir -p "$work"/{upper,layer,root}
    mount -t overlay -o "lowerdir=$system,upperdir=$work/upper,workdir=$work/layer" overlay "$work/root"
    cd "$work/root"
    mkdir -p old packages sample
    mount -t proc proc proc
    mount -t tmpfs -o mode=755 tmpfs dev
    ln -s /proc/self/fd dev/fd
    # Bound devices would keep the permissions that they have here.
    mknod -m 666 dev/fuse c 10 229
    mknod -m 666 dev/null c 1 3
    mknod -m 666 dev/zero c 1 5
    mknod -m 666 dev/urandom c 1 9
    # systemd makes it.
    ln -sf ../proc/self/mounts etc/mtab
    mkdir -p "$roots/archives"
    mount --bind "$roots/archives" var/cache/apt/archives
    mount --bind "$folder" packages
    mount --bind "$root/scripts/sample" sample
}

# Makes the system the root of this process.
enter_system() {
    pivot_root . old
    cd /
    export TMPDIR=/tmp
    umount -l /old
    rmdir /old
}

# Runs apt-get. Several systems share the folder of downloaded packages, which apt-get locks and does not wait for.
apt() {
    DEBIAN_FRONTEND=noninteractive flock /var/cache/apt/archives/turn \
        apt-get -qq -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io \
        --yes --no-install-recommends "$@" </dev/null >/tmp/apt.log 2>&1 || {
        # What the packages ask for and is not to be had is their fault; that nobody answers is not.
        ! grep -qE "Failed to fetch|Could not (connect|resolve)|Temporary failure" /tmp/apt.log ||
            skip "packages cannot be fetched: $(grep -m 1 -E '^(E|W|Err)' /tmp/apt.log)"
        tail -n 20 /tmp/apt.log >&2
        die "apt-get $* failed"
    }
}

# Makes the system the root of this process, with the sources in /src and Swift and all that it needs. Called where
# prepare_system went, after need_swift.
enter_to_build() {
    mkdir -p opt/swift src/.build
    mount --bind "$(dirname "$(dirname "$(dirname "$(realpath "$(command -v swift)")")")")" opt/swift
    find src -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
    tar -C "$root" --exclude=./.build -c . | tar -C src -x
    # What is fetched from elsewhere, which a fresh clone does not have yet.
    [ -e "$root/.build/workspace-state.json" ] || swift package --package-path "$root" resolve
    cp -a "$root"/.build/{checkouts,repositories,workspace-state.json} src/.build/
    enter_system
    # The compiler's own libraries and linker, which older systems have in binutils.
    step "installing what builds need in $suite"
    apt install binutils ca-certificates git libcurl4 libncurses6 libxml2 zlib1g-dev
    command -v ld.gold >/dev/null || apt install binutils-gold
}

# Writes an image of a file system with the file hello.txt to $2, by the folder $1, which is made.
disk() {
    mkdir "$1"
    echo "Hello from a disk" >"$1/hello.txt"
    PATH=$PATH:/usr/sbin:/sbin mke2fs -q -t ext4 -O ^has_journal -d "$1" "$2" 1M
}

# A PDF of one page, whose text needs a font of the system.
note() {
    local text="BT /F1 24 Tf 72 700 Td (Hello from a PDF) Tj ET"
    cat <<EOF
%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R
/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj
4 0 obj << /Length ${#text} >> stream
$text
endstream endobj
trailer << /Root 1 0 R >>
EOF
}

# Runs the function $1 of the check in namespaces of its own. The rest is for the process of the check that does so.
inside() {
    timeout --kill-after=10 "$limit" unshare --mount --pid --fork --kill-child --propagation slave \
        "$root/scripts/checks/$check" --inside "$1" --suite "$suite" "${@:2}"
}

# Mounts what a fresh system does, in a namespace that ends with it.
# shellcheck disable=SC2317 # run by another shell
try_mounts() {
    mount -t tmpfs tmpfs "$1" && cd "$1" && mkdir lower upper layer root && mknod -m 666 upper/fuse c 10 229 &&
        mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=layer overlay root && : <>root/fuse
}

# Prints why there can be no fresh system; $1 is an empty folder.
hindrance() {
    if [ "$(id -u)" != 0 ]; then
        echo "a fresh system needs root"
    elif ! (: <>/dev/fuse) 2>/dev/null; then
        echo "/dev/fuse is not there, or may not be opened"
    elif ! unshare --mount --pid --fork --propagation slave bash -c "$(declare -f try_mounts); try_mounts $1" 2>/dev/null; then
        echo "file systems may not be mounted here, or devices not be made"
    fi
}

