/* lsl.h - what the files of the Lua module share: its state, the userdata boxes, argument and
 * option checks, and the one way in which errors are raised.
 *
 * As in Lua's liolib, a userdata is a box around one reference to a core object. The box is made
 * first and empty, with its metatable set; then the core creates the object; then the box is
 * filled. So a memory error of Lua, which may strike at any allocation, never leaks an object of
 * the core.
 *
 * Every C function of the module has the state as its first upvalue (lsl_get). `op` is
 * everywhere the name that the user called ("matmul"); it starts the sentence of an error and
 * becomes its field `op`. */
#ifndef LSL_H
#define LSL_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <math.h>
#include <stdio.h>

#include "../core/streamlab.h"
#include "layout.h"

/* For functions that run only when something is wrong: out of the way of the hot paths. */
#define LSL_COLD __attribute__((cold, noinline))

/* ---- the module's state ------------------------------------------------- */

typedef enum lsl_kind {
    LSL_DEVICE,
    LSL_STREAM,
    LSL_EVENT,
    LSL_TENSOR,
    LSL_GRAPH,
    LSL_KERNEL,
    LSL_COMM,
    LSL_TIMELINE,
    LSL_THREAD,
    LSL_GUARD,
    LSL_SCRATCH,
    LSL_KINDS
} lsl_kind;
extern const char *const lsl_nouns[LSL_KINDS]; /* "an event" */

struct lsl_box;
/* Pushes one line about what is in the box, as tostring gives it; it may be closed. */
typedef void (*lsl_push_text_fn)(lua_State *L, const struct lsl_box *box);

/* A device that is open; the state holds one reference until it closes it (l_devices.c). */
typedef struct lsl_device_node {
    sl_device *device;
    sl_stream *per_thread; /* borrowed from the device; NULL: not used so far */
    lua_Integer key;       /* no other device has had it */
    int note_ref;          /* what core.note_device keeps of it, in the registry */
    struct lsl_device_node *next;
} lsl_device_node;

/* A cached script position: which interned text it is on a device. The source is
 * lua_Debug's short_src, with zeros behind its end. */
typedef struct lsl_where_slot {
    const sl_device *device; /* NULL: the slot is empty */
    int line;
    uint32_t id;
    uint32_t source_bytes; /* of the source, with its end */
    char source[LUA_IDSIZE];
} lsl_where_slot;

/* The same by the address of the instruction that called. */
typedef struct lsl_pc_slot {
    const void *pc;
    const sl_device *device; /* NULL: the slot is empty */
    uint32_t id;
} lsl_pc_slot;

enum { LSL_WHERE_SLOTS = 64, LSL_WHERE_TEXT = 128 };

/* The options of the calls that a loop makes most (lsl_quick_options). */
typedef enum lsl_quick_name {
    LSL_QUICK_STREAM,
    LSL_QUICK_OUT,
    LSL_QUICK_NON_BLOCKING,
    LSL_QUICK_TF32,
    LSL_QUICK_NAMES
} lsl_quick_name;

/* What lab.use gives. `stream` is of the device that lab.use made current: what was current
 * there before, and while the guard is parked what the guard made current. `device` likewise.
 * User values: the coroutine, and its guard before this one. The coroutine keeps its newest
 * guard alive, even without a variable, so that nothing depends on the collector. */
typedef struct lsl_guard {
    const char *tag;                 /* as in lsl_box */
    sl_stream *stream;               /* retained; NULL once closed */
    sl_device *device;               /* retained, unless NULL: none was current */
    lua_State *thread;               /* in which it was opened */
    bool parked;                     /* the coroutine does not run */
    struct lsl_guard *older, *newer; /* in the state's list, if that is a coroutine */
} lsl_guard;

typedef struct lsl_state {
    const void *quick_name[LSL_QUICK_NAMES]; /* the identities of Lua's strings */
    lua_State *main;                         /* the main thread, for the collector */
    lua_CFunction open;                      /* opens the module in the state of a thread */
    lsl_device_node *devices;                /* all that are open, the latest first */
    lua_Integer last_device_key;
    bool keeps_devices; /* core.keep_devices was called */
    sl_device *current; /* one of them, retained (lsl_set_current); NULL before the first */
    int metatable_ref[LSL_KINDS];          /* in the registry */
    int boxes_ref;                         /* of a weak table: object of the core -> its box */
    const void *metatable[LSL_KINDS];      /* the same tables' identities */
    size_t bytes[LSL_KINDS];               /* of a userdata of the kind; 0: there was none */
    lsl_push_text_fn push_text[LSL_KINDS]; /* of devices, streams, events, tensors, graphs */
    const void *module, *cuda;             /* identities of the tables lab and lab.cuda */
    struct lsl_box *boxes;                 /* all of devices, ..., graphs, for who() */
    int in_gc;                             /* depth of our finalizers */
    int in_host_func;                      /* depth of host functions that run */
    lua_State *(*enter_host_func)(lua_State *T); /* lsl_watch_host_funcs; or NULL */
    bool (*leave_host_func)(lua_State *T, lua_State *before, bool failed);
    lsl_guard *guards;          /* of lab.use in coroutines, the newest first */
    int guards_ref;             /* of a weak table: coroutine -> its newest guard */
    lua_State *race_thread;     /* reports of races are made on it; NULL: none yet */
    bool closing;               /* lua_close has begun: no Lua code may run */
    struct lsl_thread *threads; /* that its code has started and nobody has joined (l_thread.c) */
    int unnamed_threads;        /* how many of them no userdata names any more */
    bool of_thread;             /* it is such a thread's own */
    struct lsl_state *starter;  /* of_thread: the state that has started it; else NULL */
    int globals_ref;  /* of_thread: in the starter's registry, what its code has as globals */
    const void *code; /* of_thread: identity of the source of its function's chunk */
    uint32_t said_globals[16]; /* a digest of each notice about a global that a thread has set */
    int n_said_globals;
    int host_funcs;              /* in flight, or in graphs */
    struct lsl_state *next_kept; /* of_thread: in the list of l_thread_end.c */
    bool said_clamped;           /* the notice about priorities was given */
    bool torch_defaults;         /* new streams and events are as PyTorch makes them */
    const char *preferred;       /* a chunk's source, see core.prefer_source; or NULL */
    int watch_ref;            /* of a function that sees each launch of a custom kernel; 0: none */
    bool files_closed;        /* timelines are neither saved nor loaded any more */
    int pc_functions_ref;     /* of a weak table: number of a pc slot -> the function that called */
    const void *pc_functions; /* the same table's identity */
    lsl_pc_slot pc[LSL_WHERE_SLOTS];
    lsl_where_slot where[LSL_WHERE_SLOTS];
} lsl_state;

static inline lsl_state *lsl_get(lua_State *L)
{
    const lsl_raw_closure *closure = lsl_layout_fits ? lsl_raw_closure_of(L) : NULL;
    return closure ? closure->upvalue[0].value.p : lua_touserdata(L, lua_upvalueindex(1));
}

/* ---- what the state knows (l_state.c) --------------------------------------- */

/* The state of the thread that calls; NULL: it is the script's first one. */
lsl_state *lsl_own_state(void);
/* On a new thread: its state. */
void lsl_set_own_state(lsl_state *state);
/* Raises in a thread: only the script's first one may do it. */
void lsl_refuse_in_thread(lua_State *L, const char *op);
/* Makes the device current, NULL: none. */
void lsl_set_current(lsl_state *state, sl_device *device);
/* Swaps what is current with what the guard keeps. */
void lsl_swap_guard(lsl_state *state, lsl_guard *guard);
/* The open device of that number on the backend, the latest first; NULL: none. */
sl_device *lsl_find_open(const lsl_state *state, const char *backend, int index);
/* An open device of the backend that is no simulated one: all of these are of one machine. */
sl_device *lsl_find_real(const lsl_state *state, const char *backend);
/* The same as lsl_find_open, of the machine that `device` is of. */
sl_device *lsl_find_beside(const lsl_state *state, const sl_device *device, int index);
/* The node of an open device. */
lsl_device_node *lsl_node_of(const lsl_state *state, const sl_device *device);
/* Adds the device, whose reference the list takes over. `node` is of calloc. */
void lsl_add_device(lsl_state *state, lsl_device_node *node, sl_device *device);
/* Closes the simulated devices to which nothing refers any more, but the current one. All must
 * have been waited for. In a finalizer it does nothing: a function of the module that has been
 * interrupted by the collector may have one of them. Nor while the race checker is on, since what
 * it reports must not depend on when Lua collects, or while the program keeps all (keeps_devices). */
void lsl_close_unused(lua_State *L);
/* For the end: drains all devices, then closes them. */
void lsl_drain_devices(const lsl_state *state);
void lsl_close_devices(lua_State *L, lsl_state *state);

/* The current device; opens the default one if none is open. May raise. */
sl_device *lsl_device(lua_State *L, const char *op);
/* The device of that number on the current one's backend ("cuda:1"). Opens it if it is not open,
 * which waits for all open devices; it does not become current. */
sl_device *lsl_device_at(lua_State *L, int index, const char *op);
/* In warn mode, prints how many races were found, if any. */
void lsl_sum_up_races(lua_State *L);
/* When the state closes: turns the race checker off, if this state has turned it on. */
void lsl_stop_checking(const lsl_state *state);
/* Prints the pending notice of the device's backend, if there is one. */
void lsl_take_notice(lua_State *L, sl_device *device);
/* Prints one line through the program's notice function, or on stderr. The text has no
 * "streamlab: " in front. */
void lsl_notice(lua_State *L, const char *text);
/* Raises after core.close_files. */
void lsl_check_files(lua_State *L, const char *op);
/* Call before the current stream or device is read or set: what a coroutine has made current is
 * current only while it runs (l_guard.c). */
void lsl_switch_guards(lsl_state *state) LSL_COLD;
static inline void lsl_settle_guards(lua_State *L)
{
    if (lsl_get(L)->guards) lsl_switch_guards(lsl_get(L));
}
static inline sl_stream *lsl_current_stream(lua_State *L, sl_device *device)
{
    lsl_settle_guards(L);
    return sl_device_current_stream(device);
}
/* Pushes a box with a new event of the device, with the options at `arg`, if there are any. */
void lsl_create_event(lua_State *L, sl_device *device, int arg, const char *op);
/* Pushes the field of the table registry["streamlab.defaults"], nil without it. */
void lsl_push_default(lua_State *L, const char *field);

/* ---- boxes --------------------------------------------------------------- */

/* The kind of a userdata is the address of one of these. The tag is cleared when the userdata is
 * emptied, so that freed memory never holds it. */
typedef const char *lsl_tag;
extern const char lsl_tags[LSL_KINDS];

typedef struct lsl_box {
    lsl_tag tag;                  /* every userdata of ours begins with it */
    void *p;                      /* NULL when there is nothing in it */
    struct lsl_box *next, **link; /* in the state's list of boxes, until it is emptied */
    bool closed;                  /* the user closed it, though p is kept; see lsl_take_closed */
    uint32_t id;                  /* a stream's, which is known also when p is gone, */
    int device_index;             /* and that of its device */
} lsl_box;
#define lsl_is_open(box) ((box)->p && !(box)->closed)
/* Devices, streams, events, tensors and graphs are in the state's list; scratch memory and timelines
 * are not. */
static inline bool lsl_is_listed(lsl_kind kind) { return kind <= LSL_KERNEL; }
/* Limit of the objects or tables without an element that one call creates. */
enum { LSL_MOST_OBJECTS = 1000000 };
#define LSL_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Registers a kind: its metatable (with __name "streamlab.<noun>"), methods, and
 * getters, which are C functions of the object that are called for a field. */
void lsl_define(lua_State *L, lsl_kind kind, const luaL_Reg *meta, const luaL_Reg *methods,
                const luaL_Reg *getters);
/* The same for devices, streams, events, tensors and graphs, which get __gc, __eq and __tostring. */
typedef struct lsl_class {
    lsl_push_text_fn push_text;
    lua_CFunction close; /* __close; NULL: none */
    const luaL_Reg *methods, *getters;
} lsl_class;
void lsl_define_boxes(lua_State *L, lsl_kind kind, const lsl_class *class);
/* Defines get_FIELD, the getter of a field of `self`, which the file's check_self(L, op) gives.
 * `value` is pushed by lua_push##PUSH. */
#define LSL_GETTER(type, field, push, value) \
    static int get_##field(lua_State *L)     \
    {                                        \
        type *self = check_self(L, #field);  \
        lua_push##push(L, value);            \
        return 1;                            \
    }
/* core.nearest(name, names): the key of the table that is spelt most like the name, or
 * nil if none is near. */
int lsl_nearest(lua_State *L);
/* Adds methods to a kind that is defined. */
void lsl_add_methods(lua_State *L, lsl_kind kind, const luaL_Reg *methods);
/* Adds the functions to the table on top of the stack, with the state as upvalue. */
static inline void lsl_set_functions(lua_State *L, const luaL_Reg *functions)
{
    lua_pushlightuserdata(L, lsl_get(L));
    luaL_setfuncs(L, functions, 1);
}
/* Set a field of the table on top of the stack; the second only if the text is not empty. */
static inline void lsl_set_text(lua_State *L, const char *field, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}
static inline void lsl_set_known(lua_State *L, const char *field, const char *text)
{
    if (*text != '\0') lsl_set_text(L, field, text);
}
static inline void lsl_set_integer(lua_State *L, const char *field, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, field);
}
static inline void lsl_set_boolean(lua_State *L, const char *field, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, field);
}
static inline void lsl_set_us(lua_State *L, const char *field, int64_t ns)
{
    lua_pushnumber(L, (double)ns / 1000.0);
    lua_setfield(L, -2, field);
}
/* Pushes a userdata of `kind`, zeroed behind its tag. */
void *lsl_new(lua_State *L, lsl_kind kind, size_t bytes);
/* The userdata at `arg` if it is of `kind`, else NULL. Never raises. Inline, because every
 * call of the module does this, most of them several times. */
void *lsl_to_emptied(lua_State *L, int arg, lsl_kind kind) LSL_COLD;
/* The memory of a userdata that can be one of ours; NULL: it is none. */
const lsl_tag *lsl_memory(lua_State *L, int arg);
static inline void *lsl_to(lua_State *L, int arg, lsl_kind kind)
{
    const lsl_raw_value *value = lsl_layout_fits ? lsl_raw_argument(L, arg) : NULL;
    const lsl_tag *tag = value ? lsl_raw_memory(value->tag, value->value, sizeof(lsl_tag)) : NULL;
    if (!tag) tag = lsl_memory(L, arg);
    return !tag || *tag == &lsl_tags[kind] ? (void *)tag : lsl_to_emptied(L, arg, kind);
}
/* The kind of the userdata at `idx`; LSL_KINDS for any other value. */
lsl_kind lsl_kind_of(lua_State *L, int idx);
/* Empties the box at index 1 of a finalizer: what was in it, or NULL. */
void *lsl_take(lua_State *L, lsl_kind kind);
/* For __gc of a kind of boxes: releases what is in the box at index 1. */
void lsl_collect(lua_State *L, lsl_kind kind);
/* For close() and __close: the same, and raises if argument 1 is of another kind. Returns 0. While
 * a finalizer or host function of the user runs, a C function of the module may still use the
 * object: then the box is only marked as closed, and keeps the object until it is collected. */
int lsl_close(lua_State *L, lsl_kind kind);
/* Pushes memory of `bytes` zeros. The collector calls `release` with it. */
void *lsl_new_scratch(lua_State *L, size_t bytes, void (*release)(void *));
/* What lsl_new_scratch gave for the value at `idx`. */
void *lsl_scratch_at(lua_State *L, int idx);
/* Pushes scratch memory from malloc, which the collector frees; SL_ENOMEM raises. */
void *lsl_scratch(lua_State *L, size_t count, size_t size, const char *op);
/* Pushes an owner of memory from malloc, which the collector frees: *result, NULL so far. */
void **lsl_new_owner(lua_State *L);
extern const luaL_Reg lsl_scratch_meta[];

/* Whether a finalizer runs. */
bool lsl_in_finalizer(lua_State *L);

/* Pushes an empty box and returns it; the caller fills p. */
lsl_box *lsl_new_box(lua_State *L, lsl_kind kind);

/* An object of the core has one open box, so that it is one key in a script's tables. Registers
 * the box on top of the stack as the one of its object. */
void lsl_remember(lua_State *L);
/* Pushes the open box of `p` if there is one. */
bool lsl_push_known(lua_State *L, lsl_kind kind, const void *p);

/* Push the object's box, or a new one with a reference of its own. */
void lsl_push_device(lua_State *L, sl_device *device);
void lsl_push_stream(lua_State *L, sl_stream *stream);
/* Makes the stream current, and pushes a guard whose __close makes the old one current again. */
void lsl_push_guard(lua_State *L, sl_stream *stream, const char *op);

/* The tensor at index 1 in another dtype, options at `arg`; itself if it has that dtype. */
int lsl_cast(lua_State *L, sl_dtype dtype, int arg, const char *op);

/* Pushes a box with a new tensor of `device`; raises on failure. */
sl_tensor *lsl_create_tensor(lua_State *L, sl_device *device, const sl_tensor_spec *spec,
                             sl_stream *stream, const char *op);

/* ---- errors (l_error.c) -------------------------------------------------- */

/* Raises {code, message, op, where}; never returns. `op` is "" for a field. After Ctrl-C has
 * ended a wait, raises the error of Ctrl-C instead, if its hook is set. */
int lsl_raise(lua_State *L, sl_status status, const char *op, const char *message) LSL_COLD;
/* The same for an error of the core, with its advice in Lua. */
int lsl_raise_error(lua_State *L, sl_status status, const sl_error *err, const char *op) LSL_COLD;
int lsl_fail(lua_State *L, sl_status status, const char *op, const char *fmt, ...) LSL_COLD
    __attribute__((format(printf, 4, 5)));
/* Raises what the core reported, unless it is success. */
static inline void lsl_check(lua_State *L, sl_status status, const sl_error *err, const char *op)
{
    if (status != SL_OK) lsl_raise_error(L, status, err, op);
}
/* The same after the tensor in the box on top of the stack was created: on failure releases it
 * at once, and not when it is collected. */
void lsl_check_new(lua_State *L, sl_status status, const sl_error *err, const char *op);
/* Pushes nil, the message and the code, for functions that report failure by their results.
 * Returns 3. */
int lsl_push_failure(lua_State *L, sl_status status, const sl_error *err);
/* Pushes false and the message, where failure is an answer. Returns 2. */
int lsl_push_false(lua_State *L, const sl_error *err);
/* Raises if a function of the module was called with a colon, lab:matmul(a, b), so that its
 * first argument is the module. lsl_raise calls it. */
void lsl_refuse_colon(lua_State *L, const char *op);
/* as(op, f, ...): calls a C function of the module so that its errors name the prelude's
 * function `op`. */
int lsl_call_as(lua_State *L);
/* The name under which the running C function was called: the `op` of lsl_call_as, else
 * `op`. Leaves up to two values on the stack, which keep it. */
const char *lsl_called_name(lua_State *L, const char *op);
/* Pushes a copy of the error object at `idx`, not negative, of another state; false if that is none. */
bool lsl_push_error_of(lua_State *L, lua_State *from, int idx);
void lsl_define_error(lua_State *L);

/* Pushes an empty text, which the collector frees. */
sl_text *lsl_new_text(lua_State *L);
/* Pushes what was added to the text as a string, and frees the text at once. Returns 1. */
int lsl_push_text(lua_State *L, sl_text *text, const char *op);

/* ---- positions (l_position.c) --------------------------------------------- */

/* The script position of the innermost Lua function that is not the prelude:
 * "lab.lua:12", or "" if there is none. */
void lsl_where_text(lua_State *L, char *text, size_t size);
/* Sets that position on the device, for the operations that follow. Cheap: called before each
 * enqueue. */
void lsl_mark(lua_State *L, sl_device *device);
/* The device is closing, NULL: positions are others from now on. */
void lsl_forget_positions(lsl_state *state, const sl_device *device);
void lsl_define_positions(lua_State *L);
/* Pushes and gives the source (lua_Debug's) of the chunk that this position is in, with its name
 * ("lab.lua"); NULL, and pushes nothing, if there is none. */
const char *lsl_calling_chunk(lua_State *L, char *name, size_t size);

/* ---- chunks (l_chunk.c) -------------------------------------------------------- */

enum { LSL_MOST_SOURCE_BYTES = 16 << 20 }; /* of a script's file */
/* Replaces that source on top ("@lab.lua", "=lab[3]", or a text) by its text, or by a value that is
 * none. The chunk has been noted. */
void lsl_read_source(lua_State *L);
/* Replaces the base name of a chunk on top ("lab.lua") by the chunk's text, or by a value that is
 * none. */
void lsl_read_chunk(lua_State *L);
/* Notes which chunk (lua_Debug's source) the position is in, so that explanations can quote its
 * line. May raise if memory is short. */
void lsl_note_chunk(lua_State *L, const char *where, const char *source);

/* ---- arguments ------------------------------------------------------------ */

/* These raise unless the argument is an open object of the kind. */
int lsl_fail_box(lua_State *L, int arg, lsl_kind kind, const char *name, const char *op) LSL_COLD;
static inline void *lsl_check_box(lua_State *L, int arg, lsl_kind kind, const char *name,
                                  const char *op)
{
    const lsl_box *box = lsl_to(L, arg, kind);
    if (!box || !lsl_is_open(box) || (kind == LSL_TENSOR && sl_tensor_is_freed(box->p)))
        lsl_fail_box(L, arg, kind, name, op);
    return box->p;
}
static inline sl_tensor *lsl_check_tensor(lua_State *L, int arg, const char *name, const char *op)
{
    return lsl_check_box(L, arg, LSL_TENSOR, name, op);
}
static inline sl_stream *lsl_check_stream(lua_State *L, int arg, const char *name, const char *op)
{
    return lsl_check_box(L, arg, LSL_STREAM, name, op);
}
static inline sl_event *lsl_check_event(lua_State *L, int arg, const char *name, const char *op)
{
    return lsl_check_box(L, arg, LSL_EVENT, name, op);
}
static inline sl_graph *lsl_check_graph(lua_State *L, int arg, const char *name, const char *op)
{
    return lsl_check_box(L, arg, LSL_GRAPH, name, op);
}
static inline sl_device *lsl_check_device(lua_State *L, int arg, const char *name, const char *op)
{
    return lsl_check_box(L, arg, LSL_DEVICE, name, op);
}

/* NULL if the argument is missing or nil. */
sl_stream *lsl_opt_stream(lua_State *L, int arg, const char *name, const char *op);

/* Numbers must be numbers: no text that looks like one, no boolean. */
double lsl_check_number(lua_State *L, int arg, const char *name, const char *op);
/* A whole number in [least, greatest]; 1024.0 is one, NaN and 1.5 are not. */
int64_t lsl_check_integer(lua_State *L, int arg, const char *name, int64_t least, int64_t greatest,
                          const char *op);
/* A duration from 0 to 1e9 milliseconds, as nanoseconds. */
int64_t lsl_check_ms(lua_State *L, int arg, const char *name, const char *op);
/* Raises if there are more than `n` arguments (self is one) that are not nil. */
void lsl_refuse_more(lua_State *L, int n, const char *op) LSL_COLD;
static inline void lsl_no_more(lua_State *L, int n, const char *op)
{
    if (lua_gettop(L) > n) lsl_refuse_more(L, n, op);
}
/* Text without a zero byte. */
const char *lsl_check_text(lua_State *L, int arg, const char *name, const char *op);
void lsl_check_function(lua_State *L, int arg, const char *name, const char *op);
/* Raises "argument 2 (b) must be a tensor, got number". */
int lsl_type_error(lua_State *L, int arg, const char *name, const char *needed,
                   const char *op) LSL_COLD;
/* The number for a message: NaN without a sign, since machines differ in it. */
static inline double lsl_printable(double value) { return value == value ? value : (double)NAN; }
/* Of an element and what it is compared with: the rule of lab.allclose. */
static inline bool lsl_is_close(double got, double want, double rtol, double atol)
{
    return got == want || (isfinite(want) && fabs(got - want) <= atol + rtol * fabs(want));
}
/* What a user calls the type of the value: "nothing", "number", "stream". */
const char *lsl_type_name(lua_State *L, int idx);

enum { LSL_SHAPE_TEXT = SL_MAX_DIMS * 21 + 1 };
/* "2x3", "scalar"; gives `text`, of LSL_SHAPE_TEXT bytes. */
const char *lsl_format_shape(const sl_tensor_spec *spec, char *text);
static inline bool lsl_same_shape(const sl_tensor_spec *a, const sl_tensor_spec *b)
{
    if (a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}
/* Dimension `arg` of a tensor as the core counts, from 0: 1 is the first and -1 the last. */
int lsl_check_dimension(lua_State *L, int arg, const sl_tensor_spec *spec, const char *op);
/* The stream in which a copy runs if none is given: the current one of the device that
 * it comes from, or else goes to. Host memory belongs to no GPU. */
sl_stream *lsl_copy_stream(lua_State *L, sl_tensor *dst, sl_tensor *src);

/* ---- options (l_options.c) ------------------------------------------------ */

typedef enum lsl_option_kind {
    LSL_OPT_BOOL,    /* int *: 0 or 1 */
    LSL_OPT_INTEGER, /* int64_t *: whole and >= 0 */
    LSL_OPT_COUNT,   /* int64_t *: whole and >= 1 */
    LSL_OPT_SEED,    /* lsl_seed *: whole */
    LSL_OPT_NUMBER,  /* double *: not NaN */
    LSL_OPT_TEXT,    /* const char **: without zero bytes; valid while the table is */
    LSL_OPT_STREAM,  /* sl_stream **: borrowed from the table */
    LSL_OPT_OUT,     /* lsl_out *: a tensor, also copied into a stack slot */
    LSL_OPT_DEVICE,  /* sl_device **: a device of lab.open */
    LSL_OPT_ANY      /* int *: the value is copied into this stack slot */
} lsl_option_kind;

typedef struct lsl_out {
    sl_tensor *tensor; /* NULL if the option was not given */
    int slot;          /* an index of the caller's stack; set before */
} lsl_out;

typedef struct lsl_seed {
    int64_t value; /* what it was before if the option was not given */
    bool given;
} lsl_seed;

typedef struct lsl_option {
    const char *name;
    lsl_option_kind kind;
    void *to; /* keeps its value when the option is not given */
} lsl_option;

/* Where a tensor is to be, or a stream. */
typedef struct lsl_home {
    bool host;
    sl_device *device; /* NULL: the host, or the current GPU */
} lsl_home;

/* Reads "cpu", "cuda", "cuda:1" or a device of lab.open from stack index `idx`. False:
 * it is none of these. Opens a device that is not open; see lsl_device_at. */
bool lsl_read_home(lua_State *L, int idx, lsl_home *home, const char *op);
/* Pushes what was given at `idx` instead, for the message. */
const char *lsl_push_given(lua_State *L, int idx);

/* The stream given at `arg`, as a stream or as {stream = s}; NULL for none. */
sl_stream *lsl_stream_option(lua_State *L, int arg, const char *op);

/* Reads the options table at `arg`; nothing and nil are no options. An unknown
 * name or a wrong type raises. Allocates nothing. */
void lsl_options(lua_State *L, int arg, const lsl_option *options, int n, const char *op);

/* What lsl_quick_options reads. */
typedef struct lsl_quick {
    sl_stream *stream;   /* NULL if it was not given */
    lsl_out out;         /* slot 0: the call has no such option */
    lsl_quick_name flag; /* which option that is true or false the call has, or */
    int flag_value;      /* LSL_QUICK_NAMES for none */
} lsl_quick;

/* Reads the options table at `arg` as lsl_options does, but faster, as long as nothing is wrong.
 * False: something may be wrong; call lsl_options, which reports it. Needs four free stack
 * slots, leaves the stack as it was, raises and allocates nothing. */
bool lsl_quick_options(lua_State *L, int arg, lsl_quick *quick);
/* Makes the names known to the state. */
void lsl_define_options(lua_State *L);

/* *epilogue, with what the options bias and activation gave; NULL if they are NULL. Raises for another
 * name of an activation. */
const sl_epilogue *lsl_epilogue(lua_State *L, sl_tensor *bias, const char *activation,
                                sl_epilogue *epilogue, const char *op);

/* ---- graphs (l_graph.c) ------------------------------------------------------ */

/* Push scratch memory with all nodes, or edges, of the graph. */
sl_graph_node *lsl_graph_nodes(lua_State *L, const sl_graph *graph, const char *op);
sl_graph_edge *lsl_graph_edges(lua_State *L, const sl_graph *graph, const char *op);

/* ---- kernels (l_kernel.c, l_compute.c) ------------------------------------------ */

/* Calls the function on top of T, below its n arguments, from inside of a call of the core, where
 * neither the core nor the collector's finalizers may be called back. NULL, with n_results on T; or
 * why it failed, a text on T. After Ctrl-C it counts as fine, without results. */
const char *lsl_call_inside(lsl_state *state, lua_State *T, int n, int n_results);
/* The function at `idx`, which computes what a kernel does, into *spec; nil: none. */
void lsl_set_compute(lua_State *L, int idx, sl_custom_spec *spec);

/* ---- threads (l_thread.c, l_thread_end.c, l_globals.c, l_handover.c) ------------------------------------------ */

/* Joins all threads that the state has started, and pushes a sentence for each whose error nobody has
 * got. Returns how many. */
int lsl_join_threads(lua_State *L, lsl_state *state);
/* The same where nobody takes the sentences: prints them on stderr. Raises nothing. */
void lsl_end_threads(lua_State *L, lsl_state *state);
/* Whether one of them has not ended. */
bool lsl_threads_run(const lsl_state *state);
/* l_thread_end.c: the new state's xpcall, os.exit and debug.sethook. */
void lsl_fence_libraries(lua_State *T);
/* On the new thread: has Ctrl-C and the end of its time end T. The text, where the thread was started,
 * stays valid while it runs. */
void lsl_hook_thread(lua_State *T, const char *started_at);
/* The script has ended and waits for its threads, or waits no longer: after some seconds each says that
 * it still runs. */
void lsl_note_waiting(bool waits);
/* Closes a thread's state, or has lsl_close_kept close it once no host function names it. */
void lsl_close_thread(lua_State *T, lsl_state *state);
void lsl_close_kept(void);
/* Raises SL_EINVAL on L unless the value at `idx` of `from`, which may be L, can be handed over to a
 * state that works with `device`. `what` names it: "argument 2". */
void lsl_check_handover(lua_State *L, lua_State *from, int idx, const sl_device *device,
                        const char *what, const char *op);
/* Pushes on L what is at `idx` of `from`; it has been checked. Both indices are not negative. */
void lsl_hand_over(lua_State *L, lua_State *from, int idx);
/* For the new state of a thread, with `starter`, `globals_ref` and `code` set: reading a global that
 * only the starter has raises, setting a new one gives a notice. */
void lsl_watch_globals(lua_State *T, lsl_state *state);

/* For a new state of a thread, in a run that leaves files as they are (l_divert.c). */
void lsl_divert_libraries(lua_State *L);

/* ---- the terminal (terminal.c) ----------------------------------------------- */

/* Its width, from COLUMNS or the terminal that the descriptor is, else 80; from 20 to 4096. */
int lsl_terminal_columns(int descriptor);
/* Whether it shows UTF-8, by the locale. */
bool lsl_terminal_unicode(void);
/* Whether output to that descriptor has colours. */
bool lsl_terminal_colour(lua_State *L, int descriptor);

/* ---- the module's parts ---------------------------------------------------- */

/* Each part has lsl_open_PART, which adds its kinds, and its functions to the module's table, which
 * is on top of the stack. In this order: a part may add methods to the kinds of those before. */
/* clang-format off */
#define LSL_PARTS(X)                                                                            \
    X(device) X(stream) X(guard) X(event) X(tensor) X(create) X(ops) X(view) X(timeline)        \
    X(selection) X(records) X(show) X(cuda) X(races) X(graph) X(capture) X(dot)    \
    X(kernel) X(thread) X(tune)
/* The same for what only the prelude and the program use. */
#define LSL_INTERNAL_PARTS(X)                                                                   \
    X(device_internal) X(devices_internal) X(ops_internal) X(terminal_internal) X(inspect_internal)                 \
    X(source_internal) X(chunk_internal) X(tap_internal) X(races_internal) X(file_internal) X(divert_internal) X(bounded_internal)   \
    X(text_internal) X(records_internal) X(figures_internal) X(lists_internal)                  \
    X(range_internal) X(kernel_internal) X(comm_internal) X(doubles_internal)     \
    X(tune_internal) X(thread_internal)
/* clang-format on */
#define X(part) void lsl_open_##part(lua_State *L);
LSL_PARTS(X)
LSL_INTERNAL_PARTS(X)
#undef X

/* lua_pcall with the collector stopped, so that no finalizer runs. In a finalizer it is stopped
 * already, and lua_gc returns -1. */
static inline int lsl_call_uncollected(lua_State *L, int n, int n_results)
{
    bool collects = lua_gc(L, LUA_GCISRUNNING) > 0;
    if (collects) lua_gc(L, LUA_GCSTOP);
    int status = lua_pcall(L, n, n_results, 0);
    if (collects) lua_gc(L, LUA_GCRESTART);
    return status;
}

/* For loops over many Lua values: every 4096th i, raises if the user has pressed Ctrl-C. */
void lsl_stop_at(lua_State *L, int64_t i, const char *op);

LUAMOD_API int luaopen_streamlab(lua_State *L);

/* Writes a text as sl_safe_character gives it, with its newlines and tabs. */
LUAMOD_API void lsl_put_safe(const char *text, FILE *file);

/* For the program's handler of Ctrl-C: from now on (or no longer) waits end with SL_EINTERRUPT.
 * Safe in a signal handler. */
LUAMOD_API void lsl_interrupt(bool on);
/* The process ends: from now on every wait returns at once. */
LUAMOD_API void lsl_leave(void);
/* For the program, which has no Lua state there: files as core/text/file.h has them. The third
 * is safe in a signal handler. */
LUAMOD_API bool lsl_write_file(const char *path, const char *bytes, size_t n);
LUAMOD_API bool lsl_try_file(const char *path, char *message, size_t message_bytes);
LUAMOD_API void lsl_abandon_files(void);
/* And core/text/temporary_folder.h's, whose paths have at most 256 bytes. */
LUAMOD_API int lsl_make_temporary_folder(char *path);
LUAMOD_API void lsl_remove_temporary_folder(const char *path);
/* A host function runs in a Lua state of its own, T: enter(T) is called before, and leave, with
 * what enter gave, afterwards. leave returns true if the function failed because of Ctrl-C: its
 * error is not reported. */
LUAMOD_API void lsl_watch_host_funcs(lua_State *L, lua_State *(*enter)(lua_State *T),
                                     bool (*leave)(lua_State *T, lua_State *before, bool failed));

#endif
