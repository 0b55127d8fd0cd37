/* l_show.c - a timeline as a chart, as a table, beside another one, and as a file.
 */
#include "l_args.h"
#include "l_error.h"
#include "l_parts.h"
#include "l_timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints the string on top of the stack. */
static int print_string(lua_State *L)
{
    size_t n;
    const char *text = lua_tolstring(L, -1, &n);
    fwrite(text, 1, n, stdout);
    fflush(stdout);
    return 0;
}

/* ---- the chart --------------------------------------------------------------------- */

/* Microseconds from the first span's start, as nanoseconds. */
static int64_t range_ns(lua_State *L, double us, const char *name, const char *op)
{
    if (!(us >= 0 && us <= 9e15))
        lsl_fail(L, SL_EINVAL, op, "option '%s' must be from 0 to 9e15, got %.14g", name,
                 lsl_printable(us));
    return (int64_t)llround(us * 1000.0);
}

static const char *const rows_names[] = { "streams", "engines" };

/* Which of the names an option has; the first if it is not given. */
static int find_choice(lua_State *L, const char *name, const char *value,
                       const char *const *choices, int n, const char *op)
{
    char known[64] = "";
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        if (!value || strcmp(value, choices[i]) == 0) return i;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s\"%s\"",
                                 i == 0       ? ""
                                 : i == n - 1 ? " or "
                                              : ", ",
                                 choices[i]);
    }
    return lsl_fail(L, SL_EINVAL, op, "option '%s' must be %s, got \"%.100s\"", name, known, value);
}

/* Raises unless there is nothing at the stack index `slot`, or a timeline that is complete. */
static void check_beside(lua_State *L, int slot, const char *op)
{
    if (lua_isnil(L, slot) || lsl_to_timeline(L, slot)) return;
    lsl_fail(L, SL_EINVAL, op, "option 'beside' must be a timeline that is complete, got %s",
             lsl_type_name(L, slot));
}

/* to_us 0: up to the end. */
static void read_range(lua_State *L, double from_us, double to_us, int64_t *from_ns, int64_t *to_ns,
                       const char *op)
{
    *from_ns = range_ns(L, from_us, "from_us", op);
    *to_ns = range_ns(L, to_us, "to_us", op);
    if (*to_ns != 0 && *to_ns <= *from_ns)
        lsl_fail(L, SL_EINVAL, op, "the range is empty: from_us is %.14g, to_us is %.14g", from_us,
                 to_us);
}

/* Reads {columns =, unicode =, colour =, from_us =, to_us =, rows =, beside =} at argument 2
 * and pushes the chart, a string. `printed`: for the terminal, which decides what is not given. */
static int push_chart(lua_State *L, bool printed, const char *op)
{
    lsl_check_timeline(L, op);
    lsl_no_more(L, 2, op);
    int64_t columns = 0;
    int unicode = -1, colour = -1, beside = 3;
    double from_us = 0, to_us = 0;
    const char *rows = NULL;
    const lsl_option options[] = {
        { "columns", LSL_OPT_INTEGER, &columns }, { "unicode", LSL_OPT_BOOL, &unicode },
        { "colour", LSL_OPT_BOOL, &colour },      { "from_us", LSL_OPT_NUMBER, &from_us },
        { "to_us", LSL_OPT_NUMBER, &to_us },      { "rows", LSL_OPT_TEXT, &rows },
        { "beside", LSL_OPT_ANY, &beside },
    };
    lua_settop(L, 3);
    lsl_options(L, 2, options, LSL_COUNT(options), op);
    if (columns > 10000)
        lsl_fail(L, SL_EINVAL, op, "option 'columns' must be at most 10000, got %lld",
                 (long long)columns);
    int64_t from_ns, to_ns;
    read_range(L, from_us, to_us, &from_ns, &to_ns, op);
    const int by = find_choice(L, "rows", rows, rows_names, LSL_COUNT(rows_names), op);
    check_beside(L, beside, op);
    lsl_push_needed(L, "pictures/chart");
    lua_pushvalue(L, 1);
    lua_pushstring(L, op);
    lua_createtable(L, 0, 7);
    lsl_set_integer(L, "columns",
                    columns > 0 ? columns
                    : printed   ? lsl_terminal_columns(STDOUT_FILENO)
                                : 80);
    lsl_set_boolean(L, "unicode", unicode >= 0 ? unicode : printed && lsl_terminal_unicode());
    lsl_set_boolean(L, "colour",
                    colour >= 0 ? colour : printed && lsl_terminal_colour(L, STDOUT_FILENO));
    lsl_set_text(L, "rows", rows_names[by]);
    lsl_set_integer(L, "from_ns", from_ns);
    lsl_set_integer(L, "to_ns", to_ns);
    lua_pushvalue(L, beside);
    lua_setfield(L, -2, "beside");
    lua_call(L, 3, 1);
    return 1;
}

/* Prints the line about other runs of the timeline at argument 1, if they are known. */
static void print_range(lua_State *L)
{
    const lsl_timeline *box = lsl_check_timeline(L, "show");
    if (sl_timeline_range(box->p).runs == 0) return;
    lsl_push_words(L, "range");
    lua_getfield(L, -1, "line");
    lua_newtable(L);
    lsl_set_range(L, box->p);
    lua_getfield(L, -1, "range");
    lua_replace(L, -2);
    lua_call(L, 1, 1);
    print_string(L);
}

static int timeline_show(lua_State *L)
{
    push_chart(L, true, "show");
    print_string(L);
    print_range(L);
    return 0;
}

/* tl:text(): the chart as a string, plain ASCII and 80 columns unless options say
 * otherwise, so that it does not depend on the terminal. */
static int timeline_text(lua_State *L) { return push_chart(L, false, "text"); }

/* Pushes the verdict on the timeline at `arg`, behind what recording took. */
static void push_verdict(lua_State *L, int arg, const char *op)
{
    lsl_push_words(L, "opening");
    lsl_push_explanation(L, arg, false, op);
    lua_call(L, 1, 1);
}

/* Tables and what stands with them: 80 columns, or fewer where the terminal has fewer. */
static int64_t table_columns(int64_t asked)
{
    int64_t columns = asked > 0 ? asked : lsl_terminal_columns(STDOUT_FILENO);
    return columns < 24 ? 24 : columns < 80 ? columns : 80;
}

/* Prints the operations by the key, or else why the GPU was idle; a table of names may be as wide
 * as the terminal. */
static int print_breakdown(lua_State *L, const char *by, int64_t columns)
{
    const lsl_timeline *box = lsl_check_timeline(L, "summary");
    if (columns <= 0) columns = lsl_terminal_columns(STDOUT_FILENO);
    if (by)
        lsl_push_breakdown(L, box->p, by, "text", "summary");
    else
        lsl_push_idle(L, box->p, "text", "summary");
    lua_pushinteger(L, columns < 24 ? 24 : columns > 10000 ? 10000 : columns);
    lua_call(L, by ? 3 : 2, 1);
    return print_string(L);
}

static void refuse_both(lua_State *L, const char *by, int idle, const char *op)
{
    if (by && idle)
        lsl_fail(L, SL_EINVAL, op, "options 'by' and 'idle' are two tables: give one of them");
}

static int timeline_summary(lua_State *L)
{
    lsl_timeline *box = lsl_check_sums(L, "summary");
    lsl_no_more(L, 2, "summary");
    int64_t columns = 0;
    int verdict = 1, idle = 0;
    const char *by = NULL;
    const lsl_option options[] = {
        { "by", LSL_OPT_TEXT, &by },
        { "idle", LSL_OPT_BOOL, &idle },
        { "columns", LSL_OPT_COUNT, &columns },
        { "verdict", LSL_OPT_BOOL, &verdict },
    };
    lua_settop(L, 2);
    lsl_options(L, 2, options, LSL_COUNT(options), "summary");
    refuse_both(L, by, idle, "summary");
    if (by || idle) return print_breakdown(L, by, columns);
    if (sl_timeline_is_summary(box->p)) {
        lsl_push_words(L, "sums");
        lua_pushvalue(L, 1);
        lua_pushinteger(L, table_columns(columns));
        lua_call(L, 2, 1);
        return print_string(L);
    }
    lsl_push_words(L, "summary");
    lsl_push_figures(L, box->p, 0, "summary");
    if (verdict)
        push_verdict(L, 1, "summary");
    else
        lua_pushnil(L);
    lua_pushinteger(L, table_columns(columns));
    lua_call(L, 3, 1);
    return print_string(L);
}

static int timeline_explain(lua_State *L)
{
    lsl_check_timeline(L, "explain");
    lsl_no_more(L, 2, "explain");
    int64_t columns = 0;
    int verdict = 1, stream = 3;
    const lsl_option options[] = {
        { "columns", LSL_OPT_COUNT, &columns },
        { "stream", LSL_OPT_ANY, &stream },
        { "verdict", LSL_OPT_BOOL, &verdict },
    };
    lua_settop(L, 3);
    lsl_options(L, 2, options, LSL_COUNT(options), "explain");
    if (columns == 0 || columns > 10000) columns = lsl_terminal_columns(STDOUT_FILENO);
    if (lua_isnil(L, stream))
        lsl_push_explanation(L, 1, false, "explain");
    else
        lsl_push_stream_chain(L, 1, stream, false, "explain");
    lsl_push_words(L, "explain");
    lua_insert(L, -2);
    lua_pushinteger(L, columns);
    lua_pushboolean(L, verdict);
    lua_call(L, 3, 1);
    return print_string(L);
}

/* ---- two of them ---------------------------------------------------------------------- */

/* Raises unless there is nothing at `slot`, or two names. */
static void check_names(lua_State *L, int slot)
{
    if (lua_isnil(L, slot)) return;
    bool fine = lua_istable(L, slot) && lua_rawlen(L, slot) == 2;
    for (int i = 1; fine && i <= 2; i++)
        fine = lua_rawgeti(L, slot, i) == LUA_TSTRING;
    if (!fine) lsl_fail(L, SL_EINVAL, "diff", "option 'names' must be a list of two strings");
}

/* Prints the two by the key; a table of names may be as wide as the terminal. */
static int print_changes(lua_State *L, const char *by, const char *form, int64_t columns)
{
    static const char *const forms[] = { "text", "markdown", "json" };
    const int which = find_choice(L, "form", form, forms, LSL_COUNT(forms), "diff");
    if (columns <= 0) columns = lsl_terminal_columns(STDOUT_FILENO);
    columns = columns < 24 ? 24 : columns > 10000 ? 10000 : columns;
    const lsl_timeline *a = lsl_check_timeline(L, "diff"), *b = lsl_check_other(L, "diff");
    lsl_push_changes(L, a->p, b->p, by, forms[which], which == 0 ? columns : 0, "diff");
    return print_string(L);
}

/* tl:diff(other, {names = {"a", "b"}, columns =, by =, form =}) */
static int timeline_diff(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "diff");
    lsl_no_more(L, 3, "diff");
    lsl_timeline *other = lsl_check_other(L, "diff");
    lua_settop(L, 4);
    int names = 4;
    int64_t columns = 0;
    const char *by = NULL, *form = NULL;
    const lsl_option options[] = {
        { "columns", LSL_OPT_COUNT, &columns },
        { "names", LSL_OPT_ANY, &names },
        { "by", LSL_OPT_TEXT, &by },
        { "form", LSL_OPT_TEXT, &form },
    };
    lsl_options(L, 3, options, LSL_COUNT(options), "diff");
    check_names(L, names);
    if (form && !by) lsl_fail(L, SL_EINVAL, "diff", "option 'form' goes with 'by'");
    if (by) return print_changes(L, by, form, columns);
    lsl_push_words(L, "diff");
    lsl_push_moves(L, box->p, other->p, "diff");
    lua_pushvalue(L, names);
    lua_createtable(L, 2, 0);
    for (int i = 1; i <= 2; i++) {
        push_verdict(L, i, "diff");
        lua_rawseti(L, -2, i);
    }
    lua_pushinteger(L, table_columns(columns));
    lua_call(L, 6, 1);
    return print_string(L);
}

/* tl:json({by =, idle =}): the figures, or the operations by a key, or why the GPU was idle, as one
 * JSON object. */
static int timeline_json(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "json");
    const char *by = NULL;
    int idle = 0;
    const lsl_option options[] = { { "by", LSL_OPT_TEXT, &by }, { "idle", LSL_OPT_BOOL, &idle } };
    lsl_no_more(L, 2, "json");
    lsl_options(L, 2, options, LSL_COUNT(options), "json");
    refuse_both(L, by, idle, "json");
    if (idle) {
        lsl_push_idle(L, box->p, "json", "json");
        lua_call(L, 1, 1);
        return 1;
    }
    if (by) {
        lsl_push_breakdown(L, box->p, by, "json", "json");
        lua_call(L, 2, 1);
        return 1;
    }
    lsl_push_words(L, "figures_json");
    lsl_push_figures(L, box->p, SL_FIGURES_STREAMS, "json");
    lsl_push_words(L, "causes_json");
    lsl_push_explanation(L, 1, false, "json");
    lua_call(L, 1, 1);
    lsl_push_needed(L, "whatif");
    lua_getfield(L, -1, "remedies_json");
    lua_remove(L, -2);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_call(L, 3, 1);
    return 1;
}

/* ---- files -------------------------------------------------------------------------- */

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

/* Pushes {rows =, theme =, from_ns =, to_ns =, width_px =, arrows =, counters =, beside =}, as
 * bindings/pictures/ takes them, for the same with from_us and to_us at argument 3. */
static void push_picture_options(lua_State *L)
{
    static const char *const theme_names[] = { "auto", "light", "dark" };
    const char *rows = NULL, *theme = NULL;
    int64_t width_px = 0, from_ns, to_ns;
    int arrows = 1, counters = 0, beside = lua_gettop(L) + 1;
    double from_us = 0, to_us = 0;
    const lsl_option options[] = {
        { "rows", LSL_OPT_TEXT, &rows },          { "theme", LSL_OPT_TEXT, &theme },
        { "from_us", LSL_OPT_NUMBER, &from_us },  { "to_us", LSL_OPT_NUMBER, &to_us },
        { "width_px", LSL_OPT_COUNT, &width_px }, { "arrows", LSL_OPT_BOOL, &arrows },
        { "counters", LSL_OPT_BOOL, &counters },  { "beside", LSL_OPT_ANY, &beside },
    };
    lua_pushnil(L);
    lsl_options(L, 3, options, LSL_COUNT(options), "save");
    check_beside(L, beside, "save");
    const int by = find_choice(L, "rows", rows, rows_names, LSL_COUNT(rows_names), "save");
    const int shade = find_choice(L, "theme", theme, theme_names, LSL_COUNT(theme_names), "save");
    read_range(L, from_us, to_us, &from_ns, &to_ns, "save");
    lua_createtable(L, 0, 8);
    lua_rotate(L, beside, 1);
    lua_setfield(L, beside, "beside");
    lsl_set_text(L, "rows", rows_names[by]);
    lsl_set_text(L, "theme", theme_names[shade]);
    lsl_set_integer(L, "from_ns", from_ns);
    lsl_set_integer(L, "to_ns", to_ns);
    lsl_set_integer(L, "width_px", width_px);
    lsl_set_boolean(L, "arrows", arrows);
    lsl_set_boolean(L, "counters", counters);
}

static sl_status save_trace(lua_State *L, const sl_timeline *timeline, const char *path,
                            sl_error *err)
{
    int counters = 0;
    const lsl_option options[] = { { "counters", LSL_OPT_BOOL, &counters } };
    lsl_options(L, 3, options, LSL_COUNT(options), "save");
    return (counters ? sl_timeline_save_with_counters : sl_timeline_save_kineto)(timeline, path,
                                                                                 err);
}

/* The timeline at argument 1, to the path at 2: the files that a function of the module makes of
 * them, and of options, if `push` pushes some. */
static sl_status save_composed(lua_State *L, const char *composer, void (*push)(lua_State *L),
                               sl_error *err)
{
    lsl_push_needed(L, composer);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    if (push) push(L);
    lua_call(L, push ? 3 : 2, 1);
    return lsl_write_files(L, lua_gettop(L), err);
}

/* By the end of a file's name. */
static const struct {
    const char *suffix;
    bool reads_options; /* those at argument 3 */
    sl_status (*save)(lua_State *L, const sl_timeline *timeline, const char *path, sl_error *err);
    const char *composer;               /* in Lua */
    void (*push_options)(lua_State *L); /* those at argument 3; NULL: there are none */
} formats[] = {
    { .suffix = ".json", .save = save_trace, .reads_options = true },
    { .suffix = ".json.gz", .save = save_trace, .reads_options = true },
    { .suffix = ".svg", .composer = "pictures/timeline", .push_options = push_picture_options },
    { .suffix = ".html", .save = lsl_save_page },
    { .suffix = ".et", .composer = "exports/chakra" },
    { .suffix = ".goal", .composer = "exports/goal" },
};

/* Raises; the sentence has all of them. */
static int fail_suffix(lua_State *L, const char *path)
{
    char known[64] = "";
    size_t used = 0;
    for (int i = 0, n = LSL_COUNT(formats); i < n; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 i == 0       ? ""
                                 : i == n - 1 ? " or "
                                              : ", ",
                                 formats[i].suffix);
    return lsl_fail(L, SL_EINVAL, "save", "the file's name must end in %s, got \"%.200s\"", known,
                    path);
}

/* tl:save(path, options) gives the timeline. */
static int timeline_save(lua_State *L)
{
    lsl_timeline *box = lsl_check_timeline(L, "save");
    const char *path = lsl_check_text(L, 2, "path", "save");
    sl_error err;
    lsl_no_more(L, 3, "save");
    lua_settop(L, 3);
    lsl_check_files(L, "save");
    for (int i = 0; i < LSL_COUNT(formats); i++) {
        if (!has_suffix(path, formats[i].suffix)) continue;
        if (!formats[i].push_options && !formats[i].reads_options && !lua_isnil(L, 3))
            lsl_fail(L, SL_EINVAL, "save", "a %s file has no options", formats[i].suffix);
        lsl_timeline_add_sources(L, box, "save");
        sl_status status = formats[i].save ? formats[i].save(L, box->p, path, &err)
                                           : save_composed(L, formats[i].composer,
                                                           formats[i].push_options, &err);
        lsl_check(L, status, &err, "save");
        lua_settop(L, 1);
        return 1;
    }
    return fail_suffix(L, path);
}

static const luaL_Reg methods[] = {
    { "show", timeline_show },       { "text", timeline_text },
    { "summary", timeline_summary }, { "explain", timeline_explain },
    { "diff", timeline_diff },       { "json", timeline_json },
    { "save", timeline_save },       { NULL, NULL },
};

/* After lsl_open_timeline. */
void lsl_open_show(lua_State *L) { lsl_add_methods(L, LSL_TIMELINE, methods); }
