/* zip_none.c - takes the place of zip.c in a build without minizip.
 */
#include "zip.h"

#include <lauxlib.h>

#include "embedded.h"

static int write_zip(lua_State *L)
{
    lua_pushfstring(L, "cannot write %s: this streamlab was built without minizip, which .zip "
                    "files need (sh scripts/setup.sh installs it; then run make again)",
                    luaL_checkstring(L, 1));
    return lua_error(L);
}

void zip_writer_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"write_zip", write_zip}, {NULL, NULL}};
    embedded_add(L, functions);
}
