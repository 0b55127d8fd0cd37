/* scratch.c - folders for compilers' files. The one who removes them is not the one who wrote into
 * them, so nothing in them is believed.
 */
#include "children.h"

#include <lauxlib.h>
#include <string.h>

#include "../run/embedded.h"

enum { PATH_BYTES = 256 };

int lsl_make_temporary_folder(char *path); /* bindings/ */
void lsl_remove_temporary_folder(const char *path);

static int make_scratch(lua_State *L)
{
    char path[PATH_BYTES];
    int error = lsl_make_temporary_folder(path);
    if (error != 0)
        return embedded_fail(L, "make_scratch: no folder %s: %s", path, strerror(error));
    lua_pushstring(L, path);
    return 1;
}

static int remove_scratch(lua_State *L)
{
    lsl_remove_temporary_folder(luaL_checkstring(L, 1));
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
