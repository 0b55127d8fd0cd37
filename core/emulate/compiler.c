/* compiler.c - this machine's C++ compiler as a process: without a shell, its source comes through
 * a pipe, its messages through another. */
#define _GNU_SOURCE /* pipe2 */
#include "compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fences.h"

extern char **environ;

enum { MOST_MESSAGES = 64 << 10, POLL_MS = 20, MOST_RUNS = 2 };

/* ---- finding it ---- */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool emu_program_find(const char *name, char path[EMU_PATH_BYTES])
{
    const char *at = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(path, EMU_PATH_BYTES, "%s", name);
        return is_program(path);
    }
    while (at && *at) {
        size_t n = strcspn(at, ":");
        int length = snprintf(path, EMU_PATH_BYTES, "%.*s/%s", (int)n, n ? at : ".", name);
        if (length < EMU_PATH_BYTES && is_program(path)) return true;
        at += n + (at[n] == ':');
    }
    return false;
}

sl_status emu_compiler_find(char path[EMU_PATH_BYTES], sl_error *err)
{
    static const char *const names[] = { "g++", "clang++", "c++" };
    const char *given = getenv("STREAMLAB_CXX");
    if (given && strcmp(given, "none") == 0)
        return sl_fail(err, SL_EUNSUPPORTED, "STREAMLAB_CXX=none: no C++ compiler may be used");
    if (given && *given) {
        if (emu_program_find(given, path)) return SL_OK;
        return sl_fail(err, SL_EUNSUPPORTED, "STREAMLAB_CXX names %.200s, which is no program",
                       given);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (emu_program_find(names[i], path)) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED,
                   "no C++ compiler is here (g++ or clang++; on Debian and Ubuntu: apt install "
                   "g++)");
}

/* ---- running it ---- */

typedef struct process {
    pid_t pid;   /* 0: has ended */
    int in, out; /* pipes to and from it, -1: closed */
    size_t fed;  /* bytes of the source that it has */
} process;

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Both ends of a pipe; the one that stays here does not block. */
static bool open_pipe(int ends[2], int ours)
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    fcntl(ends[ours], F_SETFL, O_NONBLOCK);
    return true;
}

static bool spawn(process *child, const emu_compile *run, const int in[2], const int out[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0); /* Ctrl-C at the terminal is ours, not its */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
                                              | POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
    int failed = posix_spawn(&child->pid, run->argv[0], &actions, &attributes,
                             (char *const *)run->argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return !failed;
}

/* For an untrusted source: the fence is set between fork and exec. It stays in the group of its
 * parent, with which it is killed. */
static bool spawn_fenced(process *child, const emu_compile *run, const int in[2], const int out[2])
{
    child->pid = fork();
    if (child->pid != 0) return child->pid > 0;
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in[0], STDIN_FILENO) == STDIN_FILENO && dup2(out[1], STDOUT_FILENO) == STDOUT_FILENO
        && dup2(out[1], STDERR_FILENO) == STDERR_FILENO) {
        emu_fence_compiler();
        execve(run->argv[0], (char *const *)run->argv, environ);
    }
    _exit(127);
}

static bool start(process *child, const emu_compile *run)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    bool started = open_pipe(in, 1) && open_pipe(out, 0)
                   && (emu_fences() ? spawn_fenced : spawn)(child, run, in, out);
    if (!started) {
        child->pid = 0;
        close_end(&in[1]);
        close_end(&out[0]);
    }
    close_end(&in[0]);
    close_end(&out[1]);
    child->in = in[1];
    child->out = out[0];
    return started;
}

static void feed(process *child, const emu_text *source)
{
    ssize_t n = write(child->in, source->data + child->fed, source->n - child->fed);
    if (n > 0) child->fed += (size_t)n;
    if (child->fed == source->n || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_end(&child->in);
}

static void hear(process *child, emu_text *messages)
{
    char data[4096];
    ssize_t n = read(child->out, data, sizeof data);
    if (n > 0 && messages->n + (size_t)n <= MOST_MESSAGES) emu_text_add(messages, data, (size_t)n);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) close_end(&child->out);
}

/* Moves what can be moved within POLL_MS. False: all pipes are closed. */
static bool exchange(process *children, emu_compile *runs, int n)
{
    struct pollfd fds[2 * MOST_RUNS];
    bool any = false;
    for (int i = 0; i < n; i++) {
        fds[2 * i] = (struct pollfd){ .fd = children[i].in, .events = POLLOUT };
        fds[2 * i + 1] = (struct pollfd){ .fd = children[i].out, .events = POLLIN };
        any = any || children[i].out >= 0;
    }
    if (!any) return false;
    if (poll(fds, 2 * (nfds_t)n, POLL_MS) <= 0) return true;
    for (int i = 0; i < n; i++) {
        if (fds[2 * i].revents) feed(&children[i], runs[i].source);
        if (fds[2 * i + 1].revents) hear(&children[i], &runs[i].messages);
    }
    return true;
}

static void finish(process *child, emu_compile *run, bool kill_it)
{
    int status = 0;
    close_end(&child->in);
    close_end(&child->out);
    if (!child->pid) return;
    if (kill_it) kill(emu_fences() ? child->pid : -child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    run->succeeded = !kill_it && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

sl_status emu_compiler_run(emu_compile *runs, int n, const volatile sig_atomic_t *interrupted,
                           sl_error *err)
{
    process children[MOST_RUNS] = { 0 };
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    bool started = true, stopped = false;
    sigaction(SIGPIPE, &ignore, &before);
    for (int i = 0; i < n; i++)
        started = start(&children[i], &runs[i]) && started;
    while (started && !stopped && exchange(children, runs, n))
        stopped = *interrupted;
    for (int i = 0; i < n; i++)
        finish(&children[i], &runs[i], stopped || !started);
    sigaction(SIGPIPE, &before, NULL);
    if (!started)
        return sl_fail(err, SL_EIO, "the C++ compiler %.200s cannot be started: %s", runs->argv[0],
                       strerror(errno));
    return stopped ? sl_fail(err, SL_EINTERRUPT, "interrupted while the kernel was compiled")
                   : SL_OK;
}
