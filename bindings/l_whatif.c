/* l_whatif.c - a recorded program and its changes, for bindings/whatif.lua.
 *
 * core.whatif(timeline): {identity =, change =, undo =, predict =, timeline =, rank =, lines =,
 * slopes =, actions =}, functions, and own = true for a recording of ours. Times are in ns.
 *   identity()  {measured =, replayed =, error =, problem = why nothing is predicted, or nil}
 *   change(edit, selection, number, name)  how many operations or calls changed
 *   undo()      all changes
 *   predict()   {before =, after =, low =, high =}
 *   timeline()  what is predicted, as a timeline
 *   actions()   what a script has to do (l_actions.c)
 *   rank()      {{edit =, also = a second one or nil, selection =, number =, name = or nil,
 *               under = row, before =, after =, low =, high =}, ...}, and pairs: {{first = row,
 *               second = row, before =, after =, low =, high =}, ...}
 *   lines(edit, selection)  {{where =, source =, name =, operator =, kind =, count =, bytes =,
 *               time =, call_time =}, ...}
 *   slopes(by)  {{name = or nil, host = true or nil, count =, time =, gain =}, ...}
 * core.edits(): {{name =, selects =, number =, text =}, ...}: which arguments each has.
 */
#include <stdlib.h>

#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

typedef struct owned {
    sl_whatif *p;
} owned;

static void free_whatif(void *memory)
{
    owned *w = memory;
    sl_whatif_close(w->p);
    w->p = NULL;
}

static sl_whatif *of(lua_State *L)
{
    owned *w = lsl_scratch_at(L, lua_upvalueindex(2));
    return w->p;
}

static void set_true(lua_State *L, const char *field, bool value)
{
    if (!value) return;
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, field);
}

static int identity(lua_State *L)
{
    sl_identity found;
    sl_error err;
    lsl_check(L, sl_whatif_identity(of(L), &found, &err), &err, "whatif");
    lua_createtable(L, 0, 4);
    lsl_set_integer(L, "measured", found.measured_ns);
    lsl_set_integer(L, "replayed", found.replayed_ns);
    lua_pushnumber(L, found.error);
    lua_setfield(L, -2, "error");
    if (found.problem) lsl_set_text(L, "problem", found.problem);
    set_true(L, "knows_needs", found.knows_needs);
    return 1;
}

static int change(lua_State *L)
{
    sl_error err;
    size_t n;
    const char *edit = luaL_checkstring(L, 1), *selection = luaL_optstring(L, 2, "");
    const double number = luaL_optnumber(L, 3, 0);
    const char *name = luaL_optstring(L, 4, "");
    lsl_check(L, sl_whatif_change(of(L), edit, selection, number, name, &n, &err), &err, "whatif");
    lua_pushinteger(L, (lua_Integer)n);
    return 1;
}

/* gpu{compute =, memory =, h2d =, d2h =, sms =}: sl_whatif_set_gpu. */
static int gpu(lua_State *L)
{
    static const char *const fields[] = { "compute", "memory", "h2d", "d2h", "sms" };
    double figures[sizeof fields / sizeof *fields];
    sl_error err;
    luaL_checktype(L, 1, LUA_TTABLE);
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        lua_settop(L, 1);
        lua_getfield(L, 1, fields[k]);
        figures[k] = luaL_checknumber(L, 2);
    }
    const sl_gpu_ratios ratios = { figures[0], figures[1], figures[2], figures[3], figures[4] };
    lsl_check(L, sl_whatif_set_gpu(of(L), &ratios, &err), &err, "whatif");
    return 0;
}

static int undo(lua_State *L)
{
    sl_whatif_undo(of(L));
    return 0;
}

static void set_prediction(lua_State *L, const sl_prediction *found)
{
    lsl_set_integer(L, "before", found->before_ns);
    lsl_set_integer(L, "after", found->after_ns);
    lsl_set_integer(L, "low", found->low_ns);
    lsl_set_integer(L, "high", found->high_ns);
}

static int predict(lua_State *L)
{
    sl_prediction found;
    sl_error err;
    lsl_check(L, sl_whatif_predict(of(L), &found, &err), &err, "whatif");
    lua_createtable(L, 0, 4);
    set_prediction(L, &found);
    return 1;
}

static int timeline(lua_State *L)
{
    sl_timeline *played;
    sl_error err;
    lsl_timeline *box = lsl_new(L, LSL_TIMELINE, sizeof *box);
    lsl_check(L, sl_whatif_timeline(of(L), &played, &err), &err, "whatif");
    box->p = played;
    box->host_start_ns = sl_timeline_host_start_ns(played);
    box->has_sources = true;
    return 1;
}

static void free_list(void *memory) { free(*(void **)memory); }

static void push_slope(lua_State *L, const sl_timeline *timeline, sl_by by, const sl_slope *slope)
{
    char label[SL__KERNEL_BYTES];
    lua_createtable(L, 0, 5);
    if (slope->id != 0)
        lsl_set_text(L, "name",
                     by == SL_BY_KERNEL ? sl_timeline_kernel_label(timeline, slope->id, label)
                                        : sl_timeline_text(timeline, slope->id));
    set_true(L, "host", slope->is_host);
    lsl_set_integer(L, "count", (lua_Integer)slope->n);
    lsl_set_integer(L, "time", slope->time_ns);
    lua_pushnumber(L, slope->gain);
    lua_setfield(L, -2, "gain");
}

static int slopes(lua_State *L)
{
    const lsl_timeline *timeline = lua_touserdata(L, lua_upvalueindex(3));
    sl_slope **list = lsl_new_scratch(L, sizeof *list, free_list);
    size_t n;
    sl_by by;
    sl_error err;
    *list = NULL;
    luaL_argcheck(L, sl_by_parse(luaL_checkstring(L, 1), &by), 1, "a key");
    lsl_check(L, sl_whatif_slopes(of(L), by, list, &n, &err), &err, "whatif");
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        push_slope(L, timeline->p, by, &(*list)[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static void free_ranking(void *memory) { sl_ranking_free(memory); }

static void push_remedy(lua_State *L, const sl_remedy *remedy)
{
    lua_createtable(L, 0, 10);
    lsl_set_text(L, "edit", remedy->edits[0]);
    if (remedy->edits[1]) lsl_set_text(L, "also", remedy->edits[1]);
    lsl_set_text(L, "selection", remedy->selection);
    lua_pushnumber(L, remedy->number);
    lua_setfield(L, -2, "number");
    if (remedy->name) lsl_set_text(L, "name", remedy->name);
    lsl_set_integer(L, "under", (lua_Integer)remedy->under + 1);
    set_prediction(L, &remedy->prediction);
}

static int rank(lua_State *L)
{
    sl_ranking *found = lsl_new_scratch(L, sizeof *found, free_ranking);
    sl_error err;
    *found = (sl_ranking){ 0 };
    lsl_check(L, sl_whatif_rank(of(L), found, &err), &err, "whatif");
    lua_createtable(L, (int)found->n, 0);
    for (size_t i = 0; i < found->n; i++) {
        push_remedy(L, &found->at[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_createtable(L, (int)found->n_pairs, 0);
    for (size_t i = 0; i < found->n_pairs; i++) {
        const sl_remedy_pair *pair = &found->pairs[i];
        lua_createtable(L, 0, 6);
        lsl_set_integer(L, "first", (lua_Integer)pair->rows[0] + 1);
        lsl_set_integer(L, "second", (lua_Integer)pair->rows[1] + 1);
        set_prediction(L, &pair->prediction);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 2;
}

static void push_line(lua_State *L, const sl_edited_line *line)
{
    lua_createtable(L, 0, 9);
    lsl_set_text(L, "where", line->where);
    lsl_set_text(L, "source", line->source);
    lsl_set_text(L, "name", line->name);
    lsl_set_text(L, "operator", line->operator_name);
    lsl_set_text(L, "kind", line->kind);
    lsl_set_integer(L, "count", (lua_Integer)line->n);
    lsl_set_integer(L, "bytes", (lua_Integer)line->bytes);
    lsl_set_integer(L, "time", line->time_ns);
    lsl_set_integer(L, "call_time", line->call_ns);
}

static void free_lines(void *memory) { free(*(void **)memory); }

static int lines(lua_State *L)
{
    sl_edited_line **list = lsl_new_scratch(L, sizeof *list, free_lines);
    const char *edit = luaL_checkstring(L, 1), *selection = luaL_optstring(L, 2, "");
    size_t n;
    sl_error err;
    *list = NULL;
    lsl_check(L, sl_whatif_lines(of(L), edit, selection, list, &n, &err), &err, "whatif");
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        push_line(L, &(*list)[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int actions(lua_State *L)
{
    lsl_push_actions(L, of(L), lsl_to_timeline(L, lua_upvalueindex(3))->p);
    return 1;
}

/* Upvalues: the state, what is played, its timeline. */
static int internal_whatif(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "identity", identity }, { "change", change },     { "undo", undo }, { "gpu", gpu },
        { "predict", predict },   { "timeline", timeline }, { "rank", rank }, { "lines", lines },
        { "slopes", slopes },     { "actions", actions },   { NULL, NULL },
    };
    lsl_timeline *timeline = lsl_check_timeline(L, "whatif");
    owned *w = lsl_new_scratch(L, sizeof *w, free_whatif);
    sl_error err;
    w->p = NULL;
    lsl_timeline_add_sources(L, timeline, "whatif");
    lsl_check(L, sl_whatif_open(timeline->p, &w->p, &err), &err, "whatif");
    lua_createtable(L, 0, 8);
    set_true(L, "own", sl_timeline_device(timeline->p)->backend[0] != '\0');
    for (const luaL_Reg *f = functions; f->name; f++) {
        lua_pushlightuserdata(L, lsl_get(L));
        lua_pushvalue(L, -3);
        lua_pushvalue(L, 1);
        lua_pushcclosure(L, f->func, 3);
        lua_setfield(L, -2, f->name);
    }
    return 1;
}

static int internal_edits(lua_State *L)
{
    bool selects, has_number, has_name;
    lua_newtable(L);
    for (size_t row = 0;; row++) {
        const char *name = sl_edit_name(row, &selects, &has_number, &has_name);
        if (!name) return 1;
        lua_createtable(L, 0, 4);
        lsl_set_text(L, "name", name);
        set_true(L, "selects", selects);
        set_true(L, "number", has_number);
        set_true(L, "text", has_name);
        lua_rawseti(L, -2, (lua_Integer)row + 1);
    }
}

const luaL_Reg lsl_whatif_internals[] = {
    { "whatif", internal_whatif },
    { "edits", internal_edits },
    { NULL, NULL },
};
