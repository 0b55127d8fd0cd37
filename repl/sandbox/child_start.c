/* child_start.c - starts one program for children.c with the environment and files that it gets;
 * and finds the path of this program.
 *
 * A pipe shows whether exec worked: exec closes it, and after a failure errno comes through it.
 * All descriptors are moved to numbers above those that the child gets, so that none is
 * overwritten before it has been copied.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#include "child_start.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#ifdef __FreeBSD__
#include <sys/sysctl.h>
#endif

enum { LEAST_DESCRIPTOR = 10 };

/* ---- arguments and environment --------------------------------------------------- */

/* Pushes a vector for n strings and the NULL behind them. */
static char **push_vector(lua_State *L, lua_Integer n)
{
    char **vector = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *vector, 1);
    vector[n] = NULL;
    return vector;
}

char **child_push_arguments(lua_State *L, int index)
{
    lua_Integer n = luaL_len(L, index);
    luaL_argcheck(L, n > 0, 1, "command names no program");
    char **argv = push_vector(L, n);
    lua_newtable(L); /* keeps what the vector points to */
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, index, i);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "spawn: command[%d] must be a string, not a %s", (int)i,
                       luaL_typename(L, -1));
        argv[i - 1] = (char *)lua_tostring(L, -1);
        lua_rawseti(L, -2, i);
    }
    lua_setiuservalue(L, -2, 1);
    return argv;
}

/* Pushes a table of what every child's environment holds. */
static void push_kept(lua_State *L)
{
    static const char *const kept[] = {
        "PATH",
        "LC_ALL",
        "LANG",
        "LD_LIBRARY_PATH",
        "STREAMLAB_CUDA_PLUGIN",
        "STREAMLAB_BLAS",
        "STREAMLAB_CXX",
        "CUDA_VISIBLE_DEVICES",
        "ASAN_OPTIONS",
        "UBSAN_OPTIONS",
    };
    lua_newtable(L);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        lua_pushstring(L, getenv(kept[i])); /* nil where there is none */
        lua_setfield(L, -2, kept[i]);
    }
    lua_pushliteral(L, "/nonexistent");
    lua_setfield(L, -2, "HOME");
    lua_pushliteral(L, "1");
    lua_setfield(L, -2, "OPENBLAS_NUM_THREADS");
}

char **child_push_environment(lua_State *L, int index)
{
    push_kept(L);
    int table = lua_gettop(L);
    if (lua_istable(L, index)) {
        lua_pushnil(L);
        while (lua_next(L, index)) {
            if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
                luaL_error(L, "spawn: environment must hold texts by name");
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, table);
        }
    }
    lua_newtable(L); /* "NAME=text" */
    lua_Integer n = 0;
    lua_pushnil(L);
    while (lua_next(L, table)) {
        lua_pushfstring(L, "%s=%s", lua_tostring(L, -2), lua_tostring(L, -1));
        lua_rawseti(L, table + 1, ++n);
        lua_pop(L, 1);
    }
    char **environment = push_vector(L, n);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, table + 1, i);
        environment[i - 1] = (char *)lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    lua_pushvalue(L, table + 1);
    lua_setiuservalue(L, -2, 1);
    return environment;
}

/* ---- the child's side ------------------------------------------------------------ */

/* All above the report close when the new program starts. */
static void close_others_on_exec(void)
{
#if defined SYS_close_range
    enum { CLOEXEC = 1 << 2 }; /* CLOSE_RANGE_CLOEXEC, of newer headers */
    if (syscall(SYS_close_range, CHILD_FILES, ~0u, CLOEXEC) == 0) return;
#endif
    enum { MOST = 1 << 16 };
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = CHILD_FILES; fd < (most > 0 && most < MOST ? most : MOST); fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child is killed when the parent dies, also if the parent has died already. */
static void follow(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(127);
}

bool child_settle(const int files[CHILD_FILES], pid_t parent)
{
    bool fine = true;
    setsid();
    follow(parent);
    for (int fd = 0; fd < CHILD_FILES; fd++)
        fine = dup2(files[fd], fd) == fd && fine;
    return fine;
}

static void become(const child_start *start, const int files[CHILD_FILES], int tell, pid_t parent)
{
    reset_signals();
    if (child_settle(files, parent)) {
        close_others_on_exec();
        execve(start->argv[0], start->argv, start->environment);
    }
    int error = errno;
    while (write(tell, &error, sizeof error) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

/* ---- the parent's ---------------------------------------------------------------- */

/* The descriptor under a higher number; the old one is closed. -1: there is none left. */
static int lift(int fd)
{
    int lifted = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
    int error = errno == EINVAL ? EMFILE : errno; /* the limit is below that number */
    if (fd >= 0) close(fd);
    errno = error;
    return lifted;
}

static bool open_pipe(int *reading, int *writing)
{
    int ends[2] = { -1, -1 };
    if (pipe(ends) != 0) return false;
    *reading = lift(ends[0]);
    *writing = lift(ends[1]);
    return *reading >= 0 && *writing >= 0;
}

/* The same of both ends of a socket that keeps messages apart. */
static bool open_socket(int *ours, int *its)
{
    int ends[2] = { -1, -1 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return false;
    *ours = lift(ends[0]);
    *its = lift(ends[1]);
    return *ours >= 0 && *its >= 0;
}

void child_close(int *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i] >= 0) close(list[i]);
        list[i] = -1;
    }
}

/* What the child has written if its exec failed; 0: it runs. */
static int exec_error(int fd)
{
    int error = 0;
    ssize_t n;
    do {
        n = read(fd, &error, sizeof error);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof error ? error : 0;
}

static bool open_pipes(child_start *start, int files[CHILD_FILES])
{
    bool fine = true;
    for (int i = 0; fine && i < CHILD_PIPES; i++)
        fine = open_pipe(&start->pipes[i], &files[i + 1])
               && fcntl(start->pipes[i], F_SETFL, O_NONBLOCK) == 0;
    return fine;
}

/* What it writes to stdout and stderr is lost. */
static bool open_talk(child_start *start, int files[CHILD_FILES])
{
    for (int fd = 1; fd < CHILD_REPORT; fd++)
        files[fd] = lift(open("/dev/null", O_WRONLY));
    return open_socket(&start->pipes[CHILD_REPORT - 1], &files[CHILD_REPORT]);
}

bool child_open(child_start *start, int files[CHILD_FILES])
{
    for (int i = 0; i < CHILD_PIPES; i++)
        start->pipes[i] = files[i + 1] = -1;
    files[0] = lift(open("/dev/null", O_RDONLY));
    bool fine = files[0] >= 0 && (start->talks ? open_talk : open_pipes)(start, files);
    start->failed = "open pipes for";
    start->error = errno;
    return fine;
}

/* True: it runs. */
static bool fork_child(child_start *start, const int files[CHILD_FILES], int tell[2])
{
    pid_t parent = getpid();
    start->failed = "start a process for";
    start->pid = fork();
    if (start->pid == 0) become(start, files, tell[1], parent);
    if (start->pid < 0) {
        start->error = errno;
        return false;
    }
    child_close(&tell[1], 1);
    start->failed = "run";
    start->error = exec_error(tell[0]);
    if (start->error == 0) return true;
    while (waitpid(start->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return false;
}

bool child_run(child_start *start)
{
    int files[CHILD_FILES], tell[2] = { -1, -1 };
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, children cannot be waited for */
    bool fine = child_open(start, files);
    if (fine && !open_pipe(&tell[0], &tell[1])) {
        start->error = errno;
        fine = false;
    }
    fine = fine && fork_child(start, files, tell);
    child_close(files, CHILD_FILES);
    child_close(tell, 2);
    if (!fine) child_close(start->pipes, CHILD_PIPES);
    return fine;
}

/* ---- this program ---------------------------------------------------------------- */

bool child_own_path(char *path, size_t path_bytes)
{
#if defined __linux__
    ssize_t n = readlink("/proc/self/exe", path, path_bytes - 1);
    if (n > 0) path[n] = '\0';
    return n > 0;
#elif defined __APPLE__
    uint32_t n = (uint32_t)path_bytes;
    return _NSGetExecutablePath(path, &n) == 0;
#elif defined __FreeBSD__
    int name[] = { CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1 };
    return sysctl(name, 4, path, &path_bytes, NULL, 0) == 0;
#else
    (void)path, (void)path_bytes;
    return false;
#endif
}
