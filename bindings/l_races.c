/* l_races.c - the race checker for scripts: lab.check, lab.races, and the reports that warn mode
 * prints.
 *
 * The core calls listen at the end of one of its calls. There no error may propagate, and the
 * core must not be called. So a report is made on a Lua thread of its own, protected, and with
 * the collector stopped, since finalizers call the core. */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_thread.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In the registry: what words/races.lua returns. */
#define RACE_WORDS "streamlab.race_words"

/* The Lua state that reports races. There is one checker for the process, as there is one host
 * memory; the last state that turns it on gets the reports. */
static const lsl_state *listener;

static const char *const mode_names[] = {
    [SL_CHECK_OFF] = "off",
    [SL_CHECK_WARN] = "warn",
    [SL_CHECK_ERROR] = "error",
};

static const char *const kind_names[] = {
    [SL_RACE_UNORDERED] = "race",
    [SL_RACE_ACCIDENT] = "accident",
    [SL_RACE_AFTER_FREE] = "use after free",
};

enum { REPORT_COLUMNS = 100 }; /* of a report that is not for a narrower terminal */

/* ---- races as tables --------------------------------------------------------------------- */

static void set_access(lua_State *L, const char *field, const sl_race_access *access)
{
    static const char *const kinds[] = {
        [SL_ACCESS_READ] = "read",         [SL_ACCESS_WRITE] = "write",   [SL_ACCESS_FREE] = "free",
        [SL_ACCESS_ALLOCATE] = "allocate", [SL_ACCESS_ATOMIC] = "atomic",
    };
    lua_createtable(L, 0, 9);
    lsl_set_text(L, "access", kinds[access->kind]);
    lsl_set_known(L, "what", access->what);
    lsl_set_known(L, "where", access->where);
    lsl_set_text(L, "by", access->by_host ? "host" : access->in_host_func ? "host_func" : "stream");
    if (access->thread >= 0) lsl_set_integer(L, "thread", access->thread);
    if (!access->by_host) {
        lsl_set_known(L, "stream", access->stream_name);
        lsl_set_integer(L, "stream_id", access->stream);
        if (access->gpu >= 0) lsl_set_integer(L, "device", access->gpu);
    }
    if (access->seq != 0) lsl_set_integer(L, "correlation", access->seq);
    if (access->graph[0]) {
        lsl_set_text(L, "graph", access->graph);
        lsl_set_known(L, "launched", access->launched);
    }
    lsl_set_integer(L, "first_byte", access->first_byte);
    lsl_set_integer(L, "bytes", access->n_bytes);
    lua_setfield(L, -2, field);
}

/* What the words need of an access that is not in its table. */
static void set_access_facts(lua_State *L, const char *field, const sl_race_access *access)
{
    bool in_graph = access->graph[0] != '\0';
    lua_createtable(L, 0, 8);
    lsl_set_text(L, "made", in_graph ? access->launch_made : access->stream_made);
    lsl_set_boolean(L, "in_per_thread",
                    in_graph ? access->launch_in_per_thread : access->in_per_thread);
    if (in_graph) {
        lsl_set_text(L, "stream", access->launch_stream);
        lsl_set_integer(L, "stream_id", access->launch_stream_id);
        if (access->gpu >= 0) lsl_set_integer(L, "device", access->gpu);
        lsl_set_text(L, "captured", access->captured);
        lsl_set_text(L, "captured_made", access->captured_made);
    }
    lua_setfield(L, -2, field);
}

/* Pushes what the words need of the race that is not in its table. */
static void push_facts(lua_State *L, const sl_race *race)
{
    static const char *const accidents[] = {
        [SL_ACCIDENT_UNKNOWN] = "unknown",
        [SL_ACCIDENT_FROM_PAGEABLE] = "from_pageable",
        [SL_ACCIDENT_TO_PAGEABLE] = "to_pageable",
        [SL_ACCIDENT_BLOCKING_COPY] = "blocking_copy",
        [SL_ACCIDENT_NULL_STREAM] = "null_stream",
        [SL_ACCIDENT_GRAPH_SOURCE] = "graph_source",
        [SL_ACCIDENT_CALL] = "call",
    };
    static const char *const remedies[] = {
        [SL_REMEDY_STREAM_WAITS] = "stream_waits", [SL_REMEDY_HOST_WAITS] = "host_waits",
        [SL_REMEDY_THREAD_JOINS] = "thread_joins", [SL_REMEDY_CAPTURE_WAITS] = "capture_waits",
        [SL_REMEDY_FREE_LATER] = "free_later",
    };
    static const char *const idles[] = {
        [SL_IDLE_NONE] = "",
        [SL_IDLE_UNRECORDED] = "unrecorded",
        [SL_IDLE_UNORDERED] = "unordered",
    };
    static const char *const places[] = {
        [SL_ON_DEVICE] = "device",
        [SL_PAGEABLE] = "pageable",
        [SL_PINNED] = "pinned",
    };
    char shape[LSL_SHAPE_TEXT];
    lua_createtable(L, 0, 10);
    lsl_set_integer(L, "tensor_id", race->tensor_id);
    lsl_set_text(L, "shape", lsl_format_shape(&race->made_as, shape));
    lsl_set_text(L, "dtype", sl_dtype_name(race->made_as.dtype));
    lsl_set_text(L, "place", places[race->made_as.place]);
    lsl_set_integer(L, "gpu", race->gpu);
    lsl_set_text(L, "chance", accidents[race->accident]);
    lsl_set_text(L, "chance_call", race->accident_call);
    lsl_set_text(L, "chance_where", race->accident_where);
    lsl_set_text(L, "remedy", remedies[race->remedy]);
    lsl_set_text(L, "idle", idles[race->idle]);
    lsl_set_text(L, "idle_where", race->idle_where);
    lsl_set_boolean(L, "idle_is_first", race->idle_is_first);
    set_access_facts(L, "first", &race->first);
    set_access_facts(L, "second", &race->second);
}

/* Pushes the race as a table, without the fields that are texts, and what these are made of. */
static void push_race(lua_State *L, const sl_race *race)
{
    lua_createtable(L, 0, 13);
    lsl_set_text(L, "kind", kind_names[race->kind]);
    set_access(L, "first", &race->first);
    set_access(L, "second", &race->second);
    lsl_set_known(L, "made", race->made_where);
    lsl_set_integer(L, "first_byte", race->first_byte);
    lsl_set_integer(L, "bytes", race->n_bytes);
    if (race->outcome != SL_RACE_UNKNOWN)
        lsl_set_boolean(L, "stale", race->outcome == SL_RACE_STALE);
    lsl_set_integer(L, "count", race->count);
    push_facts(L, race);
}

static void load_words(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "words");
    lua_getfield(L, -1, "races");
    lua_setfield(L, LUA_REGISTRYINDEX, RACE_WORDS);
    lua_pop(L, 2);
}

/* Pushes that function of words/races.lua. */
static void push_word(lua_State *L, const char *name)
{
    luaL_checkstack(L, 16, NULL);
    if (lua_getfield(L, LUA_REGISTRYINDEX, RACE_WORDS) == LUA_TNIL) { /* a thread's first one */
        lua_pop(L, 1);
        load_words(L);
        lua_getfield(L, LUA_REGISTRYINDEX, RACE_WORDS);
    }
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

/* Pushes the race as a table with all its fields. Lines of files are kept in the table at
 * `cache`. */
static void push_described(lua_State *L, const sl_race *race, int columns, bool colour, int cache)
{
    push_word(L, "describe");
    push_race(L, race);
    lua_pushinteger(L, columns);
    lua_pushboolean(L, colour);
    lua_pushvalue(L, cache);
    lua_call(L, 5, 1);
}

/* ---- reports ---------------------------------------------------------------------------- */

/* Protected. Light userdata: the race. Upvalue: the state. */
static int report(lua_State *T)
{
    const sl_race *race = lua_touserdata(T, 1);
    int columns = isatty(STDERR_FILENO) ? lsl_terminal_columns(STDERR_FILENO) : REPORT_COLUMNS;
    if (columns > REPORT_COLUMNS) columns = REPORT_COLUMNS;
    lua_newtable(T);
    push_described(T, race, columns, lsl_terminal_colour(T, STDERR_FILENO), lua_gettop(T));
    lua_getfield(T, -1, "message");
    lsl_notice(T, lua_tostring(T, -1));
    return 0;
}

/* refusal(message): the message of an SL_ERACE with what would order the two. */
static int internal_refusal(lua_State *L)
{
    bool is_late;
    const sl_race *race = sl_race_refused(&is_late);
    lua_settop(L, 1);
    if (!race) return 1;
    push_word(L, "refusal");
    lua_insert(L, 1);
    push_race(L, race);
    lsl_set_boolean(L, "is_late", is_late);
    lua_call(L, 3, 1);
    return 1;
}

static void listen(void *ud, const sl_race *race)
{
    const lsl_state *state = ud;
    lua_State *T = state->race_thread;
    lua_settop(T, 1);
    lua_pushvalue(T, 1);
    lua_pushlightuserdata(T, (void *)race);
    if (lsl_call_uncollected(T, 1, 0) != LUA_OK)
        fprintf(stderr, "streamlab: %s: %s and %s (no memory for the report)\n",
                kind_names[race->kind], race->first.where, race->second.where);
    lua_settop(T, 1);
}

/* The thread that reports are made on, with the function that makes them at index 1; and their
 * words, which are read now, since that may fail. */
static void make_thread(lua_State *L)
{
    lsl_state *state = lsl_get(L);
    if (state->race_thread) return;
    load_words(L);
    lua_State *T = lua_newthread(L);
    lua_pushlightuserdata(L, state);
    lua_pushcclosure(L, report, 1);
    lua_xmove(L, T, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "streamlab.race_thread");
    state->race_thread = T;
}

void lsl_stop_checking(const lsl_state *state)
{
    if (listener != state) return;
    (void)sl_check(SL_CHECK_OFF, NULL);
    sl_race_set_hook(NULL, NULL);
    listener = NULL;
}

/* ---- the list of races ------------------------------------------------------------------- */

/* Protected. Upvalue: the state. */
static int push_races(lua_State *L)
{
    push_word(L, "list");
    lua_newtable(L); /* of files whose lines have been read */
    int cache = lua_gettop(L);
    lua_createtable(L, (int)sl_race_count(), 0);
    for (size_t i = 0; i < sl_race_count(); i++) {
        lsl_stop_at(L, (int64_t)i, "races");
        push_described(L, sl_race_get(i), REPORT_COLUMNS, false, cache);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, cache);
    lua_call(L, 1, 1);
    return 1;
}

/* ---- for scripts ----------------------------------------------------------------------------- */

static sl_check_mode read_mode(lua_State *L)
{
    static const char *const wanted = "\"off\", \"warn\" or \"error\"";
    if (lua_type(L, 1) != LUA_TSTRING) lsl_type_error(L, 1, "mode", wanted, "check");
    const char *name = lsl_check_text(L, 1, "mode", "check");
    for (int i = 0; i < LSL_COUNT(mode_names); i++)
        if (strcmp(name, mode_names[i]) == 0) return (sl_check_mode)i;
    lsl_fail(L, SL_EINVAL, "check", "argument 1 (mode) must be %s, got \"%.60s\"", wanted, name);
    return SL_CHECK_OFF;
}

/* What threads that run have done before is not known. */
static void check_alone(lua_State *L)
{
    lsl_refuse_in_thread(L, "check");
    if (lsl_threads_run(lsl_get(L)))
        lsl_fail(L, SL_ESTATE, "check",
                 "the race checker must see what threads do from the start: join them first");
}

/* lab.check(mode): returns the mode before; without an argument it changes nothing. */
static int lab_check(lua_State *L)
{
    lsl_no_more(L, 1, "check");
    sl_check_mode before = sl_check_get_mode();
    if (!lua_isnoneornil(L, 1)) {
        sl_check_mode mode = read_mode(L);
        sl_error err;
        if (mode != SL_CHECK_OFF) check_alone(L);
        make_thread(L);
        lsl_check(L, sl_check(mode, &err), &err, "check");
        if (mode != SL_CHECK_OFF) {
            listener = lsl_get(L);
            sl_race_set_hook(listen, lsl_get(L));
        }
    }
    lua_pushstring(L, mode_names[before]);
    return 1;
}

/* The collector is stopped, so that finalizers add no races meanwhile. */
static int lab_races(lua_State *L)
{
    lsl_no_more(L, 0, "races");
    make_thread(L); /* for its words */
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushcclosure(L, push_races, 1);
    if (lsl_call_uncollected(L, 0, 1) != LUA_OK) return lua_error(L);
    return 1;
}

/* ---- the end of a run -------------------------------------------------------------------- */

/* "3 races, 1 accident": how many of each kind. Returns its length. */
static int put_kinds(char *text, size_t size)
{
    static const char *const one[] = { "race", "accident", "use after free" };
    static const char *const many[] = { "races", "accidents", "uses after free" };
    uint64_t n[LSL_COUNT(kind_names)] = { 0 };
    int used = 0;
    for (size_t i = 0; i < sl_race_count(); i++)
        n[sl_race_get(i)->kind]++;
    for (int kind = 0; kind < LSL_COUNT(kind_names); kind++) {
        if (n[kind] == 0) continue;
        if (used > 0) used += snprintf(text + used, size - (size_t)used, ", ");
        used += snprintf(text + used, size - (size_t)used, "%llu %s", (unsigned long long)n[kind],
                         n[kind] == 1 ? one[kind] : many[kind]);
    }
    return used;
}

/* "3 races, 1 accident, met 103 times". */
void lsl_sum_up_races(lua_State *L)
{
    char text[256];
    uint64_t met = sl_race_total();
    size_t listed = sl_race_count(), size = sizeof text;
    if (sl_check_get_mode() != SL_CHECK_WARN || listed == 0) return;
    luaL_checkstack(L, 4, NULL);
    int used = put_kinds(text, size);
    if (met > listed)
        used += snprintf(text + used, size - (size_t)used, ", met %llu times%s",
                         (unsigned long long)met,
                         listed == SL_MOST_RACES ? ", others not listed included" : "");
    snprintf(text + used, size - (size_t)used, " (streamlab --check; lab.races() lists them)");
    lsl_notice(L, text);
}

void lsl_open_races(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "check", lab_check },
        { "races", lab_races },
        { NULL, NULL },
    };
    lsl_set_functions(L, functions);
}

const luaL_Reg lsl_races_internals[] = { { "refusal", internal_refusal }, { NULL, NULL } };
