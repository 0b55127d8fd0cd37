/* kernel_server.c - starts the process for a submission's kernels, and fences it.
 *
 * All of it: no network, no files but the system's and its folder's, its own memory limit. Behind
 * that, the compiler as well as the kernel get what is left of the time, and the kernel can only
 * compute: it has no descriptor, opens nothing, starts nothing, signals nobody.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, RLIMIT_NPROC */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#include "kernel_server.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "../run/embedded.h"
#include "child_start.h"
#include "kernel_fence.h"
#include "landlock.h"
#include "syscalls.h"

/* bindings/ */
void lsl_serve_kernels(int fd, bool (*time_is_left)(void), bool (*compiler)(void),
                       bool (*kernel)(void));

enum { SOCKET = 3, EXIT_NOT_FENCED = 1 };
enum { SECONDS = 2, BYTES, FOLDER, COMPILER_PREFIX, N_ARGUMENTS };

/* Of the server's own, for messages. */
static const double messages_bytes = 768 << 20;

/* ---- the server's limits --------------------------------------------------------- */

static double total_s, left_s, memory_bytes;

static double used_s(int who)
{
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
           + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static bool time_is_left(void)
{
    left_s = total_s - used_s(RUSAGE_SELF) - used_s(RUSAGE_CHILDREN);
    return left_s > 0;
}

static bool fence_this_compiler(void) { return fence_compiler(left_s); }
static bool fence_this_kernel(void) { return fence_kernel(left_s, memory_bytes); }

/* Memory of a sanitized program is not counted like that. */
static bool limit_server(void)
{
#if !defined __SANITIZE_ADDRESS__
    if (!fence_set_limit(RLIMIT_DATA, memory_bytes + messages_bytes)) return false;
#endif
    return fence_set_limit(RLIMIT_CORE, 0)
           && fence_set_limit(RLIMIT_FSIZE, (double)(FILE_MIB << 20));
}

static void keep_little_environment(const char *folder)
{
    static const char *const kept[] = { "PATH", "STREAMLAB_CXX", "LD_LIBRARY_PATH", "ASAN_OPTIONS",
                                        "UBSAN_OPTIONS" };
    enum { N = sizeof kept / sizeof *kept };
    char *values[N];
    for (int i = 0; i < N; i++) {
        const char *value = getenv(kept[i]);
        values[i] = value ? strdup(value) : NULL;
    }
    extern char **environ;
    static char *none[] = { NULL };
    environ = none;
    for (int i = 0; i < N; i++) {
        if (values[i]) setenv(kept[i], values[i], 1);
        free(values[i]);
    }
    setenv("TMPDIR", folder, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
}

/* False: this is no place for untrusted machine code. Without Landlock files are hidden from
 * the compiler by what sources may say alone. */
static bool fence_server(const char *folder, const char *also)
{
    if (chdir(folder) != 0 || !limit_server()) return false;
    umask(077);
    keep_little_environment(folder);
    if (landlock_is_here() && landlock_confine(folder, also)) return false;
    return !syscalls_refuse_compiler();
}

int kernel_server_main(int argc, char **argv)
{
    if (argc != N_ARGUMENTS) return EXIT_NOT_FENCED;
    total_s = strtod(argv[SECONDS], NULL);
    memory_bytes = strtod(argv[BYTES], NULL);
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!fence_server(argv[FOLDER], *argv[COMPILER_PREFIX] ? argv[COMPILER_PREFIX] : NULL))
        return EXIT_NOT_FENCED;
    lsl_serve_kernels(SOCKET, time_is_left, fence_this_compiler, fence_this_kernel);
    _exit(0);
}

/* ---- starting it ------------------------------------------------------------------ */

static double number_field(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    double value = lua_tonumber(L, -1);
    if (!(value > 0 && value <= 1e12))
        luaL_error(L, "start_kernel_server: %s must be a positive number", name);
    lua_pop(L, 1);
    return value;
}

/* Where a compiler that the teacher names by its path keeps its files: the folder above bin's. */
static void find_prefix(char prefix[PATH_MAX])
{
    const char *given = getenv("STREAMLAB_CXX");
    prefix[0] = '\0';
    if (!given || given[0] != '/' || strlen(given) >= PATH_MAX) return;
    strcpy(prefix, given);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');
        if (slash) *slash = '\0';
    }
}

static void become(char *const argv[], int fd, pid_t parent)
{
    int nothing = open("/dev/null", O_RDWR);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXCPU, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* the grader decides */
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent || nothing < 0) _exit(EXIT_NOT_FENCED);
    if (fd != SOCKET && dup2(fd, SOCKET) != SOCKET) _exit(EXIT_NOT_FENCED);
    for (int i = 0; i < SOCKET; i++)
        dup2(nothing, i);
    fcntl(SOCKET, F_SETFD, 0);
#if defined SYS_close_range
    syscall(SYS_close_range, SOCKET + 1, ~0u, 0);
#endif
    execv(argv[0], argv);
    _exit(EXIT_NOT_FENCED);
}

static void push_lacking(lua_State *L)
{
    lua_newtable(L);
    if (landlock_is_here()) return;
    lua_pushliteral(L, "files are not hidden from the compiler of kernels: this system has no "
                       "Landlock");
    lua_rawseti(L, -2, 1);
}

static int start_kernel_server(lua_State *L)
{
    char path[PATH_MAX], prefix[PATH_MAX], seconds[64], bytes[64];
    int ends[2];
    luaL_checktype(L, 1, LUA_TTABLE);
    snprintf(seconds, sizeof seconds, "%.3f", number_field(L, "processor_seconds"));
    snprintf(bytes, sizeof bytes, "%.0f", number_field(L, "memory_bytes"));
    lua_getfield(L, 1, "folder");
    luaL_argcheck(L, lua_isstring(L, -1), 1, "it has no folder");
    char *folder = (char *)lua_tostring(L, -1);
    find_prefix(prefix);
    if (!child_own_path(path, sizeof path))
        return embedded_fail(L, "start_kernel_server: where does this program lie?");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return embedded_fail(L, "start_kernel_server: no socket: %s", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    char *argv[] = { path, KERNEL_SERVER, seconds, bytes, folder, prefix, NULL };
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) become(argv, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return embedded_fail(L, "start_kernel_server: no process: %s", strerror(errno));
    }
    lua_pushinteger(L, ends[0]);
    push_lacking(L);
    return 2;
}

void kernel_server_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "start_kernel_server", start_kernel_server },
        { NULL, NULL },
    };
    embedded_add(L, functions);
}
