/* recorded.c - runs the program that is recorded, as a shell would: in this terminal, with what
 * Ctrl-C and other signals mean to it.
 */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "../run/embedded.h"

enum { N_SIGNALS = 5, EXIT_NOT_RUN = 127 };

/* Ctrl-C and Ctrl-\ reach the program by themselves, as it is in the same group of processes. What
 * is sent to this process alone is passed on. Where SIGCHLD is ignored nobody learns how a child
 * ended. */
static void pass_on(int number);
static const struct {
    int number;
    void (*action)(int number);
} signals[N_SIGNALS] = { { SIGINT, SIG_IGN },
                         { SIGQUIT, SIG_IGN },
                         { SIGTERM, pass_on },
                         { SIGHUP, pass_on },
                         { SIGCHLD, SIG_DFL } };

static volatile pid_t running;

static void pass_on(int number)
{
    const int error = errno;
    if (running > 0) kill(running, number);
    errno = error;
}

static void take_signals(struct sigaction before[N_SIGNALS])
{
    for (int i = 0; i < N_SIGNALS; i++) {
        struct sigaction action = { .sa_handler = signals[i].action };
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        sigaction(signals[i].number, &action, &before[i]);
    }
}

/* A handler of this process is the default for another program. */
static void restore_signals(const struct sigaction before[N_SIGNALS])
{
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i].number, &before[i], NULL);
}

/* In the child. errno goes back through the pipe if there is no such program. */
static _Noreturn void become(char *const *argv, int pipe_end)
{
    execvp(argv[0], argv);
    const int error = errno;
    (void)!write(pipe_end, &error, sizeof error);
    _exit(EXIT_NOT_RUN);
}

/* 0, or errno. */
static int start(char *const *argv, const struct sigaction before[N_SIGNALS])
{
    int ends[2], error = 0;
    if (pipe(ends) != 0) return errno;
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    running = fork();
    if (running == 0) {
        close(ends[0]);
        restore_signals(before);
        become(argv, ends[1]);
    }
    if (running < 0) error = errno;
    close(ends[1]);
    if (running > 0 && read(ends[0], &error, sizeof error) != sizeof error) error = 0;
    close(ends[0]);
    if (error != 0 && running > 0) waitpid(running, NULL, 0);
    return error;
}

static int wait_for_end(void)
{
    int status = 0;
    while (waitpid(running, &status, 0) < 0 && errno == EINTR)
        continue;
    running = 0;
    return status;
}

static char **push_arguments(lua_State *L)
{
    const lua_Integer n = luaL_len(L, 1);
    luaL_argcheck(L, n > 0, 1, "a command is needed");
    char **argv = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *argv, 0);
    for (lua_Integer i = 0; i < n; i++) {
        const bool is_text = lua_rawgeti(L, 1, i + 1) == LUA_TSTRING;
        luaL_argcheck(L, is_text, 1, "each word is a text");
        argv[i] = (char *)lua_tostring(L, -1); /* the table keeps the text */
        lua_pop(L, 1);
    }
    argv[n] = NULL;
    return argv;
}

/* run_recorded({command, argument, ...}, {NAME = value, ...}) */
static int run(lua_State *L)
{
    struct sigaction before[N_SIGNALS];
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TTABLE);
    char **argv = push_arguments(L);
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        const bool are_texts = lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING;
        luaL_argcheck(L, are_texts, 2, "names and values are texts");
        setenv(lua_tostring(L, -2), lua_tostring(L, -1), 1);
    }
    take_signals(before);
    const int error = start(argv, before), status = error == 0 ? wait_for_end() : 0;
    restore_signals(before);
    if (error != 0) {
        lua_pushnil(L);
        lua_pushstring(L, strerror(error));
        lua_pushinteger(L, error == ENOENT ? EXIT_NOT_RUN : EXIT_NOT_RUN - 1);
        return 3;
    }
    lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    lua_pushboolean(L, WIFSIGNALED(status));
    return 2;
}

/* As setcap gives them. */
static bool has_capabilities(const char *path)
{
#ifdef __linux__
    return getxattr(path, "security.capability", NULL, 0) > 0;
#else
    (void)path;
    return false;
#endif
}

/* Whether a file gives the program that it has other rights than those of who starts it. */
static bool gives_rights(const char *path)
{
    struct stat info;
    if (access(path, X_OK) != 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    return (info.st_mode & S_ISUID && info.st_uid != geteuid())
           || (info.st_mode & S_ISGID && info.st_gid != getegid()) || has_capabilities(path);
}

/* gives_rights(command): of the file that execvp starts. */
static int command_gives_rights(lua_State *L)
{
    const char *command = luaL_checkstring(L, 1), *rest = getenv("PATH");
    if (strchr(command, '/') || !rest) rest = "";
    bool found = *rest == '\0', gives = found && gives_rights(command);
    while (*rest && !found) {
        const int length = (int)strcspn(rest, ":");
        lua_pushfstring(L, "%s/%s", length == 0 ? "." : lua_pushlstring(L, rest, (size_t)length),
                        command);
        found = access(lua_tostring(L, -1), X_OK) == 0;
        gives = found && gives_rights(lua_tostring(L, -1));
        lua_settop(L, 1);
        rest += length + (rest[length] == ':');
    }
    lua_pushboolean(L, gives);
    return 1;
}

void recorded_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "run_recorded", run },
                                          { "gives_rights", command_gives_rights },
                                          { NULL, NULL } };
    embedded_add(L, functions);
}
