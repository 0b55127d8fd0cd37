/* terminal.c - a terminal for tests: runs a program on a pseudo-terminal.
 *
 * A Lua module, built to build/tests/repl/terminal.so. Tests take tests/repl/session.lua,
 * which reads what the program draws into a screen (screen.lua) and waits until the screen
 * shows something. The module itself:
 *
 *   local terminal = require "terminal"
 *   local t = terminal.open {
 *       argv = {"build/streamlab", "--norc"},       the program and its arguments
 *       env = {TERM = "xterm", NO_COLOR = false},   changes to the environment; false unsets
 *       columns = 80, rows = 24,                    the size, if not this one
 *   }
 *   t:send(bytes)         types; Ctrl-C is "\3", Ctrl-D "\4", the arrow up "\27[A"
 *   t:read(seconds)       what the program has written, waiting so long for it: "" if it wrote
 *                         nothing, nil at the end (the program and its children are gone)
 *   t:resize(columns, rows)     the program gets SIGWINCH
 *   t:signal(name)        "INT", "TERM", "STOP", "CONT", "TSTP", "KILL", "HUP", "QUIT", "WINCH"
 *   t:modes()             {canonical =, echo =, signals =}: how the terminal is set
 *   t:state()             "running", "stopped" or "ended"
 *   t:wait(seconds)       the exit status (128 + n for signal n), or nil if it has not ended
 *   t:close()             kills what is left; the collector does it too
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* struct winsize, TIOCSWINSZ */
#endif
#include <lauxlib.h>
#include <lua.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

int luaopen_terminal(lua_State *L);

static const char type_name[] = "test.terminal";

typedef struct terminal {
    int fd;     /* the master's side; -1: closed */
    pid_t pid;  /* 0: none, or waited for */
    int status; /* the exit status, once waited for; -1 before */
    bool stopped;
} terminal;

static terminal *check_terminal(lua_State *L)
{
    terminal *t = luaL_checkudata(L, 1, type_name);
    if (t->fd < 0) luaL_error(L, "the terminal is closed");
    return t;
}

static int fail(lua_State *L, const char *what)
{
    return luaL_error(L, "%s: %s", what, strerror(errno));
}

/* ---- opening ---------------------------------------------------------------- */

/* Fills a NULL-terminated vector, which the collector frees, with the table's strings. */
static char **push_arguments(lua_State *L, int table)
{
    lua_Integer n = luaL_len(L, table);
    luaL_argcheck(L, n > 0, 1, "argv names no program");
    char **argv = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *argv, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(L, table, i);
        argv[i - 1] = (char *)luaL_checkstring(L, -1); /* the table keeps it */
        lua_pop(L, 1);
    }
    argv[n] = NULL;
    return argv;
}

/* In the child: changes the environment as the table at `index` says. */
static void change_environment(lua_State *L, int index)
{
    if (!lua_istable(L, index)) return;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        if (lua_isstring(L, -1))
            setenv(lua_tostring(L, -2), lua_tostring(L, -1), 1);
        else
            unsetenv(lua_tostring(L, -2));
        lua_pop(L, 1);
    }
}

/* In the child: the slave's side becomes its controlling terminal, and all three files. */
static void take_terminal(int slave)
{
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (int number = 1; number < 32; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int open_slave(int master)
{
    if (grantpt(master) != 0 || unlockpt(master) != 0) return -1;
    const char *name = ptsname(master);
    return name ? open(name, O_RDWR | O_NOCTTY) : -1;
}

static unsigned short size_field(lua_State *L, const char *name, int otherwise)
{
    lua_getfield(L, 1, name);
    lua_Integer n = luaL_optinteger(L, -1, otherwise);
    lua_pop(L, 1);
    return (unsigned short)n;
}

static int open_terminal(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    struct winsize size = {
        .ws_col = size_field(L, "columns", 80),
        .ws_row = size_field(L, "rows", 24),
    };
    lua_getfield(L, 1, "env");
    lua_getfield(L, 1, "argv");
    luaL_checktype(L, 3, LUA_TTABLE);
    char **argv = push_arguments(L, 3);
    terminal *t = lua_newuserdatauv(L, sizeof *t, 0);
    *t = (terminal){ .fd = -1, .status = -1 };
    luaL_setmetatable(L, type_name);
    t->fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (t->fd < 0) return fail(L, "posix_openpt");
    fcntl(t->fd, F_SETFD, FD_CLOEXEC);
    int slave = open_slave(t->fd);
    if (slave < 0) return fail(L, "opening the terminal's other side");
    ioctl(slave, TIOCSWINSZ, &size);
    t->pid = fork();
    if (t->pid == 0) {
        take_terminal(slave);
        change_environment(L, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(slave);
    if (t->pid < 0) {
        t->pid = 0;
        return fail(L, "fork");
    }
    return 1;
}

/* ---- typing and reading ------------------------------------------------------- */

static int wait_until(int fd, short events, double seconds)
{
    struct pollfd one = { .fd = fd, .events = events };
    return poll(&one, 1, seconds <= 0 ? 0 : (int)(seconds * 1000 + 0.999));
}

/* Types in pieces: a terminal takes no more than 4095 bytes that nobody has read. */
static int send_bytes(lua_State *L)
{
    terminal *t = check_terminal(L);
    size_t n;
    const char *bytes = luaL_checklstring(L, 2, &n);
    while (n > 0) {
        if (wait_until(t->fd, POLLOUT, 10) <= 0)
            return luaL_error(L, "the program does not read what is typed");
        size_t piece = n < 512 ? n : 512;
        ssize_t written = write(t->fd, bytes, piece);
        if (written < 0 && errno != EAGAIN && errno != EINTR) return fail(L, "typing");
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
    }
    return 0;
}

static int read_bytes(lua_State *L)
{
    terminal *t = check_terminal(L);
    double seconds = luaL_optnumber(L, 2, 0);
    char bytes[4096];
    if (wait_until(t->fd, POLLIN, seconds) <= 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    ssize_t n = read(t->fd, bytes, sizeof bytes);
    if (n > 0)
        lua_pushlstring(L, bytes, (size_t)n);
    else if (n < 0 && (errno == EINTR || errno == EAGAIN))
        lua_pushliteral(L, "");
    else
        lua_pushnil(L); /* EIO: nobody has the other side open */
    return 1;
}

static int resize(lua_State *L)
{
    terminal *t = check_terminal(L);
    struct winsize size = {
        .ws_col = (unsigned short)luaL_checkinteger(L, 2),
        .ws_row = (unsigned short)luaL_checkinteger(L, 3),
    };
    if (ioctl(t->fd, TIOCSWINSZ, &size) != 0) return fail(L, "TIOCSWINSZ");
    return 0;
}

static int modes(lua_State *L)
{
    terminal *t = check_terminal(L);
    struct termios set;
    if (tcgetattr(t->fd, &set) != 0) return fail(L, "tcgetattr");
    lua_newtable(L);
    lua_pushboolean(L, (set.c_lflag & ICANON) != 0);
    lua_setfield(L, -2, "canonical");
    lua_pushboolean(L, (set.c_lflag & ECHO) != 0);
    lua_setfield(L, -2, "echo");
    lua_pushboolean(L, (set.c_lflag & ISIG) != 0);
    lua_setfield(L, -2, "signals");
    return 1;
}

/* ---- the process ---------------------------------------------------------------- */

static int send_signal(lua_State *L)
{
    static const char *const names[] = {
        "INT", "TERM", "STOP", "CONT", "TSTP", "KILL", "HUP", "QUIT", "WINCH", NULL,
    };
    static const int numbers[] = {
        SIGINT, SIGTERM, SIGSTOP, SIGCONT, SIGTSTP, SIGKILL, SIGHUP, SIGQUIT, SIGWINCH,
    };
    terminal *t = check_terminal(L);
    int number = numbers[luaL_checkoption(L, 2, NULL, names)];
    if (t->pid > 0 && kill(t->pid, number) != 0) return fail(L, "kill");
    return 0;
}

/* Takes notice of what has become of the process. */
static void look_at_process(terminal *t)
{
    int status;
    while (t->pid > 0 && waitpid(t->pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == t->pid) {
        if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
            t->stopped = WIFSTOPPED(status);
            continue;
        }
        t->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        t->pid = 0;
    }
}

static int state(lua_State *L)
{
    terminal *t = luaL_checkudata(L, 1, type_name);
    look_at_process(t);
    lua_pushstring(L, t->pid == 0 ? "ended" : t->stopped ? "stopped" : "running");
    return 1;
}

static void sleep_ms(long ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

static int wait_process(lua_State *L)
{
    terminal *t = luaL_checkudata(L, 1, type_name);
    double left = luaL_optnumber(L, 2, 0);
    for (look_at_process(t); t->pid > 0 && left > 0; left -= 0.002) {
        sleep_ms(2);
        look_at_process(t);
    }
    if (t->pid == 0 && t->status >= 0)
        lua_pushinteger(L, t->status);
    else
        lua_pushnil(L);
    return 1;
}

static int close_terminal(lua_State *L)
{
    terminal *t = luaL_checkudata(L, 1, type_name);
    look_at_process(t);
    if (t->pid > 0) {
        kill(-t->pid, SIGKILL); /* it is the leader of its group */
        kill(t->pid, SIGKILL);
        waitpid(t->pid, NULL, 0);
        t->pid = 0;
        t->status = 128 + SIGKILL;
    }
    if (t->fd >= 0) close(t->fd);
    t->fd = -1;
    return 0;
}

/* clock(): seconds, for time limits. */
static int monotonic(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec * 1e-9);
    return 1;
}

int luaopen_terminal(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "send", send_bytes },   { "read", read_bytes },      { "resize", resize },
        { "modes", modes },       { "signal", send_signal },   { "state", state },
        { "wait", wait_process }, { "close", close_terminal }, { "__gc", close_terminal },
        { NULL, NULL },
    };
    static const luaL_Reg functions[] = {
        { "open", open_terminal },
        { "clock", monotonic },
        { NULL, NULL },
    };
    luaL_newmetatable(L, type_name);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    luaL_newlib(L, functions);
    return 1;
}
