/* syscalls.c - refuses system calls for the rest of this process's life.
 *
 * The tables say which, and a program of the kernel's filter is made of it (seccomp_filter(2)).
 * What is not in them is allowed, but no call that is newer than they are: those fail
 * with ENOSYS, as on an older system, and the C library does without. EPERM and no kill, so
 * that what was refused shows as an error where it was tried.
 *
 * A filter sees the numbers in registers, not the memory that they point to. So a call whose
 * flags lie there (openat2, clone3) is refused as a whole.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE         /* syscall, unshare */
#endif
#include "syscalls.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#endif

#if !defined __linux__
#define NO_FILTER "only that of Linux is known to streamlab"
#elif !(defined __x86_64__ || defined __aarch64__) || defined __ILP32__
#define NO_FILTER "streamlab knows the numbers of x86-64 and arm64 alone"
#elif !defined SYS_userfaultfd
#define NO_FILTER "streamlab was built with headers older than Linux 4.3"
#endif

#ifndef NO_FILTER

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __x86_64__
#define OWN_ARCH AUDIT_ARCH_X86_64
#else
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

enum {
    X32_BIT = 0x40000000,       /* calls of x86_64's third kind, with other numbers */
    FIRST_UNKNOWN = 450,
    MADE_OR_EMPTIED = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)
};

/* These fail with EPERM, whatever their arguments are. Numbers stand for names that older
 * headers lack; from 424 on they are the same on all architectures. */
static const int refused[] = {
    /* files */
#ifdef __x86_64__
    SYS_creat, SYS_unlink, SYS_rename, SYS_link, SYS_symlink, SYS_mkdir, SYS_rmdir, SYS_mknod,
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_inotify_init,
    SYS_uselib,
#endif
    437 /* openat2 */, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_unlinkat,
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_mkdirat, SYS_mknodat, SYS_fchmod,
    SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_truncate, SYS_ftruncate, SYS_fallocate,
    SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, SYS_chdir, SYS_fchdir, SYS_chroot, SYS_acct,
    SYS_memfd_create, 447 /* memfd_secret */, SYS_inotify_init1, SYS_inotify_add_watch,
    SYS_fanotify_init, SYS_fanotify_mark,
    /* file systems */
    SYS_mount, SYS_umount2, SYS_pivot_root, 428 /* open_tree */, 429 /* move_mount */,
    430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, SYS_swapon, SYS_swapoff, SYS_quotactl, 443 /* quotactl_fd */,
    /* the network, and everything else that is a socket */
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
    SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
    SYS_shutdown, SYS_setsockopt, SYS_getsockopt, SYS_getsockname, SYS_getpeername,
    /* programs and processes */
    SYS_execve, SYS_execveat,
#ifdef __x86_64__
    SYS_fork, SYS_vfork, SYS_modify_ldt, SYS_iopl, SYS_ioperm,
#endif
    SYS_unshare, SYS_setns, SYS_setsid, SYS_setpgid, SYS_personality,
    /* other processes */
    424 /* pidfd_send_signal */, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    440 /* process_madvise */, 448 /* process_mrelease */, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_kcmp, SYS_migrate_pages, SYS_move_pages, SYS_setpriority,
    SYS_ioprio_set, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
    /* limits and rights */
    SYS_setrlimit, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid,
    SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_setgroups, SYS_capset, SYS_keyctl,
    SYS_add_key, SYS_request_key,
    /* memory and messages shared with others */
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_msgget, SYS_msgsnd, SYS_msgrcv,
    SYS_msgctl, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open, SYS_mq_unlink,
    SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify, SYS_mq_getsetattr,
    /* ways into the kernel, and the machine as a whole */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, 425 /* io_uring_setup */,
    426 /* io_uring_enter */, 427 /* io_uring_register */, SYS_io_setup, SYS_io_submit,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
    SYS_reboot, SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime,
    SYS_adjtimex, SYS_clock_adjtime, SYS_syslog, SYS_vhangup,
};

typedef enum verdict {
    MISSING,                    /* ENOSYS: the C library does without */
    WITHOUT,                    /* EPERM, unless the argument has none of these bits */
    WITH,                       /* EPERM, unless it has them all */
    NOT,                        /* EPERM if it is this value */
    ONLY_ZERO,                  /* EPERM, unless it is 0 */
    ONLY_SELF                   /* EPERM, unless it is the number of this process */
} verdict;

typedef struct rule {
    int call;
    verdict verdict;
    int argument;
    uint32_t value;
} rule;

static const rule rules[] = {
    {SYS_clone, WITH, 0, CLONE_THREAD},         /* threads are allowed */
    {435 /* clone3 */, MISSING, 0, 0},
    {SYS_kill, ONLY_SELF, 0, 0}, {SYS_tkill, ONLY_SELF, 0, 0}, {SYS_tgkill, ONLY_SELF, 0, 0},
    {SYS_rt_sigqueueinfo, ONLY_SELF, 0, 0}, {SYS_rt_tgsigqueueinfo, ONLY_SELF, 0, 0},
    {SYS_prlimit64, ONLY_ZERO, 2, 0}, {SYS_sched_setaffinity, ONLY_ZERO, 0, 0},
    {SYS_prctl, NOT, 0, PR_SET_PDEATHSIG},
    {SYS_fcntl, NOT, 1, F_SETOWN}, {SYS_fcntl, NOT, 1, F_SETOWN_EX},    /* they send signals */
    {SYS_ioctl, NOT, 1, TIOCSTI}, {SYS_ioctl, NOT, 1, TIOCLINUX},
};

/* Refused, or where files may be opened, allowed without these flags. */
static const rule opening[] = {
    {SYS_openat, WITHOUT, 2, MADE_OR_EMPTIED},
#ifdef __x86_64__
    {SYS_open, WITHOUT, 1, MADE_OR_EMPTIED},
#endif
};

#define COUNT(table) (sizeof (table) / sizeof *(table))

enum {
    MOST_PER_RULE = 8,
    MOST_STEPS = 16 + 2 * COUNT(refused) + MOST_PER_RULE * (COUNT(rules) + COUNT(opening))
};

/* ---- the filter's program -------------------------------------------------------- */

/* The kernel reads it whole. */
typedef struct program {
    struct sock_filter steps[MOST_STEPS];
    unsigned short n;
} program;

static void step(program *p, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
    p->steps[p->n++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(program *p, size_t offset)
{
    step(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void load_call(program *p)
{
    load(p, offsetof(struct seccomp_data, nr));
}

/* An argument has two words, the lower one first on both architectures. The kernel looks at
 * the lower one of an int. */
static void load_argument(program *p, int argument, int word)
{
    load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)argument + 4 * (size_t)word);
}

static void give(program *p, uint32_t what)
{
    step(p, BPF_RET | BPF_K, what, 0, 0);
}

static void refuse(program *p, int error)
{
    give(p, SECCOMP_RET_ERRNO | (uint32_t)error);
}

/* Goes on where the word equals the value, and refuses otherwise. */
static void need(program *p, uint32_t value)
{
    step(p, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    refuse(p, EPERM);
}

/* What happens to the call of a rule, when the number has been compared. */
static void judge(program *p, const rule *r)
{
    switch (r->verdict) {
    case MISSING:
        refuse(p, ENOSYS);
        return;
    case NOT:                           /* another rule may be about the same call */
        load_argument(p, r->argument, 0);
        step(p, BPF_JMP | BPF_JEQ | BPF_K, r->value, 0, 1);
        refuse(p, EPERM);
        load_call(p);
        return;
    case WITHOUT: case WITH:
        load_argument(p, r->argument, 0);
        step(p, BPF_ALU | BPF_AND | BPF_K, r->value, 0, 0);
        need(p, r->verdict == WITH ? r->value : 0);
        break;
    case ONLY_ZERO:
        load_argument(p, r->argument, 1);
        need(p, 0);
        load_argument(p, r->argument, 0);
        need(p, 0);
        break;
    case ONLY_SELF:
        load_argument(p, r->argument, 0);
        need(p, (uint32_t)getpid());
        break;
    }
    give(p, SECCOMP_RET_ALLOW);
}

static void add_rule(program *p, const rule *r)
{
    unsigned short at = p->n;
    step(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)r->call, 0, 0);
    judge(p, r);
    p->steps[at].jf = (uint8_t)(p->n - at - 1);
}

static void add_refused(program *p, int call)
{
    step(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    refuse(p, EPERM);
}

static void make_program(program *p, bool may_open)
{
    p->n = 0;
    load(p, offsetof(struct seccomp_data, arch));
    need(p, OWN_ARCH);
    load_call(p);
    step(p, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    refuse(p, EPERM);
    step(p, BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1);
    refuse(p, ENOSYS);
    for (size_t i = 0; i < COUNT(refused); i++)
        add_refused(p, refused[i]);
    for (size_t i = 0; i < COUNT(rules); i++)
        add_rule(p, &rules[i]);
    for (size_t i = 0; i < COUNT(opening); i++) {
        if (may_open)
            add_rule(p, &opening[i]);
        else
            add_refused(p, opening[i].call);
    }
    give(p, SECCOMP_RET_ALLOW);
}

const char *syscalls_refuse(bool may_open)
{
    static program p;
    make_program(&p, may_open);
    const struct sock_fprog filter = {.len = p.n, .filter = p.steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return strerror(errno);
    long thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    if (thread > 0)
        return "a thread has a filter of its own";
    return thread < 0 ? strerror(errno) : NULL;
}

#else

const char *syscalls_refuse(bool may_open)
{
    (void)may_open;
    return NO_FILTER;
}

#endif

bool syscalls_cut_network(void)
{
#ifdef __linux__
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
#else
    return false;
#endif
}
