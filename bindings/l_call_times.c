/* l_call_times.c - core.call_times(tl): what the host took for the calls of a recording, for
 * host_part.lua.
 */
#include "l_box.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <stdlib.h>

enum { MOST_SAMPLES = 4096 };

/* {name, bytes, us, name, bytes, us, ...} of a finished timeline, as many as MOST_SAMPLES; and
 * whether they are without what the recorder took. */
static int internal_call_times(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "call_times");
    void **owner = lsl_new_owner(L);
    sl_timed_call *samples = malloc(MOST_SAMPLES * sizeof *samples);
    if (!samples) return luaL_error(L, "not enough memory");
    *owner = samples;
    const size_t n = sl_timeline_call_times(box->p, samples, MOST_SAMPLES);
    lua_createtable(L, (int)(3 * n), 0);
    for (size_t i = 0; i < n; i++) {
        const lua_Integer at = (lua_Integer)(3 * i);
        lua_pushstring(L, sl_timed_call_name(samples[i].kind));
        lua_rawseti(L, -2, at + 1);
        lua_pushinteger(L, (lua_Integer)samples[i].bytes);
        lua_rawseti(L, -2, at + 2);
        lua_pushnumber(L, (lua_Number)samples[i].ns / 1000);
        lua_rawseti(L, -2, at + 3);
    }
    lua_pushboolean(L, sl_timeline_device(box->p)->simulated
                           || sl_timeline_origin(box->p).costs.work_ns > 0);
    return 2;
}

const luaL_Reg lsl_call_times_internals[] = { { "call_times", internal_call_times },
                                              { NULL, NULL } };
