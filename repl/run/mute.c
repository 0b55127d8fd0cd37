/* mute.c - discards what is written to stdout, for a while.
 *
 * It replaces the descriptor, because not only Lua's print and io.write use it, but also charts,
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

static int kept = -1; /* the real stdout, while it is away */

static int mute(lua_State *L)
{
    if (kept >= 0) return 0;
    fflush(stdout);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int copy = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    bool fine = copy >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
    int error = errno;
    if (nowhere >= 0) close(nowhere);
    if (fine)
        kept = copy;
    else if (copy >= 0)
        close(copy);
    return fine ? 0 : embedded_fail(L, "cannot put stdout away: %s", strerror(error));
}

static int unmute(lua_State *L)
{
    if (kept < 0) return 0;
    fflush(stdout);
    bool fine = dup2(kept, STDOUT_FILENO) >= 0;
    int error = errno;
    close(kept);
    kept = -1;
    return fine ? 0 : embedded_fail(L, "cannot put stdout back: %s", strerror(error));
}

void mute_add(lua_State *L)
{
    static const luaL_Reg functions[] = { { "mute", mute }, { "unmute", unmute }, { NULL, NULL } };
    embedded_add(L, functions);
}
