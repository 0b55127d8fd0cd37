/* l_comm.c - communicators, for bindings/communicators.lua, whose objects hold one of these
 * handles: making them, what their ranks do, groups. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <string.h>

static sl_comm *check_handle(lua_State *L) { return lsl_check_box(L, 1, LSL_COMM, "comm", "comm"); }

/* A list has so many. */
static int count_of(lua_State *L, int list) { return (int)lua_rawlen(L, list); }

/* Pushes an empty handle. */
static lsl_box *new_handle(lua_State *L) { return lsl_new(L, LSL_COMM, sizeof(lsl_box)); }

static int collect_handle(lua_State *L)
{
    lsl_collect(L, LSL_COMM);
    return 0;
}

/* ---- making ------------------------------------------------------------------------ */

/* What stands at the top of the stack: the number of a GPU, its name or the device itself. */
static sl_device *read_device(lua_State *L, const char *op)
{
    lsl_home home;
    int is_whole = 0;
    if (lua_type(L, -1) == LUA_TNUMBER) {
        lua_Integer index = lua_tointegerx(L, -1, &is_whole);
        if (is_whole && index >= 0 && index < INT32_MAX) return lsl_device_at(L, (int)index, op);
    } else if (lsl_read_home(L, lua_gettop(L), &home, op) && !home.host) {
        return home.device ? home.device : lsl_device(L, op);
    }
    lsl_fail(L, SL_EINVAL, op,
             "a device is the number of a GPU, its name as in \"cuda:1\", or what lab.open gave, "
             "got %s",
             lsl_push_given(L, -1));
    return NULL;
}

static sl_comm_options options_at(lua_State *L, int channels)
{
    return (sl_comm_options){ .channels = (int)lua_tointeger(L, channels),
                              .copy_engines = lua_toboolean(L, channels + 1) };
}

/* comm_create(devices, channels, copy_engines): a handle of rank 0. The ranks go together, so that
 * one reference keeps all. */
static int internal_comm_create(lua_State *L)
{
    const int n = count_of(L, 1);
    const sl_comm_options options = options_at(L, 2);
    sl_device **devices = lsl_scratch(L, (size_t)n + 1, sizeof *devices, "comm");
    sl_comm **comms = lsl_scratch(L, (size_t)n + 1, sizeof *comms, "comm");
    sl_error err;
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        devices[i] = read_device(L, "comm");
        lua_pop(L, 1);
        lsl_mark(L, devices[i]);
    }
    lsl_box *box = new_handle(L);
    lsl_check(L, sl_comm_create(devices, (size_t)n, &options, comms, &err), &err, "comm");
    box->p = comms[0];
    for (int i = 1; i < n; i++)
        sl_comm_release(comms[i]);
    return 1;
}

/* comm_join(device or nil, rank, size, file, timeout, channels, copy_engines): a handle. */
static int internal_comm_join(lua_State *L)
{
    const sl_comm_options options = options_at(L, 6);
    sl_error err;
    lua_pushvalue(L, 1);
    sl_device *device = lua_isnil(L, -1) ? lsl_device(L, "comm") : read_device(L, "comm");
    lsl_mark(L, device);
    lsl_box *box = new_handle(L);
    sl_comm *comm = NULL;
    lsl_check(L,
              sl_comm_join_by_file(device, (int)lua_tointeger(L, 2), (int)lua_tointeger(L, 3),
                                   lua_tostring(L, 4), lua_tonumber(L, 5), &options, &comm, &err),
              &err, "comm");
    box->p = comm;
    return 1;
}

/* comm_rank_here(): rank and size that a launcher of processes gives. */
static int internal_comm_rank_here(lua_State *L)
{
    int rank, size;
    sl_error err;
    lsl_check(L, sl_comm_rank_here(&rank, &size, &err), &err, "comm");
    lua_pushinteger(L, rank);
    lua_pushinteger(L, size);
    return 2;
}

/* comm_ranks(handle): size, and a list of {rank, device} of those that this process has. */
static int internal_comm_ranks(lua_State *L)
{
    const sl_comm *comm = check_handle(L);
    const int n = sl_comm_local_count(comm);
    lua_pushinteger(L, sl_comm_size(comm));
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        const sl_comm *rank = sl_comm_local(comm, i);
        lua_createtable(L, 0, 2);
        lsl_set_integer(L, "rank", sl_comm_rank(rank));
        lsl_push_device(L, sl_comm_device(rank));
        lua_setfield(L, -2, "device");
        lua_rawseti(L, -2, i + 1);
    }
    return 2;
}

/* comm_rank_of(handle, tensor, op): which of the process's ranks, from 1, is on the tensor's
 * device; nil: none. */
static int internal_comm_rank_of(lua_State *L)
{
    const sl_comm *comm = check_handle(L);
    const sl_device *device = sl_tensor_device(lsl_check_tensor(L, 2, "t", lua_tostring(L, 3)));
    for (int i = 0; i < sl_comm_local_count(comm); i++) {
        if (sl_comm_device(sl_comm_local(comm, i)) != device) continue;
        lua_pushinteger(L, i + 1);
        return 1;
    }
    return 0;
}

/* current_stream_of(device) */
static int internal_current_stream_of(lua_State *L)
{
    lsl_push_stream(L, lsl_current_stream(L, lsl_check_device(L, 1, "device", "comm")));
    return 1;
}

/* comm_is_freed(handle) */
static int internal_comm_is_freed(lua_State *L)
{
    lua_pushboolean(L, sl_comm_is_freed(check_handle(L)));
    return 1;
}

static int internal_comm_free(lua_State *L)
{
    sl_error err;
    lsl_check(L, sl_comm_free(check_handle(L), &err), &err, "free");
    return 0;
}

static int internal_comm_abort(lua_State *L)
{
    sl_error err;
    lsl_check(L, sl_comm_abort(check_handle(L), &err), &err, "abort");
    return 0;
}

/* ---- what ranks do ------------------------------------------------------------------ */

enum { HANDLE = 1, COLLECTIVE, RANKS, INPUTS, OUTPUTS, STREAMS, REDUCTION, PEER, NAME };

/* The open object in element i of the list, which keeps it; NULL: it has none. `what` names the
 * list, and of one that has several the element is named as well. */
static void *object_in(lua_State *L, int list, int i, lsl_kind kind, const char *what,
                       const char *op)
{
    char element[32] = "";
    lua_rawgeti(L, list, i + 1);
    const lsl_box *box = lsl_to(L, -1, kind);
    const bool fine = box && lsl_is_open(box)
                      && (kind != LSL_TENSOR || !sl_tensor_is_freed(box->p));
    if (lua_rawlen(L, list) > 1) snprintf(element, sizeof element, ", element %d", i + 1);
    if (box && !fine)
        lsl_fail(L, SL_ECLOSED, op, "%s%s: the %s was %s", what, element, lsl_type_name(L, -1),
                 kind == LSL_TENSOR ? "freed" : "closed");
    lua_pop(L, 1);
    return box ? box->p : NULL;
}

static sl_tensor *tensor_in(lua_State *L, int list, int i, const char *op)
{
    return object_in(L, list, i, LSL_TENSOR, list == INPUTS ? "argument 2 (t)" : "option 'out'",
                     op);
}

static sl_stream *stream_in(lua_State *L, int list, int i, sl_comm *comm, const char *op)
{
    sl_stream *stream = object_in(L, list, i, LSL_STREAM, "option 'stream'", op);
    return stream ? stream : lsl_current_stream(L, sl_comm_device(comm));
}

static sl_collective read_collective(lua_State *L)
{
    const char *name = lua_tostring(L, COLLECTIVE);
    int i = 0;
    while (i < SL_COLLECTIVES - 1 && strcmp(sl_collective_name((sl_collective)i), name) != 0)
        i++;
    return (sl_collective)i;
}

/* comm_call(handle, collective, ranks, inputs, outputs, streams, reduction, peer, name): of the
 * i-th rank in the list `ranks`, which counts the process's own from 1, the i-th of the others. */
static int internal_comm_call(lua_State *L)
{
    const sl_comm *comm = check_handle(L);
    const char *op = lua_tostring(L, COLLECTIVE);
    const int n = count_of(L, RANKS);
    const sl_collective collective = read_collective(L);
    sl_comm_call *calls = lsl_scratch(L, (size_t)n + 1, sizeof *calls, op);
    sl_reduction reduction = SL_SUM;
    sl_error err;
    if (lua_isstring(L, REDUCTION)) sl_reduction_parse(lua_tostring(L, REDUCTION), &reduction);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, RANKS, i + 1);
        sl_comm *rank = sl_comm_local(comm, (int)lua_tointeger(L, -1) - 1);
        lua_pop(L, 1);
        lsl_mark(L, sl_comm_device(rank));
        calls[i] = (sl_comm_call){ .comm = rank,
                                   .collective = collective,
                                   .reduction = reduction,
                                   .in = tensor_in(L, INPUTS, i, op),
                                   .out = tensor_in(L, OUTPUTS, i, op),
                                   .peer = (int)lua_tointeger(L, PEER),
                                   .stream = stream_in(L, STREAMS, i, rank, op),
                                   .name = lua_tostring(L, NAME) };
    }
    lsl_check(L, sl_comm_call_all(calls, (size_t)n, &err), &err, op);
    return 0;
}

static int internal_comm_group_begin(lua_State *L)
{
    (void)L;
    sl_comm_group_begin();
    return 0;
}

static int internal_comm_group_end(lua_State *L)
{
    sl_error err;
    lsl_check(L, sl_comm_group_end(&err), &err, "group");
    return 0;
}

static int internal_comm_group_abort(lua_State *L)
{
    (void)L;
    sl_comm_group_abort();
    return 0;
}

void lsl_open_comm_internal(lua_State *L)
{
    static const luaL_Reg meta[] = { { "__gc", collect_handle }, { NULL, NULL } };
    static const luaL_Reg functions[] = {
        { "comm_create", internal_comm_create },
        { "comm_join", internal_comm_join },
        { "comm_rank_here", internal_comm_rank_here },
        { "comm_ranks", internal_comm_ranks },
        { "comm_rank_of", internal_comm_rank_of },
        { "current_stream_of", internal_current_stream_of },
        { "comm_is_freed", internal_comm_is_freed },
        { "comm_free", internal_comm_free },
        { "comm_abort", internal_comm_abort },
        { "comm_call", internal_comm_call },
        { "comm_group_begin", internal_comm_group_begin },
        { "comm_group_end", internal_comm_group_end },
        { "comm_group_abort", internal_comm_group_abort },
        { NULL, NULL },
    };
    lsl_define(L, LSL_COMM, meta, NULL, NULL);
    lsl_set_functions(L, functions);
}
