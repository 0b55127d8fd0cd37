/* syscalls.c - refuses system calls for the rest of this process's life, with libseccomp.
 *
 * The tables list what is allowed; all else fails with EPERM, so that what was refused shows as an
 * error where it was tried. Calls that are newer than the tables fail with ENOSYS, as on an older
 * system: the C library then does without them.
 *
 * A filter sees the values in registers, not the memory that they point to. So a call whose flags
 * are in memory (openat2, clone3) is refused as a whole. Of an int the kernel reads the lower half
 * of the register, and so do these rules: otherwise a bit in the upper half would get past them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CLONE_THREAD, O_TMPFILE */
#endif
#include "syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Always allowed, where the architecture has them. */
static const char *const plain[] = {
    /* memory */
    "brk",
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "mlock",
    "mlock2",
    "munlock",
    "msync",
    "mincore",
    "membarrier",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    /* files that are open, and what is known of others */
    "read",
    "readv",
    "pread64",
    "preadv",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "lseek",
    "close",
    "close_range",
    "fstat",
    "newfstatat",
    "stat",
    "lstat",
    "statx",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    /* threads */
    "exit",
    "exit_group",
    "futex",
    "set_robust_list",
    "get_robust_list",
    "set_tid_address",
    "rseq",
    "arch_prctl",
    "gettid",
    "sched_yield",
    "sched_getaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "getcpu",
    /* time and signals */
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "times",
    "getrusage",
    "getitimer",
    "setitimer",
    "alarm",
    "pause",
    "restart_syscall",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigpending",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "rt_sigreturn",
    "sigaltstack",
    /* what the process may know of itself and the system */
    "getpid",
    "getppid",
    "getpgrp",
    "getpgid",
    "getsid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getgroups",
    "getrlimit",
    "getpriority",
    "getrandom",
    "uname",
    "sysinfo",
};

/* Also allowed with a GPU: its driver reads files and waits for events all the time. */
static const char *const driver[] = {
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getcwd",
    "getdents",
    "getdents64",
    "statfs",
    "fstatfs",
    "fadvise64",
    "flock",
    "dup",
    "dup2",
    "dup3",
    "pipe",
    "pipe2",
    "eventfd",
    "eventfd2",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "timer_create",
    "timer_settime",
    "timer_gettime",
    "timer_getoverrun",
    "timer_delete",
    "signalfd",
    "signalfd4",
    "mbind",
    "get_mempolicy",
    "set_mempolicy",
    "sched_getattr",
    "sched_rr_get_interval",
    "wait4",
    "waitid",
    "remap_file_pages",
    "munlockall",
    "mlockall",
    "capget",
    "ioprio_get",
    "umask",
};

/* Also allowed where kernels are compiled: files are made and programs are started there. Which
 * ones, landlock.c decides. */
static const char *const compiler[] = {
    "open",      "openat",   "creat",     "unlink",          "unlinkat",
    "rename",    "renameat", "renameat2", "mkdir",           "mkdirat",
    "rmdir",     "chmod",    "fchmod",    "fchmodat",        "ftruncate",
    "fallocate", "fsync",    "fdatasync", "copy_file_range", "sendfile",
    "utimensat", "chdir",    "fcntl",     "memfd_create",    "fork",
    "vfork",     "execve",   "setrlimit", "prlimit64",       "prctl",
    "seccomp",
};

/* All that an untrusted kernel needs to compute in memory that it has. None of them waits. */
static const char *const kernel[] = {
    "exit", "exit_group",      "rt_sigreturn", "rt_sigprocmask", "sigaltstack",
    "mmap", "munmap",          "mremap",       "mprotect",       "madvise",
    "brk",  "sched_yield",     "getpid",       "gettid",         "clock_gettime",
    "rseq", "restart_syscall",
};

/* Allowed if the argument, an int, has these values in the bits of the mask. */
typedef struct rule {
    const char *call;
    unsigned argument;
    uint32_t mask, value;
    bool for_driver;
} rule;

/* No process has this number (Linux's are below 2^22); our own takes its place. */
enum { ANY_PROCESS = 0x7fffffff };
enum { MOST_INSTRUCTIONS = PIPE_BUF / sizeof(struct sock_filter) };

enum { VALUE = 0xffffffff, MADE_OR_EMPTIED = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY) };

static const rule rules[] = {
    { "clone", 0, CLONE_THREAD, CLONE_THREAD, false },
    { "sched_setaffinity", 0, VALUE, 0, false },
    { "prctl", 0, VALUE, PR_SET_NAME, false },
    { "prctl", 0, VALUE, PR_GET_NAME, false },
    { "prctl", 0, VALUE, 0x53564d41 /* PR_SET_VMA: names memory */, false },
    { "fcntl", 1, VALUE, F_GETFD, false },
    { "fcntl", 1, VALUE, F_SETFD, false },
    { "fcntl", 1, VALUE, F_GETFL, false },
    { "fcntl", 1, VALUE, F_SETFL, false },
    { "fcntl", 1, VALUE, F_DUPFD, false },
    { "fcntl", 1, VALUE, F_DUPFD_CLOEXEC, false },
    { "fcntl", 1, VALUE, F_GETLK, true },
    { "fcntl", 1, VALUE, F_SETLK, true },
    { "fcntl", 1, VALUE, F_SETLKW, true },
    { "ioctl", 1, VALUE, TCGETS, false },
    { "ioctl", 1, VALUE, TIOCGWINSZ, false },
    { "open", 1, MADE_OR_EMPTIED, 0, true },
    { "openat", 2, MADE_OR_EMPTIED, 0, true },
};

/* Their first argument must be this process. */
static const char *const signals[] = {
    "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
};

/* Linux numbers its calls in the order in which they are added, up to ten a year; from 424 on the
 * numbers are the same on all architectures. */
enum { FIRST_UNKNOWN = 450, LAST_UNKNOWN = 599, CLONE3 = 435 };

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* The first error of a row of calls is kept. */
typedef struct filter {
    scmp_filter_ctx context;
    int error;
} filter;

static void keep(filter *f, int result)
{
    if (f->error == 0) f->error = result;
}

/* What libseccomp does not know, or the architecture does not have, stays refused. */
static void allow(filter *f, const char *name, unsigned n, struct scmp_arg_cmp condition)
{
    int call = seccomp_syscall_resolve_name(name);
    if (call >= 0) keep(f, seccomp_rule_add_array(f->context, SCMP_ACT_ALLOW, call, n, &condition));
}

static void allow_if(filter *f, const char *name, unsigned argument, uint32_t mask, uint32_t value)
{
    allow(f, name, 1, SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value));
}

static void allow_all(filter *f, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        allow(f, names[i], 0, (struct scmp_arg_cmp){ 0 });
}

/* A driver's requests are its own. Those of terminals, whose second byte is 'T', can type on behalf
 * of the user (TIOCSTI, TIOCLINUX): a request is allowed if one bit of that byte is another. */
static void allow_requests(filter *f)
{
    for (uint32_t bit = 0x100; bit <= 0x8000; bit <<= 1)
        allow_if(f, "ioctl", 1, bit, ~(uint32_t)TIOCSTI & bit);
}

static void refuse_unknown(filter *f)
{
    for (int call = FIRST_UNKNOWN; call <= LAST_UNKNOWN; call++)
        keep(f, seccomp_rule_add(f->context, SCMP_ACT_ERRNO(ENOSYS), call, 0));
    keep(f, seccomp_rule_add(f->context, SCMP_ACT_ERRNO(ENOSYS), CLONE3, 0));
}

static void allow_signals(filter *f, uint32_t process)
{
    for (size_t i = 0; i < COUNT(signals); i++)
        allow_if(f, signals[i], 0, VALUE, process);
}

static void add_rules(filter *f, bool may_open)
{
    allow_all(f, plain, COUNT(plain));
    for (size_t i = 0; i < COUNT(rules); i++) {
        const rule *r = &rules[i];
        if (may_open || !r->for_driver) allow_if(f, r->call, r->argument, r->mask, r->value);
    }
    allow_signals(f, ANY_PROCESS);
    allow(f, "prlimit64", 1, SCMP_CMP64(2, SCMP_CMP_EQ, 0)); /* a pointer: reads a limit */
    if (may_open) {
        allow_all(f, driver, COUNT(driver));
        allow_requests(f);
    }
    refuse_unknown(f);
}

/* Processes, but no namespaces of their own. Signals go to this process alone. */
static void add_compilers_rules(filter *f)
{
    enum {
        NAMESPACES = 0x7e020080
    }; /* CLONE_NEWNS, NEWUSER, NEWPID, NEWNET, NEWIPC, NEWUTS, ... */
    allow_all(f, plain, COUNT(plain));
    allow_all(f, driver, COUNT(driver));
    allow_all(f, compiler, COUNT(compiler));
    allow_if(f, "clone", 0, NAMESPACES, 0);
    allow_if(f, "ioctl", 1, VALUE, TCGETS);
    allow_signals(f, (uint32_t)getpid());
    refuse_unknown(f);
}

static void add_kernels_rules(filter *f)
{
    allow_all(f, kernel, COUNT(kernel));
    allow_signals(f, (uint32_t)getpid());
}

/* For other architectures' calls, and all threads. */
static void set_attributes(filter *f)
{
    keep(f, seccomp_attr_set(f->context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM)));
    keep(f, seccomp_attr_set(f->context, SCMP_FLTATR_CTL_TSYNC, 1));
}

/* NULL, or a sentence's end. */
static const char *load(filter *f)
{
    set_attributes(f);
    keep(f, seccomp_load(f->context));
    seccomp_release(f->context);
    return f->error ? strerror(-f->error) : NULL;
}

static const char no_library[] = "libseccomp does not work here";

/* ---- the filter of a process that computes --------------------------------------------------- */

/* As the kernel takes it, made once for all processes that are forked afterwards: libseccomp takes
 * longer for it than many a test runs. */
static struct {
    bool tried, may_open;
    const char *problem; /* or, if there is none, */
    struct sock_filter code[MOST_INSTRUCTIONS];
    size_t n;
} prepared;

/* False: errno. libseccomp writes to a file only. A pipe has no limit (RLIMIT_FSIZE), and takes all
 * of it at once or nothing. */
static bool export(const filter *f)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    int error = -seccomp_export_bpf(f->context, ends[1]);
    ssize_t n = error ? 0 : read(ends[0], prepared.code, sizeof prepared.code);
    if (n < 0) error = errno;
    if (n == sizeof prepared.code) error = E2BIG;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    prepared.n = error ? 0 : (size_t)n / sizeof *prepared.code;
    return !error;
}

void syscalls_prepare(bool may_open)
{
    if (prepared.tried && prepared.may_open == may_open) return;
    prepared.tried = true;
    prepared.may_open = may_open;
    prepared.problem = no_library;
    filter f = { .context = seccomp_init(SCMP_ACT_ERRNO(EPERM)) };
    if (!f.context) return;
    add_rules(&f, may_open);
    set_attributes(&f);
    if (f.error == 0 && !export(&f)) f.error = -errno;
    seccomp_release(f.context);
    prepared.problem = f.error ? strerror(-f.error) : NULL;
}

/* Puts our number into the comparisons with ANY_PROCESS; how many there are. */
static int name_process(void)
{
    int n = 0;
    for (struct sock_filter *c = prepared.code; c < prepared.code + prepared.n; c++) {
        if (c->code != (BPF_JMP | BPF_JEQ | BPF_K) || c->k != ANY_PROCESS) continue;
        c->k = (uint32_t)getpid();
        n++;
    }
    return n;
}

const char *syscalls_refuse(bool may_open)
{
    syscalls_prepare(may_open);
    if (prepared.problem) return prepared.problem;
    if (name_process() == 0) return "it is not made for this process";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return strerror(errno);
    struct sock_fprog program = { (unsigned short)prepared.n, prepared.code };
    long other = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (other > 0) return "there is a thread with another filter";
    return other < 0 ? strerror(errno) : NULL;
}

/* ---- those of kernels and their compiler ----------------------------------------------------- */

const char *syscalls_refuse_compiler(void)
{
    filter f = { .context = seccomp_init(SCMP_ACT_ERRNO(EPERM)) };
    if (!f.context) return no_library;
    add_compilers_rules(&f);
    return load(&f);
}

const char *syscalls_refuse_kernel(void)
{
    filter f = { .context = seccomp_init(SCMP_ACT_ERRNO(EPERM)) };
    if (!f.context) return no_library;
    add_kernels_rules(&f);
    return load(&f);
}
