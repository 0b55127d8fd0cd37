/* calls.c - tries system calls, for 58-confine.t.lua.
 *
 * A Lua module, built to build/tests/repl/calls.so. Each call gets arguments with which it does
 * nothing, whether it is refused or not: descriptor -1, address 1, flags that do not exist.
 *
 *   local calls = require "calls"
 *   calls.try_all()       {refused = {}, missing = {}, allowed = {}}, tables of what became of
 *                         each by its name: "done", "EPERM", "ENOSYS" or "other"; what they
 *                         are called is what they should be. nil where none is known.
 *   calls.thread()        whether a thread can be started
 *   calls.keep_thread()   starts one that stays
 *   calls.descriptors()   how many are open
 *   calls.duplicate()     whether there can be another one
 *   calls.end_time()      soon, the signal comes that ends the processor time
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <lauxlib.h>
#include <lua.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

int luaopen_calls(lua_State *L);

#ifdef __linux__

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { BAD = 1, MOST_ARGUMENTS = 4, PARENT = -4711, SELF = -4712 };

typedef struct trial {
    const char *name;
    long call, arguments[MOST_ARGUMENTS];
} trial;

static const trial refused[] = {
    { "openat", SYS_openat, { AT_FDCWD, BAD, O_RDONLY } },
    { "openat O_CREAT", SYS_openat, { AT_FDCWD, BAD, O_WRONLY | O_CREAT, 0 } },
    { "openat O_TRUNC", SYS_openat, { AT_FDCWD, BAD, O_WRONLY | O_TRUNC, 0 } },
    { "openat O_TMPFILE", SYS_openat, { AT_FDCWD, BAD, O_WRONLY | O_TMPFILE, 0 } },
    { "openat2", 437, { AT_FDCWD, BAD, BAD, 24 } },
#ifdef __x86_64__
    { "open", SYS_open, { BAD, O_RDONLY } },
    { "open O_CREAT", SYS_open, { BAD, O_CREAT, 0 } },
    { "creat", SYS_creat, { BAD, 0 } },
    { "unlink", SYS_unlink, { BAD } },
    { "rename", SYS_rename, { BAD, BAD } },
    { "link", SYS_link, { BAD, BAD } },
    { "symlink", SYS_symlink, { BAD, BAD } },
    { "mkdir", SYS_mkdir, { BAD, 0 } },
    { "rmdir", SYS_rmdir, { BAD } },
    { "mknod", SYS_mknod, { BAD, 0, 0 } },
    { "chmod", SYS_chmod, { BAD, 0 } },
    { "chown", SYS_chown, { BAD, 0, 0 } },
    { "lchown", SYS_lchown, { BAD, 0, 0 } },
    { "utime", SYS_utime, { BAD, BAD } },
    { "utimes", SYS_utimes, { BAD, BAD } },
    { "fork", SYS_fork, { 0 } },
    { "iopl", SYS_iopl, { 9 } },
    { "x32 getpid", 0x40000000 | SYS_getpid, { 0 } },
#endif
    { "open_by_handle_at", SYS_open_by_handle_at, { -1, BAD, 0 } },
    { "name_to_handle_at", SYS_name_to_handle_at, { -1, BAD, BAD, BAD } },
    { "unlinkat", SYS_unlinkat, { -1, BAD, 0 } },
    { "renameat2", SYS_renameat2, { -1, BAD, -1, BAD } },
    { "linkat", SYS_linkat, { -1, BAD, -1, BAD } },
    { "symlinkat", SYS_symlinkat, { BAD, -1, BAD } },
    { "mkdirat", SYS_mkdirat, { -1, BAD, 0 } },
    { "mknodat", SYS_mknodat, { -1, BAD, 0, 0 } },
    { "fchmod", SYS_fchmod, { -1, 0 } },
    { "fchmodat", SYS_fchmodat, { -1, BAD, 0 } },
    { "fchown", SYS_fchown, { -1, 0, 0 } },
    { "fchownat", SYS_fchownat, { -1, BAD, 0, 0 } },
    { "truncate", SYS_truncate, { BAD, 0 } },
    { "ftruncate", SYS_ftruncate, { -1, 0 } },
    { "fallocate", SYS_fallocate, { -1, 0, 0, 1 } },
    { "utimensat", SYS_utimensat, { -1, BAD, BAD, 0 } },
    { "setxattr", SYS_setxattr, { BAD, BAD, BAD, 0 } },
    { "fsetxattr", SYS_fsetxattr, { -1, BAD, BAD, 0 } },
    { "removexattr", SYS_removexattr, { BAD, BAD } },
    { "chdir", SYS_chdir, { BAD } },
    { "fchdir", SYS_fchdir, { -1 } },
    { "chroot", SYS_chroot, { BAD } },
    { "acct", SYS_acct, { BAD } },
    { "memfd_create", SYS_memfd_create, { BAD, 0 } },
    { "inotify_init1", SYS_inotify_init1, { -1 } },
    { "fanotify_init", SYS_fanotify_init, { -1, -1 } },
    { "mount", SYS_mount, { BAD, BAD, BAD, 0 } },
    { "umount2", SYS_umount2, { BAD, 0 } },
    { "pivot_root", SYS_pivot_root, { BAD, BAD } },
    { "open_tree", 428, { -1, BAD, 0 } },
    { "fsopen", 430, { BAD, 0 } },
    { "mount_setattr", 442, { -1, BAD } },
    { "swapon", SYS_swapon, { BAD, 0 } },
    { "quotactl", SYS_quotactl, { -1, BAD, 0, BAD } },
    { "socket", SYS_socket, { -1, 0, 0 } },
    { "socketpair", SYS_socketpair, { -1, 0, 0, BAD } },
    { "connect", SYS_connect, { -1, BAD, 16 } },
    { "bind", SYS_bind, { -1, BAD, 16 } },
    { "listen", SYS_listen, { -1, 1 } },
    { "accept", SYS_accept, { -1, BAD, BAD } },
    { "accept4", SYS_accept4, { -1, BAD, BAD, 0 } },
    { "sendto", SYS_sendto, { -1, BAD, 1, 0 } },
    { "sendmsg", SYS_sendmsg, { -1, BAD, 0 } },
    { "recvfrom", SYS_recvfrom, { -1, BAD, 1, 0 } },
    { "execve", SYS_execve, { BAD, BAD, BAD } },
    { "execveat", SYS_execveat, { -1, BAD, BAD, BAD } },
    { "clone", SYS_clone, { SIGCHLD, 0 } },
    { "unshare", SYS_unshare, { 0x800 } },
    { "setns", SYS_setns, { -1, 0 } },
    { "setpgid", SYS_setpgid, { -1, -1 } },
    { "personality", SYS_personality, { 0xffffffff } },
    { "pidfd_open", 434, { -1, 0 } },
    { "pidfd_send_signal", 424, { -1, 0, 0, 0 } },
    { "pidfd_getfd", 438, { -1, 0, 0 } },
    { "ptrace", SYS_ptrace, { 16, -1, 0, 0 } },
    { "process_vm_readv", SYS_process_vm_readv, { -1, BAD, 1, BAD } },
    { "process_vm_writev", SYS_process_vm_writev, { -1, BAD, 1, BAD } },
    { "kill", SYS_kill, { PARENT, 0 } },
    { "kill all", SYS_kill, { -1, 0 } },
    { "kill group", SYS_kill, { 0, 0 } },
    { "tkill", SYS_tkill, { PARENT, 0 } },
    { "tgkill", SYS_tgkill, { PARENT, PARENT, 0 } },
    { "rt_sigqueueinfo", SYS_rt_sigqueueinfo, { PARENT, 0, BAD } },
    { "sched_setaffinity", SYS_sched_setaffinity, { PARENT, 0, BAD } },
    { "setpriority", SYS_setpriority, { 99, 0, 0 } },
    { "F_SETOWN", SYS_fcntl, { -1, F_SETOWN, 1 } },
    { "TIOCSTI", SYS_ioctl, { -1, TIOCSTI, BAD } },
    { "setrlimit", SYS_setrlimit, { RLIMIT_CPU, BAD } },
    { "prlimit64", SYS_prlimit64, { 0, RLIMIT_CPU, BAD, 0 } },
    { "PR_SET_PDEATHSIG", SYS_prctl, { PR_SET_PDEATHSIG, 999 } },
    { "setuid", SYS_setuid, { -1 } },
    { "setgid", SYS_setgid, { -1 } },
    { "setresuid", SYS_setresuid, { -1, -1, -1 } },
    { "setgroups", SYS_setgroups, { -1, BAD } },
    { "capset", SYS_capset, { BAD, BAD } },
    { "keyctl", SYS_keyctl, { 999 } },
    { "add_key", SYS_add_key, { BAD, BAD, BAD, 1 } },
    { "request_key", SYS_request_key, { BAD, BAD, BAD } },
    { "shmget", SYS_shmget, { 1, 0, 0 } },
    { "shmat", SYS_shmat, { -1, 0, 0 } },
    { "msgget", SYS_msgget, { 1, 0 } },
    { "msgsnd", SYS_msgsnd, { -1, BAD, 1, 0 } },
    { "semget", SYS_semget, { 1, -1, 0 } },
    { "semop", SYS_semop, { -1, BAD, 1 } },
    { "mq_open", SYS_mq_open, { BAD, 0, 0, BAD } },
    { "mq_unlink", SYS_mq_unlink, { BAD } },
    { "bpf", SYS_bpf, { 999, BAD, 0 } },
    { "perf_event_open", SYS_perf_event_open, { BAD, 0, -1, -1 } },
    { "userfaultfd", SYS_userfaultfd, { -1 } },
    { "io_uring_setup", 425, { 0, BAD } },
    { "io_uring_enter", 426, { -1, 0, 0, 0 } },
    { "io_uring_register", 427, { -1, 0, BAD, 0 } },
    { "io_submit", SYS_io_submit, { 0, 1, BAD } },
    { "init_module", SYS_init_module, { BAD, 1, BAD } },
    { "finit_module", SYS_finit_module, { -1, BAD, 0 } },
    { "delete_module", SYS_delete_module, { BAD, 0 } },
    { "kexec_load", SYS_kexec_load, { 0, 99, BAD, -1 } },
    { "reboot", SYS_reboot, { 0, 0, 0, 0 } },
    { "sethostname", SYS_sethostname, { BAD, 4 } },
    { "settimeofday", SYS_settimeofday, { BAD, 0 } },
    { "clock_settime", SYS_clock_settime, { 0, BAD } },
    { "adjtimex", SYS_adjtimex, { BAD } },
    { "syslog", SYS_syslog, { 999, 0, 0 } },
};

/* These are as on a system that lacks them. */
static const trial missing[] = {
    { "clone3", 435, { BAD, 88 } },
    { "fchmodat2", 452, { -1, BAD, 0, 0 } },
    { "setxattrat", 463, { -1, BAD, 0, BAD } },
    { "a call of tomorrow", 599, { 0 } },
};

static const trial allowed[] = {
    { "kill itself", SYS_kill, { SELF, 0 } },
    { "tgkill itself", SYS_tgkill, { SELF, SELF, 0 } },
    { "reading a limit", SYS_prlimit64, { 0, RLIMIT_CPU, 0, 0 } },
    { "reading flags", SYS_fcntl, { 1, F_GETFL } },
};

static const struct {
    const char *name;
    const trial *trials;
    size_t n;
} lists[] = {
    { "refused", refused, sizeof refused / sizeof refused[0] },
    { "missing", missing, sizeof missing / sizeof missing[0] },
    { "allowed", allowed, sizeof allowed / sizeof allowed[0] },
};

static long argument(const trial *t, int i)
{
    long value = t->arguments[i];
    return value == PARENT ? getppid() : value == SELF ? getpid() : value;
}

/* A process that comes of it ends at once. */
static const char *try_one(const trial *t)
{
    pid_t before = getpid();
    long got = syscall(t->call, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), 0,
                       0);
    int error = errno;
    if ((pid_t)syscall(SYS_getpid) != before) _exit(0);
    return got >= 0 ? "done" : error == EPERM ? "EPERM" : error == ENOSYS ? "ENOSYS" : "other";
}

/* Pushes {name = result} of the trials of a list. */
static void push_results(lua_State *L, const trial *trials, size_t n)
{
    lua_newtable(L);
    for (size_t i = 0; i < n; i++) {
        lua_pushstring(L, try_one(&trials[i]));
        lua_setfield(L, -2, trials[i].name);
    }
}

static int try_all(lua_State *L)
{
    lua_newtable(L);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        push_results(L, lists[i].trials, lists[i].n);
        lua_setfield(L, -2, lists[i].name);
    }
    return 1;
}

#else

static int try_all(lua_State *L)
{
    lua_pushnil(L);
    return 1;
}

#endif

static void *do_nothing(void *argument) { return argument; }

/* thread(): whether one can be started. */
static int start_thread(lua_State *L)
{
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, do_nothing, NULL) == 0;
    if (started) pthread_join(thread, NULL);
    lua_pushboolean(L, started);
    return 1;
}

static void *pause_for_ever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static int keep_thread(lua_State *L)
{
    pthread_t thread;
    lua_pushboolean(L, pthread_create(&thread, NULL, pause_for_ever, NULL) == 0);
    return 1;
}

/* descriptors(): how many there are below 256. */
static int descriptors(lua_State *L)
{
    lua_Integer n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    lua_pushinteger(L, n);
    return 1;
}

/* duplicate(): whether there can be another descriptor, which stays open. */
static int duplicate(lua_State *L)
{
    lua_pushboolean(L, dup(STDERR_FILENO) >= 0);
    return 1;
}

static void on_alarm(int number)
{
    (void)number;
    raise(SIGXCPU);
}

/* end_time(): soon, the signal comes that the system sends when the processor time is over. */
static int end_time(lua_State *L)
{
    const struct itimerval soon = { .it_value = { .tv_usec = 50000 } };
    (void)L;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    return 0;
}

int luaopen_calls(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "try_all", try_all },
        { "thread", start_thread },
        { "descriptors", descriptors },
        { "duplicate", duplicate },
        { "end_time", end_time },
        { "keep_thread", keep_thread },
        { NULL, NULL },
    };
    luaL_newlib(L, functions);
    return 1;
}
