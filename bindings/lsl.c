/* lsl.c - shared helpers of the Lua module: userdata boxes and checks of arguments. See
 * lsl.h.
 *
 * Type checks look at the tag at the start of the userdata (lsl_to); luaL_checkudata
 * would look a name up each time.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes ---------------------------------------------------------------- */

const char lsl_tags[LSL_KINDS];
const char *const lsl_nouns[LSL_KINDS] = {
    "a device",       "a stream",   "an event", "a tensor", "a graph",    "a kernel",
    "a communicator", "a timeline", "a thread", "a guard",  "a userdata",
};

void *lsl_new(lua_State *L, lsl_kind kind, size_t bytes)
{
    lsl_state *state = lsl_get(L);
    lsl_tag *tag = lua_newuserdatauv(L, bytes, kind == LSL_GUARD ? 2 : kind == LSL_KERNEL ? 1 : 0);
    memset(tag, 0, bytes);
    *tag = &lsl_tags[kind];
    if (state->bytes[kind] == 0) state->bytes[kind] = bytes;
    lua_rawgeti(L, LUA_REGISTRYINDEX, state->metatable_ref[kind]);
    lua_setmetatable(L, -2);
    return tag;
}

/* Lua counts the memory of a box, but not what the core keeps for it, and an object with a
 * finalizer is there for two rounds of the collector. So where a script makes results that nobody
 * holds, they would come faster than they go: the collector is hurried. */
static void hurry_collector(lua_State *L, lsl_state *state)
{
    enum { BOXES = 64, KIB = 10 };
    if (++state->boxes_made % BOXES == 0 && lua_gc(L, LUA_GCISRUNNING) == 1)
        lua_gc(L, LUA_GCSTEP, KIB);
}

lsl_box *lsl_new_box(lua_State *L, lsl_kind kind)
{
    lsl_state *state = lsl_get(L);
    hurry_collector(L, state);
    lsl_box *box = lsl_new(L, kind, sizeof *box);
    box->next = state->boxes;
    box->link = &state->boxes;
    if (box->next) box->next->link = &box->next;
    state->boxes = box;
    return box;
}

/* Every box is finalized before the memory of any is freed, so its neighbours are there. */
static void unlist(lsl_box *box)
{
    if (!box->link) return;
    *box->link = box->next;
    if (box->next) box->next->link = box->link;
    box->next = NULL;
    box->link = NULL;
}

const lsl_tag *lsl_memory(lua_State *L, int arg)
{
    return lua_rawlen(L, arg) >= sizeof(lsl_tag) ? lua_touserdata(L, arg) : NULL;
}

/* An emptied userdata has no tag but still its metatable. A script can still hold it: after
 * close(), or in a finalizer. With debug.setmetatable it can give the metatable to another
 * userdata: that one has something where the tag was, or is of another size. */
void *lsl_to_emptied(lua_State *L, int arg, lsl_kind kind)
{
    const lsl_state *state = lsl_get(L);
    lsl_tag *tag = (lsl_tag *)lsl_memory(L, arg);
    if (!tag || *tag || lua_rawlen(L, arg) != state->bytes[kind] || !lua_getmetatable(L, arg))
        return NULL;
    bool same = lua_topointer(L, -1) == state->metatable[kind];
    lua_pop(L, 1);
    return same ? tag : NULL;
}

void *lsl_take(lua_State *L, lsl_kind kind)
{
    lsl_box *box = lsl_to(L, 1, kind);
    if (!box) return NULL;
    void *p = box->p;
    if (lsl_is_listed(kind)) unlist(box);
    box->tag = NULL;
    box->p = NULL;
    return p;
}

/* Inside a finalizer lua_gc returns -1; before Lua 5.4.4 it returns 0 (not running). */
bool lsl_in_finalizer(lua_State *L)
{
#if LUA_VERSION_RELEASE_NUM >= 50404
    return lua_gc(L, LUA_GCISRUNNING) < 0;
#else
    return lua_gc(L, LUA_GCISRUNNING) == 0;
#endif
}

/* cudaStreamDestroy: a capture that began in the stream is over; one that it has joined goes on.
 * The current stream can be had again, and so can one of a thread that has ended: others have
 * it. */
static void release_stream(const lsl_state *state, sl_stream *stream)
{
    bool is_current = stream && sl_device_current_stream(sl_stream_device(stream)) == stream;
    bool has_ended = state->of_thread && state != lsl_own_state();
    if (stream && !is_current && !has_ended) sl_stream_abandon_capture(stream);
    sl_stream_release(stream);
}

static void release_object(const lsl_state *state, lsl_kind kind, void *p)
{
    if (kind == LSL_DEVICE) sl_device_release(p);
    if (kind == LSL_STREAM) release_stream(state, p);
    if (kind == LSL_EVENT) sl_event_release(p);
    if (kind == LSL_TENSOR) sl_tensor_release(p);
    if (kind == LSL_GRAPH) sl_graph_release(p);
    if (kind == LSL_KERNEL) sl_custom_release(p);
    if (kind == LSL_COMM) sl_comm_release(p);
}

void lsl_collect(lua_State *L, lsl_kind kind)
{
    lsl_state *state = lsl_get(L);
    state->in_gc++;
    release_object(state, kind, lsl_take(L, kind));
    state->in_gc--;
}

int lsl_close(lua_State *L, lsl_kind kind)
{
    lsl_box *box = lsl_to(L, 1, kind);
    if (!box) lsl_type_error(L, 1, "self", lsl_nouns[kind], "close");
    box->closed = true;
    if (lsl_get(L)->in_host_func == 0 && !lsl_in_finalizer(L))
        release_object(lsl_get(L), kind, lsl_take(L, kind));
    return 0;
}

void lsl_remember(lua_State *L)
{
    lsl_box *box = lua_touserdata(L, -1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->boxes_ref);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, box->p);
    lua_pop(L, 1);
}

/* The table is weak and a closed box stays in it until it is collected; by then
 * the address may be that of another object. */
bool lsl_push_known(lua_State *L, lsl_kind kind, const void *p)
{
    luaL_checkstack(L, 4, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->boxes_ref);
    lua_rawgetp(L, -1, p);
    lua_remove(L, -2);
    lsl_box *box = lsl_to(L, -1, kind);
    if (box && lsl_is_open(box) && box->p == p) return true;
    lua_pop(L, 1);
    return false;
}

void lsl_push_device(lua_State *L, sl_device *device)
{
    if (lsl_push_known(L, LSL_DEVICE, device)) return;
    lsl_box *box = lsl_new_box(L, LSL_DEVICE);
    box->p = sl_device_retain(device);
    lsl_remember(L);
}

/* ---- scratch memory --------------------------------------------------------- */

/* Memory that the collector releases: of malloc, or what lies behind this struct. */
typedef struct scratch {
    lsl_tag tag;
    void *p;
    void (*release)(void *p);
} scratch;

static scratch *new_scratch(lua_State *L, size_t bytes, void (*release)(void *p))
{
    scratch *s = lsl_new(L, LSL_SCRATCH, sizeof *s + bytes);
    s->release = release;
    return s;
}

static int scratch_gc(lua_State *L)
{
    scratch *s = lsl_to(L, 1, LSL_SCRATCH);
    if (!s) return 0;
    if (s->p) s->release(s->p);
    s->p = NULL;
    s->tag = NULL;
    return 0;
}

const luaL_Reg lsl_scratch_meta[] = { { "__gc", scratch_gc },
                                      { "__close", scratch_gc },
                                      { NULL, NULL } };

void *lsl_new_scratch(lua_State *L, size_t bytes, void (*release)(void *))
{
    scratch *s = new_scratch(L, bytes, release);
    return s->p = s + 1;
}

void *lsl_scratch_at(lua_State *L, int idx) { return ((scratch *)lua_touserdata(L, idx))->p; }

void **lsl_new_owner(lua_State *L) { return &new_scratch(L, 0, free)->p; }

void *lsl_scratch(lua_State *L, size_t count, size_t size, const char *op)
{
    void **memory = lsl_new_owner(L);
    if (count < SIZE_MAX / size) *memory = calloc(count > 0 ? count : 1, size);
    if (!*memory)
        lsl_fail(L, SL_ENOMEM, op, "out of host memory for %zu items of %zu bytes", count, size);
    return *memory;
}

/* ---- arguments -------------------------------------------------------------- */

lsl_kind lsl_kind_of(lua_State *L, int idx)
{
    int kind = 0;
    while (kind < LSL_KINDS && !lsl_to(L, idx, (lsl_kind)kind))
        kind++;
    return (lsl_kind)kind;
}

const char *lsl_type_name(lua_State *L, int idx)
{
    if (lua_isnone(L, idx) || lua_isnil(L, idx)) return "nothing";
    lsl_kind kind = lsl_kind_of(L, idx);
    return kind < LSL_KINDS ? strchr(lsl_nouns[kind], ' ') + 1 : luaL_typename(L, idx);
}

/* A method without its object: t.size() for t:size(). */
static int fail_self(lua_State *L, int arg, const char *needed, const char *op)
{
    static const char *const letters[] = { "d", "s", "e", "t", "g", "k", "comm", "tl", "t" };
    const char *letter = "object";
    for (int i = 0; i < LSL_COUNT(letters); i++)
        if (strcmp(lsl_nouns[i], needed) == 0) letter = letters[i];
    return lsl_fail(L, SL_EINVAL, op, "argument %d (self) must be %s, got %s; call it as %s:%s(%s)",
                    arg, needed, lsl_type_name(L, arg), letter, op,
                    lua_isnoneornil(L, arg) ? "" : "...");
}

int lsl_type_error(lua_State *L, int arg, const char *name, const char *needed, const char *op)
{
    if (strcmp(name, "self") == 0) return fail_self(L, arg, needed, op);
    return lsl_fail(L, SL_EINVAL, op, "argument %d (%s) must be %s, got %s", arg, name, needed,
                    lsl_type_name(L, arg));
}

int lsl_fail_box(lua_State *L, int arg, lsl_kind kind, const char *name, const char *op)
{
    if (!lsl_to(L, arg, kind)) return lsl_type_error(L, arg, name, lsl_nouns[kind], op);
    const char *noun = lsl_type_name(L, arg);
    if (kind != LSL_TENSOR && kind != LSL_GRAPH)
        return lsl_fail(L, SL_ECLOSED, op, "the %s was closed", noun);
    if (strcmp(name, "self") == 0) return lsl_fail(L, SL_ECLOSED, op, "the %s was freed", noun);
    return lsl_fail(L, SL_ECLOSED, op, "argument %d (%s): the %s was freed", arg, name, noun);
}

/* Tests for a stream first: most calls pass one. */
sl_stream *lsl_opt_stream(lua_State *L, int arg, const char *name, const char *op)
{
    const lsl_box *box = lsl_to(L, arg, LSL_STREAM);
    if (box && lsl_is_open(box)) return box->p;
    return lua_isnoneornil(L, arg) ? NULL : lsl_check_stream(L, arg, name, op);
}

double lsl_check_odd_number(lua_State *L, int arg, const char *name, const char *op)
{
    if (lua_type(L, arg) != LUA_TNUMBER) lsl_type_error(L, arg, name, "a number", op);
    return lua_tonumber(L, arg);
}

int64_t lsl_check_integer(lua_State *L, int arg, const char *name, int64_t least, int64_t greatest,
                          const char *op)
{
    if (lua_type(L, arg) != LUA_TNUMBER) lsl_type_error(L, arg, name, "a whole number", op);
    int whole;
    lua_Integer value = lua_tointegerx(L, arg, &whole);
    if (!whole)
        lsl_fail(L, SL_EINVAL, op, "argument %d (%s) must be a whole number, got %.14g", arg, name,
                 lsl_printable(lua_tonumber(L, arg)));
    if (value < least || value > greatest) {
        if (greatest == INT64_MAX)
            lsl_fail(L, SL_EINVAL, op, "argument %d (%s) must be at least %lld, got %lld", arg,
                     name, (long long)least, (long long)value);
        lsl_fail(L, SL_EINVAL, op, "argument %d (%s) must be from %lld to %lld, got %lld", arg,
                 name, (long long)least, (long long)greatest, (long long)value);
    }
    return value;
}

int64_t lsl_check_ms(lua_State *L, int arg, const char *name, const char *op)
{
    double ms = lsl_check_number(L, arg, name, op);
    /* More than an experiment needs, and far from where the clock overflows. */
    if (!(ms >= 0 && ms <= 1e9))
        lsl_fail(L, SL_EINVAL, op,
                 "argument %d (%s) must be from 0 to 1e9 ms (over eleven days), got %.14g", arg,
                 name, lsl_printable(ms));
    return (int64_t)llround(ms * 1e6);
}

const char *lsl_check_text(lua_State *L, int arg, const char *name, const char *op)
{
    if (lua_type(L, arg) != LUA_TSTRING) lsl_type_error(L, arg, name, "a string", op);
    const char *text = lua_tostring(L, arg);
    if (strlen(text) != lua_rawlen(L, arg))
        lsl_fail(L, SL_EINVAL, op, "argument %d (%s) has a zero byte in it", arg, name);
    return text;
}

void lsl_refuse_more(lua_State *L, int n, const char *op)
{
    int top = lua_gettop(L);
    for (int arg = n + 1; arg <= top; arg++)
        if (!lua_isnil(L, arg))
            lsl_fail(L, SL_EINVAL, op, "argument %d is one too many, got %s", arg,
                     lsl_type_name(L, arg));
}

void lsl_check_function(lua_State *L, int arg, const char *name, const char *op)
{
    if (lua_type(L, arg) != LUA_TFUNCTION) lsl_type_error(L, arg, name, "a function", op);
}

void lsl_check_files(lua_State *L, const char *op)
{
    if (lsl_get(L)->files_closed) lsl_fail(L, SL_EUNSUPPORTED, op, "no files are opened here");
}

/* ---- tensors -------------------------------------------------------------------- */

const char *lsl_format_shape(const sl_tensor_spec *spec, char *text)
{
    size_t used = (size_t)snprintf(text, LSL_SHAPE_TEXT, "%s", spec->ndim == 0 ? "scalar" : "");
    for (int i = 0; i < spec->ndim; i++)
        used += (size_t)snprintf(text + used, LSL_SHAPE_TEXT - used, "%s%lld", i > 0 ? "x" : "",
                                 (long long)spec->dim[i]);
    return text;
}

int lsl_check_dimension(lua_State *L, int arg, const sl_tensor_spec *spec, const char *op)
{
    int64_t number = lsl_check_integer(L, arg, "dimension", INT64_MIN, INT64_MAX, op);
    sl_error err;
    int dim;
    lsl_check(L, sl_dimension(spec, number, &dim, &err), &err, op);
    return dim;
}

sl_stream *lsl_copy_stream(lua_State *L, sl_tensor *dst, sl_tensor *src)
{
    bool from_device = sl_tensor_get_spec(src)->place == SL_ON_DEVICE;
    return lsl_current_stream(L, sl_tensor_device(from_device ? src : dst));
}
