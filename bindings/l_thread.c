/* l_thread.c - lab.thread: a Lua function on a thread of its own, in a Lua state of its own.
 *
 * The state is made, and given the function and its arguments, by the thread that starts it; from
 * then on the new thread uses it, until it has ended; then whoever joins it copies the results and
 * closes the state. One thread runs at a time (core/turn.h), and never in the middle of Lua's
 * work, so that one may look into the state of another that waits.
 *
 * A thread that nobody joins is joined at the end of the program, or of the thread that has started
 * it. Its record, in the list of the state that has started it, outlives its userdata. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_thread.h"

#include <stdlib.h>
#include <string.h>

typedef struct lsl_thread {
    lua_State *T;     /* its own; NULL once closed */
    lsl_state *state; /* of T */
    sl_thread *core;  /* NULL: joined, or never started */
    struct lsl_thread *next, **link;
    sl_device *device; /* borrowed from T */
    lsl_state *starter;
    int globals_ref; /* in the starter's registry: the globals of its function's code there */
    int status;      /* of the call: what the stack of T has above `HANDLER` */
    unsigned number;
    bool has_userdata;
    char *traceback;            /* of malloc, once it has been joined and has failed; or NULL */
    char where[LSL_WHERE_TEXT]; /* it was started */
} lsl_thread;

typedef struct thread_box {
    lsl_tag tag;
    lsl_thread *p;
} thread_box;

enum { HANDLER = 1, FUNCTION };

/* ---- in the new state ------------------------------------------------------------- */

static void add_devices(lua_State *T, lsl_state *state, const lsl_device_node *node,
                        const sl_device *device)
{
    if (!node) return;
    add_devices(T, state, node->next, device); /* the list has the latest first */
    if (!sl_device_are_of_one_machine(node->device, device)) return;
    lsl_device_node *own = calloc(1, sizeof *own);
    if (!own) luaL_error(T, "out of host memory");
    lsl_add_device(state, own, sl_device_retain(node->device));
}

/* What the new state needs from the one that starts it. */
typedef struct start {
    lua_State *L;
    lsl_state *state;
    lsl_thread *thread;
    sl_device *device;
    const char *code, *name; /* the function, dumped */
    size_t n_code;
    int function, n_args; /* where it lies on L's stack, its arguments above it */
} start;

static void set_upvalues(lua_State *T, int module)
{
    const int f = lua_gettop(T);
    const char *name;
    for (int i = 1; (name = lua_getupvalue(T, f, i)); i++) {
        lua_pop(T, 1);
        if (strcmp(name, "lab") == 0)
            lua_pushvalue(T, module);
        else
            lua_pushglobaltable(T);
        lua_setupvalue(T, f, i);
    }
}

/* Of the function on top. */
static void note_code(lua_State *T)
{
    lua_Debug ar;
    lua_pushvalue(T, -1);
    lua_getinfo(T, ">S", &ar);
    lsl_get(T)->code = ar.source;
}

/* Pushes the function and its arguments. Upvalue: the state. */
static int take_call(lua_State *T)
{
    const start *s = lua_touserdata(T, 1);
    lua_settop(T, 2); /* the module */
    if (luaL_loadbufferx(T, s->code, s->n_code, s->name, "b") != LUA_OK) return lua_error(T);
    set_upvalues(T, 2);
    note_code(T);
    luaL_checkstack(T, s->n_args + 4, NULL);
    for (int i = 1; i <= s->n_args; i++)
        lsl_hand_over(T, s->L, s->function + i);
    return 1 + s->n_args;
}

/* Protected, of the new state. Argument: the start. Returns the function and its arguments. */
static int set_up(lua_State *T)
{
    start *s = lua_touserdata(T, 1);
    lsl_open_libraries(T, s->L);
    luaL_requiref(T, "streamlab", s->state->open, 1);
    lua_pushvalue(T, -1);
    lua_setglobal(T, "lab");
    lua_getfield(T, LUA_REGISTRYINDEX, "streamlab.state");
    lsl_state *state = lua_touserdata(T, -1);
    lua_pop(T, 1);
    state->of_thread = true;
    state->torch_defaults = s->state->torch_defaults;
    state->files_closed = s->state->files_closed;
    s->thread->state = state;
    state->starter = s->state;
    state->globals_ref = s->thread->globals_ref;
    lsl_watch_globals(T, state);
    add_devices(T, state, s->state->devices, s->device);
    lsl_set_current(state, s->device);
    lua_pushlightuserdata(T, state);
    lua_pushcclosure(T, take_call, 1);
    lua_pushvalue(T, 1);
    lua_pushvalue(T, 2);
    lua_call(T, 2, LUA_MULTRET);
    return lua_gettop(T) - 2;
}

static const char traceback_key; /* its address is the key, which no memory is needed for */

/* Message handler: keeps the error as it is, and the traceback as a text. */
static int on_error(lua_State *T)
{
    luaL_traceback(T, T, NULL, 1);
    lua_rawsetp(T, LUA_REGISTRYINDEX, &traceback_key);
    return 1;
}

/* ---- on the new thread -------------------------------------------------------------- */

/* Its host functions need its state. */
static void await_host_funcs(const lsl_thread *thread)
{
    for (const lsl_device_node *node = thread->state->devices; node; node = node->next)
        if (thread->state->host_funcs > 0) (void)sl_device_synchronize(node->device, NULL);
}

static void run(void *ud)
{
    lsl_thread *thread = ud;
    lua_State *T = thread->T;
    lsl_set_own_state(thread->state);
    lsl_hook_thread(T, thread->where);
    thread->status = lua_pcall(T, lua_gettop(T) - FUNCTION, LUA_MULTRET, HANDLER);
    lsl_end_threads(T, thread->state);
    await_host_funcs(thread);
}

/* ---- ending ------------------------------------------------------------------------------ */

static void close_state(lsl_thread *thread)
{
    lua_State *T = thread->T;
    lsl_state *state = thread->state;
    thread->T = NULL;
    thread->state = NULL;
    if (thread->globals_ref)
        luaL_unref(thread->starter->main, LUA_REGISTRYINDEX, thread->globals_ref);
    thread->globals_ref = 0;
    if (T) lsl_close_thread(T, state);
}

/* Releases what nobody can ask for any more: threads that were joined, or that have never begun. */
static void free_thread(lsl_thread *thread)
{
    close_state(thread);
    free(thread->traceback);
    free(thread);
}

static void list(lsl_state *state, lsl_thread *thread)
{
    thread->next = state->threads;
    thread->link = &state->threads;
    if (thread->next) thread->next->link = &thread->next;
    state->threads = thread;
}

static void unlist(lsl_state *state, const lsl_thread *thread)
{
    *thread->link = thread->next;
    if (thread->next) thread->next->link = thread->link;
    if (!thread->has_userdata) state->unnamed_threads--;
}

/* Waits until it has ended. It is then in no list, and has its results or error. */
static sl_status join(lsl_state *state, lsl_thread *thread, sl_error *err)
{
    sl_status status = sl_thread_join(thread->core, err);
    if (status != SL_OK) return status;
    thread->core = NULL;
    unlist(state, thread);
    return SL_OK;
}

/* Of those that nobody can join: if one has failed, that is kept for the end. */
static void free_ended(lsl_state *state)
{
    if (state->unnamed_threads == 0) return;
    for (lsl_thread *thread = state->threads, *next; thread; thread = next) {
        next = thread->next;
        if (thread->has_userdata || thread->status != LUA_OK || !sl_thread_has_ended(thread->core))
            continue;
        if (join(state, thread, NULL) == SL_OK) free_thread(thread);
    }
}

bool lsl_threads_run(const lsl_state *state)
{
    for (const lsl_thread *thread = state->threads; thread; thread = thread->next)
        if (!sl_thread_has_ended(thread->core)) return true;
    return false;
}

/* ---- starting ------------------------------------------------------------------------- */

/* Its upvalues do not go with it, but for those that every state has. */
static void check_function(lua_State *L, const char *op)
{
    lsl_check_function(L, 1, "f", op);
    if (lua_iscfunction(L, 1))
        lsl_fail(L, SL_EINVAL, op,
                 "argument 1 (f) is a function of C, which cannot be handed over: write "
                 "function(...) ... end around it");
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, 1, i)); i++) {
        const bool is_module = lua_topointer(L, -1) == lsl_get(L)->module;
        const bool is_table = lua_istable(L, -1);
        lua_pop(L, 1);
        if (strcmp(name, "_ENV") == 0 || (is_module && strcmp(name, "lab") == 0)) continue;
        lsl_fail(
            L, SL_EINVAL, op,
            "argument 1 (f) uses the local variable '%.60s' from outside, which another thread "
            "cannot see: hand it over as an argument, lab.thread(f, %.60s)%s",
            name, name, is_table ? " (a copy: return what you want back)" : "");
    }
}

static void check_arguments(lua_State *L, const sl_device *device, const char *op)
{
    char what[32];
    for (int i = 2; i <= lua_gettop(L); i++) {
        snprintf(what, sizeof what, "argument %d", i);
        lsl_check_handover(L, L, i, device, what, op);
    }
}

static int thread_gc(lua_State *L)
{
    thread_box *box = lsl_to(L, 1, LSL_THREAD);
    if (!box) return 0;
    lsl_thread *thread = box->p;
    box->tag = NULL;
    box->p = NULL;
    if (!thread) return 0;
    thread->has_userdata = false;
    if (thread->core)
        thread->starter->unnamed_threads++;
    else
        free_thread(thread);
    return 0;
}

/* Raises the error that is on top of T. */
static int raise_set_up(lua_State *L, lua_State *T, const char *op)
{
    char text[256];
    const char *message = lua_tostring(T, -1);
    snprintf(text, sizeof text, "%s", message ? message : "out of memory");
    return lsl_fail(L, SL_ESTATE, op, "the thread's Lua state cannot be made: %s", text);
}

typedef struct dump {
    bool begun;
    luaL_Buffer buffer;
} dump;

static int add_code(lua_State *L, const void *data, size_t n, void *ud)
{
    dump *d = ud;
    if (!d->begun) luaL_buffinit(L, &d->buffer);
    d->begun = true;
    luaL_addlstring(&d->buffer, data, n);
    return 0;
}

/* Pushes the function at index 1 as a string, with its names and lines. */
static void push_code(lua_State *L)
{
    dump d = { .begun = false };
    lua_pushvalue(L, 1);
    lua_dump(L, add_code, &d, 0);
    luaL_pushresult(&d.buffer);
    lua_remove(L, -2);
}

/* Pushes what the function at index 1 has as globals. */
static void push_globals_of(lua_State *L)
{
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, 1, i)); i++) {
        if (strcmp(name, "_ENV") == 0) return;
        lua_pop(L, 1);
    }
    lua_pushglobaltable(L);
}

/* With the allocator of the one that starts it, which may have a limit. NULL: out of memory. */
static lua_State *new_lua_state(lua_State *L)
{
    void *ud;
    lua_Alloc allocate = lua_getallocf(L, &ud);
    return lua_newstate(allocate, ud);
}

/* The box is on top of the stack; below it are the function and its arguments. */
static lsl_thread *make_state(lua_State *L, thread_box *box, sl_device *device, const char *op)
{
    lua_Debug ar;
    lsl_thread *thread = box->p = calloc(1, sizeof *thread);
    if (thread) thread->T = new_lua_state(L);
    if (!thread || !thread->T) lsl_fail(L, SL_ENOMEM, op, "out of host memory");
    thread->has_userdata = true;
    thread->device = device;
    thread->starter = lsl_get(L);
    push_globals_of(L);
    thread->globals_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lsl_where_text(L, thread->where, sizeof thread->where);
    lua_pushvalue(L, 1);
    lua_getinfo(L, ">S", &ar);
    start s = { .L = L,
                .state = lsl_get(L),
                .thread = thread,
                .device = device,
                .name = ar.source,
                .n_args = lua_gettop(L) - 2,
                .function = 1 };
    push_code(L);
    s.code = lua_tolstring(L, -1, &s.n_code);
    lua_pushcfunction(thread->T, on_error);
    lua_pushcfunction(thread->T, set_up);
    lua_pushlightuserdata(thread->T, &s);
    if (lua_pcall(thread->T, 1, LUA_MULTRET, 0) != LUA_OK) raise_set_up(L, thread->T, op);
    lua_pop(L, 1);
    return thread;
}

/* lab.thread(f, ...) */
static int lab_thread(lua_State *L)
{
    const char *op = "thread";
    lsl_state *state = lsl_get(L);
    sl_device *device = lsl_device(L, op);
    sl_error err;
    check_function(L, op);
    check_arguments(L, device, op);
    free_ended(state);
    lsl_close_kept();
    thread_box *box = lsl_new(L, LSL_THREAD, sizeof *box);
    lsl_thread *thread = make_state(L, box, device, op);
    lsl_mark(L, device);
    lsl_check(L, sl_thread_start(device, run, thread, &thread->core, &err), &err, op);
    thread->number = sl_thread_number(thread->core);
    list(state, thread);
    return 1;
}

/* ---- joining ---------------------------------------------------------------------------- */

/* Pushes the thread's error, which is on top of its stack: as it is, or what describes it. */
static void push_error(lua_State *L, lua_State *T)
{
    const int at = lua_gettop(T);
    luaL_checkstack(L, 4, NULL);
    if (lua_type(T, at) == LUA_TSTRING) {
        lsl_hand_over(L, T, at);
        return;
    }
    if (!lsl_push_error_of(L, T, at))
        lua_pushfstring(L, "(error object is a %s value)", luaL_typename(T, at));
}

/* Where it has failed: what the message handler has left. */
static void keep_traceback(lsl_thread *thread)
{
    lua_State *T = thread->T;
    if (lua_rawgetp(T, LUA_REGISTRYINDEX, &traceback_key) == LUA_TSTRING)
        thread->traceback = strdup(lua_tostring(T, -1));
    lua_pop(T, 1);
}

static lsl_thread *check_self(lua_State *L, const char *op)
{
    const thread_box *box = lsl_to(L, 1, LSL_THREAD);
    if (!box || !box->p) lsl_type_error(L, 1, "self", lsl_nouns[LSL_THREAD], op);
    return box->p;
}

static void check_unjoined(lua_State *L, const lsl_thread *thread, const char *op)
{
    if (!thread->core)
        lsl_fail(L, SL_ESTATE, op, "thread %d has been joined already", (int)thread->number);
}

static int push_results(lua_State *L, lsl_thread *thread, const char *op)
{
    lua_State *T = thread->T;
    const int n = lua_gettop(T) - HANDLER;
    char what[32];
    luaL_checkstack(L, n + 8, "too many results of a thread");
    for (int i = 1; i <= n; i++) {
        snprintf(what, sizeof what, "result %d", i);
        lsl_check_handover(L, T, HANDLER + i, thread->device, what, op);
    }
    for (int i = 1; i <= n; i++)
        lsl_hand_over(L, T, HANDLER + i);
    return n;
}

/* Joins the thread and gives its results; raises its error. */
static int join_and_push(lua_State *L, const char *op)
{
    lsl_thread *thread = check_self(L, op);
    sl_error err;
    check_unjoined(L, thread, op);
    lsl_mark(L, thread->device);
    lsl_check(L, join(lsl_get(L), thread, &err), &err, op);
    if (sl_interrupt_wanted()) lsl_check(L, sl_interrupt_check(&err), &err, op);
    if (thread->status != LUA_OK) {
        push_error(L, thread->T);
        keep_traceback(thread);
        close_state(thread);
        return lua_error(L);
    }
    const int n = push_results(L, thread, op);
    close_state(thread);
    return n;
}

static int thread_join(lua_State *L)
{
    lsl_no_more(L, 1, "join");
    return join_and_push(L, "join");
}

/* The end of its scope, as std::jthread's: joins it. If an error ends the scope, that is the one
 * that counts. */
static int thread_end_scope(lua_State *L)
{
    const thread_box *box = lsl_to(L, 1, LSL_THREAD);
    if (!box || !box->p || !box->p->core) return 0;
    if (lua_isnoneornil(L, 2)) {
        join_and_push(L, "close");
        return 0;
    }
    sl_error err;
    lsl_check(L, join(lsl_get(L), box->p, &err), &err, "close");
    close_state(box->p);
    return 0;
}

static int thread_done(lua_State *L)
{
    lsl_thread *thread = check_self(L, "done");
    bool ended = true;
    sl_error err;
    lsl_no_more(L, 1, "done");
    if (thread->core) lsl_check(L, sl_thread_query(thread->core, &ended, &err), &err, "done");
    lua_pushboolean(L, ended);
    return 1;
}

static int error_sentence(lua_State *L)
{
    const lsl_thread *thread = lua_touserdata(L, 1);
    push_error(L, thread->T);
    luaL_tolstring(L, -1, NULL);
    lua_pushfstring(L, "thread %d, which was started at %s and not joined, has failed: %s",
                    (int)thread->number, thread->where, lua_tostring(L, -1));
    return 1;
}

/* Its sentence, if it ended with an error; and frees it, unless it has a userdata: also where there
 * is no memory for the sentence. */
static bool push_untold(lua_State *L, lsl_thread *thread)
{
    const bool failed = thread->status != LUA_OK && !sl_waits_end();
    int status = LUA_OK;
    if (failed) {
        lua_pushcfunction(L, error_sentence);
        lua_pushlightuserdata(L, thread);
        status = lua_pcall(L, 1, 1, 0);
    }
    close_state(thread);
    if (!thread->has_userdata) free_thread(thread);
    if (status != LUA_OK) lua_error(L);
    return failed;
}

int lsl_join_threads(lua_State *L, lsl_state *state)
{
    int n = 0;
    if (!state->of_thread) lsl_note_waiting(true);
    while (state->threads) {
        lsl_thread *thread = state->threads;
        luaL_checkstack(L, 8, NULL);
        if (join(state, thread, NULL) != SL_OK) break;
        n += push_untold(L, thread);
    }
    if (!state->of_thread) lsl_note_waiting(false);
    return n;
}

static int end_threads(lua_State *L)
{
    const int n = lsl_join_threads(L, lua_touserdata(L, 1));
    for (int i = n; i > 0; i--)
        fprintf(stderr, "streamlab: %s\n", lua_tostring(L, -i));
    return 0;
}

void lsl_end_threads(lua_State *L, lsl_state *state)
{
    const lsl_thread *last = NULL;
    while (state->threads && state->threads != last && lua_checkstack(L, 3)) {
        last = state->threads;
        lua_pushcfunction(L, end_threads);
        lua_pushlightuserdata(L, state);
        if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
        lua_pop(L, 1); /* no memory for a sentence: the others are joined all the same */
    }
}

/* ---- fields ------------------------------------------------------------------------------ */

static int get_number(lua_State *L)
{
    lua_pushinteger(L, check_self(L, "number")->number);
    return 1;
}

static int get_traceback(lua_State *L)
{
    lua_pushstring(L, check_self(L, "traceback")->traceback); /* NULL: nil */
    return 1;
}

static int thread_tostring(lua_State *L)
{
    const lsl_thread *thread = check_self(L, "tostring");
    lua_pushfstring(L, "thread %d (%s)", (int)thread->number,
                    thread->core ? "not joined" : "joined");
    return 1;
}

static const luaL_Reg functions[] = { { "thread", lab_thread }, { NULL, NULL } };
static const luaL_Reg methods[] = { { "join", thread_join },
                                    { "done", thread_done },
                                    { NULL, NULL } };
static const luaL_Reg getters[] = { { "number", get_number },
                                    { "traceback", get_traceback },
                                    { NULL, NULL } };
static const luaL_Reg meta[] = { { "__gc", thread_gc },
                                 { "__close", thread_end_scope },
                                 { "__tostring", thread_tostring },
                                 { NULL, NULL } };

void lsl_open_thread(lua_State *L)
{
    lsl_define(L, LSL_THREAD, meta, methods, getters);
    lsl_set_functions(L, functions);
}

/* core.join_threads(): waits for all that the state has started. A sentence for each whose error
 * nobody has got. */
static int internal_join_threads(lua_State *L) { return lsl_join_threads(L, lsl_get(L)); }

const luaL_Reg lsl_thread_internals[] = { { "join_threads", internal_join_threads },
                                          { NULL, NULL } };
