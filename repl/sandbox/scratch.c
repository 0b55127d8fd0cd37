/* scratch.c - folders for compilers' files. The one who removes them is not the one who wrote into
 * them, so nothing in them is believed.
 */
#define _XOPEN_SOURCE 700 /* nftw */
#define _DARWIN_C_SOURCE
#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../run/embedded.h"

enum { MOST_OPEN = 16 };

static int make_scratch(lua_State *L)
{
    const char *temporary = getenv("TMPDIR");
    char path[256];
    int n = snprintf(path, sizeof path, "%s/streamlab-XXXXXX",
                     temporary && *temporary ? temporary : "/tmp");
    if (n >= (int)sizeof path || !mkdtemp(path))
        return embedded_fail(L, "make_scratch: no folder %s: %s", path, strerror(errno));
    lua_pushstring(L, path);
    return 1;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    remove(path);
    return 0;
}

static int remove_scratch(lua_State *L)
{
    nftw(luaL_checkstring(L, 1), remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return 0;
}

void scratch_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "make_scratch", make_scratch },
        { "remove_scratch", remove_scratch },
        { NULL, NULL },
    };
    embedded_add(L, functions);
}
