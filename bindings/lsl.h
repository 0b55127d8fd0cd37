/* lsl.h - the module's state, and what every file may ask of it (l_state.c). Above it lie
 * l_error.h, l_box.h, l_args.h, l_thread.h and l_parts.h.
 *
 * Every C function of the module has the state as its first upvalue (lsl_get). */
#ifndef LSL_H
#define LSL_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "../core/streamlab.h"
#include "layout.h"

/* For functions that run only when something is wrong: out of the way of the hot paths. */
#define LSL_COLD __attribute__((cold, noinline))
/* For steps of the hot paths that have a name for readers alone (core/base.h, SL__STEP). */
#define LSL_STEP static inline __attribute__((always_inline))
#define LSL_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

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
    LSL_QUICK_BLOCKS,
    LSL_QUICK_THREADS,
    LSL_QUICK_SHARED_BYTES,
    LSL_QUICK_SHARED,
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
    unsigned boxes_made;
    int in_host_func;                            /* depth of host functions that run */
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
    bool said_clamped;           /* the notice about priorities was given, */
    bool said_pooled;            /* that about words in memory of a pool */
    bool torch_defaults;         /* new streams and events are as PyTorch makes them */
    const char *preferred;       /* a chunk's source, see core.prefer_source; or NULL */
    int watch_ref;            /* of a function that sees each launch of a custom kernel; 0: none */
    bool files_closed;        /* timelines are neither saved nor loaded any more */
    int pc_functions_ref;     /* of a weak table: number of a pc slot -> the function that called */
    const void *pc_functions; /* the same table's identity */
    lsl_pc_slot pc[LSL_WHERE_SLOTS];
    lsl_where_slot where[LSL_WHERE_SLOTS];
} lsl_state;

static inline lsl_state *lsl_get(lua_State *L) { return lsl_upvalue(L, 1); }

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
/* The current device; opens the default one if none is open. May raise. */
sl_device *lsl_device(lua_State *L, const char *op);
/* Prints the pending notice of the device's backend, if there is one. */
void lsl_take_notice(lua_State *L, sl_device *device);
/* Prints one line through the program's notice function, or on stderr. The text has no
 * "streamlab: " in front. */
void lsl_notice(lua_State *L, const char *text);
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
/* Pushes the field of the table registry["streamlab.defaults"], nil without it. */
void lsl_push_default(lua_State *L, const char *field);
/* A recording has ended, whose box is at 1: tells the program, which keeps what one of a real GPU
 * shows of the host (kept_hosts.lua). */
void lsl_tell_recorded(lua_State *L, const sl_timeline *timeline);

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

#endif
