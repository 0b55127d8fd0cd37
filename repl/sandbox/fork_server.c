/* fork_server.c - a process that has loaded what many children need, and is forked for each of
 * them.
 *
 * Its parent sends a message for each child: the words of its command, and with them its files. The
 * answer is the child's number, 0 if there is none.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, CLONE_PARENT */
#endif
#include "fork_server.h"

#include <errno.h>
#include <lauxlib.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#endif

#include "../run/embedded.h"
#include "../run/ctrl_c.h"

static const char class_name[] = "streamlab.fork_server";

/* Of all words of a command. */
enum { MOST_BYTES = 16 << 10 };

typedef struct fork_server {
    pid_t pid; /* 0: it has ended */
    int socket;
} fork_server;

/* A message with room for a child's files beside it. */
typedef struct letter {
    struct msghdr head;
    struct iovec text;
    _Alignas(struct cmsghdr) char files[CMSG_SPACE(CHILD_FILES * sizeof(int))];
} letter;

static void prepare(letter *l, char *text, size_t n)
{
    memset(l, 0, sizeof *l);
    l->text = (struct iovec){ text, n };
    l->head = (struct msghdr){ .msg_iov = &l->text,
                               .msg_iovlen = 1,
                               .msg_control = l->files,
                               .msg_controllen = sizeof l->files };
}

/* ---- the parent's side ----------------------------------------------------------- */

static void end(fork_server *server)
{
    if (server->pid == 0) return;
    close(server->socket);
    kill(server->pid, SIGKILL);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    server->pid = 0;
}

/* The words, each with its 0 at the end; how many bytes, 0 if they are too many. */
static size_t join(char text[MOST_BYTES], char *const *words)
{
    size_t n = 0;
    for (; *words; words++) {
        size_t more = strlen(*words) + 1;
        if (more > MOST_BYTES - n) return 0;
        memcpy(text + n, *words, more);
        n += more;
    }
    return n;
}

static bool send_files(int socket, char *text, size_t n, const int files[CHILD_FILES])
{
    letter l;
    prepare(&l, text, n);
    struct cmsghdr *c = CMSG_FIRSTHDR(&l.head);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(CHILD_FILES * sizeof *files);
    memcpy(CMSG_DATA(c), files, CHILD_FILES * sizeof *files);
    return sendmsg(socket, &l.head, MSG_NOSIGNAL) == (ssize_t)n;
}

/* The child's number, 0 if there is none. A server that still loads lets us wait; Ctrl-C ends
 * that. */
static pid_t ask(const fork_server *server, char *const *words, const int files[CHILD_FILES])
{
    char text[MOST_BYTES];
    pid_t pid = 0;
    size_t n = join(text, words);
    if (n == 0 || !send_files(server->socket, text, n, files)) return 0;
    ssize_t got;
    do {
        got = recv(server->socket, &pid, sizeof pid, 0);
    } while (got < 0 && errno == EINTR && !interrupt_is_pending());
    return got == (ssize_t)sizeof pid ? pid : 0;
}

bool fork_server_run(lua_State *L, int index, child_start *start)
{
    int files[CHILD_FILES];
    fork_server *server = luaL_testudata(L, index, class_name);
    if (!server || server->pid == 0) return false;
    start->pid = child_open(start, files) ? ask(server, start->argv, files) : 0;
    child_close(files, CHILD_FILES);
    if (start->pid > 0) return true;
    child_close(start->pipes, CHILD_PIPES);
    end(server);
    return false;
}

static int start_fork_server(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    child_start start = { .talks = true };
    start.argv = child_push_arguments(L, 1);
    start.environment = child_push_environment(L, 0);
    fork_server *server = lua_newuserdatauv(L, sizeof *server, 0);
    *server = (fork_server){ 0 };
    luaL_setmetatable(L, class_name);
    if (child_run(&start)) *server = (fork_server){ start.pid, start.pipes[CHILD_REPORT - 1] };
    return 1;
}

static int collect(lua_State *L)
{
    end(luaL_checkudata(L, 1, class_name));
    return 0;
}

/* ---- the server's side ----------------------------------------------------------- */

#ifdef __linux__

/* A thread would be missing in the child, and with it whatever it had locked. */
static bool is_alone(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3; /* ".", its name, one */
}

/* As fork does, but the child's parent is ours. The C library does not know of it; it has nothing
 * to put right where there is one thread. */
static pid_t fork_sibling(void)
{
#if defined __s390__ || defined __CRIS__
    return (pid_t)syscall(SYS_clone, 0, CLONE_PARENT | SIGCHLD, 0, 0, 0);
#else
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
#endif
}

/* The words of a command and the child's files. 0: there is no other one. */
static size_t receive(char text[MOST_BYTES], int files[CHILD_FILES])
{
    letter l;
    ssize_t n;
    prepare(&l, text, MOST_BYTES);
    do {
        n = recvmsg(CHILD_REPORT, &l.head, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    struct cmsghdr *c = CMSG_FIRSTHDR(&l.head);
    if (n <= 0 || !c || c->cmsg_len != CMSG_LEN(CHILD_FILES * sizeof *files)) return 0;
    memcpy(files, CMSG_DATA(c), CHILD_FILES * sizeof *files);
    return (size_t)n;
}

static int push_words(lua_State *L, const char *text, size_t n)
{
    int count = 0;
    for (const char *word = text; word < text + n; word += strlen(word) + 1) {
        luaL_checkstack(L, ++count, "next_fork: too many words");
        lua_pushstring(L, word);
    }
    return count;
}

static int next_fork(lua_State *L)
{
    char text[MOST_BYTES];
    int files[CHILD_FILES];
    pid_t parent = getppid();
    while (is_alone()) {
        size_t n = receive(text, files);
        if (n == 0) break;
        pid_t pid = fork_sibling();
        if (pid == 0 && !child_settle(files, parent)) break;
        child_close(files, CHILD_FILES);
        if (pid == 0) return push_words(L, text, n);
        if (pid < 0) pid = 0;
        if (send(CHILD_REPORT, &pid, sizeof pid, MSG_NOSIGNAL) < 0) break;
    }
    _exit(1);
}

#else

static int next_fork(lua_State *L)
{
    (void)L;
    _exit(1);
}

#endif

void fork_server_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "start_fork_server", start_fork_server },
        { "next_fork", next_fork },
        { NULL, NULL },
    };
    static const luaL_Reg meta[] = { { "__gc", collect }, { "__close", collect }, { NULL, NULL } };
    luaL_newmetatable(L, class_name);
    luaL_setfuncs(L, meta, 0);
    lua_pop(L, 1);
    embedded_add(L, functions);
}
