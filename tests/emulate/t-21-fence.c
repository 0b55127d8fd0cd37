/* t-21-fence.c - the fence around a stranger's kernel, and the one around its compiler: memory of every
 * kind is limited to what is said, and no call of the system's opens, starts, waits or signals. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "../tap.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../repl/sandbox/kernel_fence.h"

enum { MIB = 1 << 20, KERNEL_MIB = 64, STEP_MIB = 8, MOST_STEPS = 1024, NOT_FENCED = 99 };

/* In a process of its own, behind the fence; what it returns is below 99. */
static int behind(bool compiler, int (*does)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        const bool fenced = compiler ? fence_compiler(5)
                                     : fence_kernel(5, (double)KERNEL_MIB * MIB);
        _exit(fenced ? does() : NOT_FENCED);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- memory ---- */

/* Every 64 KiB: with each page the test takes ten times as long. */
static void write_to(char *at)
{
    for (size_t i = 0; i < STEP_MIB * MIB; i += 64 << 10)
        ((volatile char *)at)[i] = 1;
}

/* How many steps of 8 MiB can be mapped and written to. */
static int fill(int kind)
{
    for (int n = 0; n < MOST_STEPS; n++) {
        char *at = mmap(NULL, STEP_MIB * MIB, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return n;
        write_to(at);
    }
    return MOST_STEPS;
}
static int fill_shared(void) { return fill(MAP_SHARED); }
static int fill_private(void) { return fill(MAP_PRIVATE); }
static int fill_both(void) { return fill(MAP_SHARED) + fill(MAP_PRIVATE); }
static int fill_by_allocation(void)
{
    int n = 0;
    for (char *at; n < MOST_STEPS && (at = malloc(STEP_MIB * MIB)) != NULL; n++)
        write_to(at);
    return n;
}

TAP_UNUSED static void test_memory(void)
{
    enum { MOST = (KERNEL_MIB + STACKS_MIB) / STEP_MIB, OF_COMPILER = COMPILER_MIB / STEP_MIB };
    static const struct {
        const char *what;
        int (*does)(void);
    } ways[] = { { "shared mappings", fill_shared },
                 { "private mappings", fill_private },
                 { "both", fill_both },
                 { "allocations", fill_by_allocation } };
    for (int i = 0; i < 4; i++) {
        const int n = behind(false, ways[i].does), of_compiler = behind(true, ways[i].does);
        ok(n > MOST / 2 && n <= MOST, "a kernel has %d MiB of %s: %d", MOST * STEP_MIB,
           ways[i].what, n * STEP_MIB);
        ok(of_compiler > OF_COMPILER / 2 && of_compiler <= OF_COMPILER,
           "a compiler less than %d: %d", COMPILER_MIB, of_compiler * STEP_MIB);
    }
}

/* Under `ulimit -v`, which lowers the limit that can be set. */
static int fill_under_limit(void)
{
    const rlim_t bytes = (rlim_t)8 << 30;
    setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes });
    return behind(false, fill_private);
}

TAP_UNUSED static void test_under_limit(void)
{
    enum { MOST = (KERNEL_MIB + STACKS_MIB) / STEP_MIB };
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(fill_under_limit());
    waitpid(pid, &status, 0);
    const int n = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ok(n > MOST / 2 && n <= MOST, "under a limit of 8 GiB a kernel has %d MiB, too: %d",
       MOST * STEP_MIB, n * STEP_MIB);
}

/* ---- calls ---- */

static bool is_refused(long result) { return result == -1 && (errno == EPERM || errno == ENOSYS); }

/* The number of the first call that was not refused; 0: all were. */
static int try_calls(void)
{
    struct timespec second = { 1, 0 };
    struct pollfd nothing = { .fd = -1 };
    int word = 0, n = 0;
    char *const none[] = { NULL };
    const long results[] = {
        is_refused(open("/dev/null", O_RDONLY)),
        is_refused(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY)),
        is_refused(write(1, "x", 1)),
        is_refused(socket(AF_INET, SOCK_STREAM, 0)),
        is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)),
        is_refused(execve("/bin/true", none, none)),
        is_refused(kill(getppid(), 0)),
        is_refused(syscall(SYS_getppid)),
        is_refused(syscall(SYS_ptrace, 16, getpid(), 0, 0)),
        is_refused(syscall(SYS_memfd_create, "x", 0)),
        is_refused(nanosleep(&second, NULL)),
        is_refused(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &second, NULL)),
        is_refused(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &second, NULL, 0)),
        is_refused(poll(&nothing, 1, 1000)),
        is_refused(syscall(SYS_ppoll, &nothing, 1, &second, NULL, 0)),
        is_refused(setrlimit(RLIMIT_AS, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY })),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results && !n; i++)
        if (!results[i]) n = (int)i + 1;
    return n;
}

int main(void)
{
    plan(0);
    if (behind(false, try_calls) == NOT_FENCED) {
        skip(1, "this system cannot fence a kernel");
        return done_testing();
    }
    is_int(behind(false, try_calls), 0,
           "a kernel opens, starts, signals, awaits nothing: all is refused");
#if !defined __SANITIZE_ADDRESS__ /* its shadow is terabytes, and has no limit */
    test_memory();
    test_under_limit();
#endif
    return done_testing();
}

#else

int main(void)
{
    plan(0);
    skip(1, "kernels of strangers are run on Linux");
    return done_testing();
}

#endif
