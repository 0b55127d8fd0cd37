/* zip_none.c - takes the place of zip.c in a build without minizip.
 */
#include "commands.h"

#include <lauxlib.h>

#include "../run/embedded.h"

static int zip(lua_State *L)
{
    lua_pushliteral(L, "this streamlab was built without minizip, which .zip files need (sh "
                       "scripts/setup.sh installs it; then run make again)");
    return lua_error(L);
}

void zip_writer_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "zip", zip }, { NULL, NULL } };
    embedded_add(L, functions);
}
