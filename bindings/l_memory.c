/* l_memory.c - what a program allocated and freed while it was recorded, as tables. */
#include "l_error.h"
#include "l_timeline.h"

#include <stdlib.h>

void lsl_set_memory_of_call(lua_State *L, const sl_timeline *timeline, uint64_t correlation)
{
    const sl_memory_note *note = sl_timeline_find_memory(timeline, correlation);
    if (!note) return;
    lsl_set_text(L, "memory", sl_memory_kind_name((sl_memory_kind)note->kind));
    lsl_set_integer(L, "bytes", (int64_t)note->bytes);
    lsl_set_boolean(L, "frees", note->frees);
    if (note->reserved_bytes) lsl_set_integer(L, "reserved_bytes", (int64_t)note->reserved_bytes);
}

/* Sums are cut where Lua's integers end. */
static void set_bytes(lua_State *L, const char *field, uint64_t bytes)
{
    lsl_set_integer(L, field, bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX);
}

/* {kind =, allocations =, frees =, bytes =, ...}; times are in us from `base_ns` on. */
static void push_use(lua_State *L, sl_memory_kind kind, const sl_memory_use *use, int64_t base_ns)
{
    lua_createtable(L, 0, 10);
    lsl_set_text(L, "kind", sl_memory_kind_name(kind));
    lsl_set_integer(L, "allocations", (int64_t)use->n_allocations);
    lsl_set_integer(L, "frees", (int64_t)use->n_frees);
    set_bytes(L, "bytes", use->bytes);
    set_bytes(L, "peak_bytes", use->peak_bytes);
    if (use->n_allocations > 0) lsl_set_us(L, "peak_us", use->peak_ns - base_ns);
    set_bytes(L, "left_bytes", use->left_bytes);
    if (use->reserved_bytes) set_bytes(L, "reserved_bytes", use->reserved_bytes);
    lsl_set_us(L, "calls_us", use->calls_ns);
    lsl_set_us(L, "waited_us", use->waited_ns);
}

lua_Integer lsl_push_memory(lua_State *L, const sl_timeline *timeline, const char *op)
{
    sl_memory_use use[SL_MEMORY_KINDS];
    sl_error err;
    lua_Integer n = 0;
    lsl_check(L, sl_timeline_memory_use(timeline, use, &err), &err, op);
    lua_newtable(L);
    for (int kind = 0; kind < SL_MEMORY_KINDS; kind++) {
        if (use[kind].n_allocations + use[kind].n_frees == 0) continue;
        push_use(L, (sl_memory_kind)kind, &use[kind], sl_timeline_host_start_ns(timeline));
        lua_rawseti(L, -2, ++n);
    }
    return n;
}

void lsl_set_memory(lua_State *L, const sl_timeline *timeline, const char *op)
{
    if (lsl_push_memory(L, timeline, op) > 0)
        lua_setfield(L, -2, "memory");
    else
        lua_pop(L, 1);
}

/* Appends {title =, prefix =, most_bytes =, at_us =} to the list on top of the stack, if the
 * timeline has samples of it. */
static void add_sampled(lua_State *L, const sl_timeline *timeline, sl_counter_kind kind, int place,
                        const char *op)
{
    sl_counter counter;
    sl_error err;
    char prefix[SL_PREFIX_BYTES] = "";
    lsl_check(L, sl_timeline_counter(timeline, kind, place, &counter, &err), &err, op);
    const bool has_samples = counter.n > 0;
    free(counter.at);
    if (!has_samples) return;
    sl_timeline_device_prefix(timeline, place, prefix);
    lua_createtable(L, 0, 4);
    lsl_set_text(L, "title", sl_counter_title(kind));
    lsl_set_text(L, "prefix", prefix);
    lsl_set_integer(L, "most_bytes", counter.most);
    lsl_set_us(L, "at_us", counter.most_ns - sl_timeline_host_start_ns(timeline));
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

void lsl_set_sampled_memory(lua_State *L, const sl_timeline *timeline, const char *op)
{
    static const sl_counter_kind kinds[] = { SL_COUNTER_ALLOCATED, SL_COUNTER_RESERVED };
    luaL_checkstack(L, 4, NULL);
    lua_newtable(L);
    for (int k = 0; k < sl_timeline_device_count(timeline); k++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            add_sampled(L, timeline, kinds[i], sl_timeline_place_in_order(timeline, k), op);
    lua_setfield(L, -2, "sampled");
}
