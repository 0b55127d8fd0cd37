/* mute.c - discards what is written to stdout, and to stderr, for a while.
 *
 * It replaces the descriptors, because not only Lua's print and io.write use them, but also charts,
 * which are written in C.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "embedded.h"

typedef struct muted {
    int descriptor;
    int kept; /* the real one, while it is away; -1 */
} muted;

static muted out = { STDOUT_FILENO, -1 }, err = { STDERR_FILENO, -1 };

static void put_away(lua_State *L, muted *m)
{
    if (m->kept >= 0) return;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int copy = nowhere < 0 ? -1 : fcntl(m->descriptor, F_DUPFD_CLOEXEC, 3);
    bool fine = copy >= 0 && dup2(nowhere, m->descriptor) >= 0;
    int error = errno;
    if (nowhere >= 0) close(nowhere);
    if (fine)
        m->kept = copy;
    else if (copy >= 0)
        close(copy);
    if (!fine) embedded_fail(L, "cannot put stdout or stderr away: %s", strerror(error));
}

static void put_back(lua_State *L, muted *m)
{
    if (m->kept < 0) return;
    bool fine = dup2(m->kept, m->descriptor) >= 0;
    int error = errno;
    close(m->kept);
    m->kept = -1;
    if (!fine) embedded_fail(L, "cannot put stdout or stderr back: %s", strerror(error));
}

/* mute(both): stdout, and stderr as well if `both`. */
static int mute(lua_State *L)
{
    fflush(stdout);
    put_away(L, &out);
    if (lua_toboolean(L, 1)) put_away(L, &err);
    return 0;
}

static int unmute(lua_State *L)
{
    fflush(stdout);
    put_back(L, &err);
    put_back(L, &out);
    return 0;
}

void mute_add(lua_State *L)
{
    static const luaL_Reg functions[] = { { "mute", mute }, { "unmute", unmute }, { NULL, NULL } };
    embedded_add(L, functions);
}
