# system.sh - a bare Debian in a folder, for the scripts of this folder, which source it.
# shellcheck shell=sh disable=SC2034,SC2154
# They set run=0 and failed=0 before.

skip_all() { echo "1..0 # SKIP $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip_all 'a bare system is made as root'
command -v debootstrap >/dev/null || skip_all 'there is no debootstrap'
unshare -m true 2>/dev/null || skip_all 'nothing may be mounted here'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# COMMAND: in the system, in the clone, with nothing of this machine's environment.
inside() {
    unshare -m sh -c '
        mount --make-rprivate / && mount -t proc proc "$1/proc" &&
            mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts" || exit 125
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            chroot "$1" sh -c "cd /root/streamlab 2>/dev/null; $2"' sh "$system" "$1" \
        </dev/null >"$work/said" 2>&1
}

# NAME COMMAND: the command ends with status 0; how long it took, and its end if it did not.
check() {
    run=$((run + 1))
    start=$(date +%s)
    if inside "$2"; then
        echo "ok $run - $suite: $1"
    else
        echo "not ok $run - $suite: $1 (status $?)"
        grep -v ' ok$' "$work/said" | tail -n 40 | sed 's/^/# /'
        failed=1
    fi
    echo "# $(($(date +%s) - start)) s"
}

# SUITE: sets `suite`, and `system` to the folder of a minbase system that has nothing added: a copy of
# $BARE_SYSTEMS/SUITE, where that is one, for who runs this often.
make_system() {
    suite=$1
    system=$work/$suite
    if [ -x "${BARE_SYSTEMS:-}/$suite/bin/sh" ]; then
        cp -a "$BARE_SYSTEMS/$suite" "$system" && return
    fi
    debootstrap --variant=minbase "$suite" "$system" >"$work/said" 2>&1 ||
        { tail -n 3 "$work/said" | sed 's/^/# /'; skip_all "debootstrap cannot make $suite"; }
}
