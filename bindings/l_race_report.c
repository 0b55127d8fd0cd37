/* l_race_report.c - a race in words: the lines that warn mode prints and tostring(race)
 * gives.
 *
 *     race: stream "consumer" reads at lab.lua:14 what stream "producer" may still be writing
 *       first   lab.lua:12  fill_f32 writes  in stream "producer"
 *               | x:fill_(7, {stream = producer})
 *       second  lab.lua:14  mul_f32 reads    in stream "consumer"
 *               | local y = lab.mul(x, x, {stream = consumer})
 *       memory  tensor 1 (4x4 float32 on the device), made at lab.lua:9
 *       fix     insert consumer:wait_stream(producer) before lab.lua:14
 *       here    the stale value was read
 */
#include "l_races.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 10, WORDS_BYTES = 256, PREFIX = 11 /* "streamlab: " */ };

/* ---- rows ------------------------------------------------------------------------------- */

/* A report in the making. */
typedef struct report {
    sl_text *text, *row;    /* of boxes: the collector frees them */
    int columns;
    bool colour;
} report;

/* Names are the user's, and may have in them what a terminal would obey: "?" for each such
 * character. In place, since that takes no more room. */
static void clean(char *text)
{
    char shown[SL_SAFE_BYTES], *to = text;
    const char *from = text, *end = text + strlen(text);
    while (from < end) {
        const char *before = from;
        size_t n = (size_t)sl_safe_character(&from, end, false, shown);
        if (n != (size_t)(from - before) || memcmp(before, shown, n) != 0) shown[0] = '?', n = 1;
        memcpy(to, shown, n);
        to += n;
    }
    *to = '\0';
}

static int count_columns(const char *text, size_t bytes)
{
    int columns = 0;
    for (size_t i = 0; i < bytes; i++) columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

/* Adds the text from column `at` on, its words on as many lines as it needs. */
static void put_words(report *r, const char *text, int at, int indent)
{
    sl_text *out = r->text;
    bool fresh = true;
    for (const char *word = text + strspn(text, " "); *word != '\0';) {
        size_t bytes = strcspn(word, " "), blanks = strspn(word + bytes, " ");
        int columns = count_columns(word, bytes);
        if (!fresh && at + columns > r->columns) {
            while (out->len > 0 && out->data[out->len - 1] == ' ') out->len--;
            sl_text_add(out, "\n%*s", indent, "");
            at = indent;
        }
        sl_text_add(out, "%.*s%*s", (int)bytes, word, word[bytes + blanks] ? (int)blanks : 0, "");
        at += columns + (int)blanks;
        fresh = false;
        word += bytes + blanks;
    }
    sl_text_add(out, "\n");
}

/* Adds the row that is in r->row, behind its label. */
static void put_row(report *r, const char *label)
{
    if (r->row->failed || r->row->len == 0) return;
    clean(r->row->data);
    sl_text_add(r->text, "  %-*s", INDENT - 2, label);
    put_words(r, r->row->data, INDENT, INDENT);
}

/* Empties the row, for the next one. */
static sl_text *start_row(report *r)
{
    if (r->row->failed) r->text->failed = true;
    sl_text_free(r->row);
    return r->row;
}

/* The script's line at that position, as much as fits. */
static void put_source(report *r, lua_State *L, int cache, const char *where)
{
    lsl_push_source_line(L, cache, where);
    const char *line = lua_tostring(L, -1);
    if (line != NULL) {
        sl_text *row = start_row(r);
        int room = r->columns - INDENT - 2;
        size_t bytes = strlen(line), shown = bytes;
        bool cut = count_columns(line, bytes) > room;
        while (cut && count_columns(line, shown) > room - 3)
            while (shown > 0 && ((unsigned char)line[--shown] & 0xC0) == 0x80) continue;
        sl_text_add(row, "%.*s%s", (int)shown, line, cut ? "..." : "");
        if (!row->failed) clean(row->data);
        sl_text_add(r->text, "%*s| %s\n", INDENT, "", row->failed ? "" : row->data);
    }
    lua_pop(L, 1);
}

/* ---- words ------------------------------------------------------------------------------- */

static const char *const verbs[] = {
    [SL_ACCESS_READ] = "reads", [SL_ACCESS_WRITE] = "writes", [SL_ACCESS_FREE] = "frees"
};
static const char *const doings[] = {
    [SL_ACCESS_READ] = "reading", [SL_ACCESS_WRITE] = "writing", [SL_ACCESS_FREE] = "freeing"
};

static const char *or_unknown(const char *where)
{
    return *where != '\0' ? where : "(no position)";
}

static void add_stream(sl_text *out, const sl_race_access *access)
{
    if (access->stream == 0)
        sl_text_add(out, "the default stream");
    else
        sl_text_add(out, "stream \"%s\"", access->stream_name);
}

/* Who it is that touches the memory. */
static void add_actor(sl_text *out, const sl_race_access *access)
{
    if (access->by_host) {
        sl_text_add(out, "the host");
        return;
    }
    if (access->in_host_func) sl_text_add(out, "a host function in ");
    add_stream(out, access);
}

static void add_headline(sl_text *out, const sl_race *race)
{
    const sl_race_access *first = &race->first, *second = &race->second;
    add_actor(out, second);
    sl_text_add(out, " %s", verbs[second->kind]);
    if (*second->where != '\0') sl_text_add(out, " at %s", second->where);
    sl_text_add(out, " what ");
    add_actor(out, first);
    if (race->kind == SL_RACE_ACCIDENT)
        sl_text_add(out, " %s, in order only by chance", verbs[first->kind]);
    else if (first->kind == SL_ACCESS_FREE)
        sl_text_add(out, " may have freed");
    else
        sl_text_add(out, " may still be %s", doings[first->kind]);
}

static bool is_by_host(const sl_race_access *access)
{
    return access->by_host || access->in_host_func;
}

/* "fill_f32 writes", "reads", "cudaFree frees". What the host and its functions do is named by
 * its verb, but for calls. */
static void describe(const sl_race_access *access, char text[WORDS_BYTES])
{
    bool plain = is_by_host(access) && access->kind != SL_ACCESS_FREE
                 && (strcmp(access->what, "read") == 0 || strcmp(access->what, "write") == 0);
    snprintf(text, WORDS_BYTES, "%s%s%s", plain ? "" : access->what,
             plain || *access->what == '\0' ? "" : " ", verbs[access->kind]);
}

static void put_access(report *r, const char *label, const sl_race_access *access,
                       const sl_race_access *other)
{
    char does[WORDS_BYTES], others[WORDS_BYTES];
    const char *where = or_unknown(access->where), *others_where = or_unknown(other->where);
    describe(access, does);
    describe(other, others);
    size_t where_width = strlen(where), does_width = strlen(does);
    if (strlen(others_where) > where_width) where_width = strlen(others_where);
    if (strlen(others) > does_width) does_width = strlen(others);
    sl_text *row = start_row(r);
    sl_text_add(row, "%-*s  %-*s  %s", (int)where_width, where, (int)does_width, does,
                is_by_host(access) ? "by " : "in ");
    add_actor(row, access);
    put_row(r, label);
}

/* Which bytes of it, unless both touch the same from its beginning. */
static void put_memory(report *r, const sl_race *race)
{
    const sl_race_access *a = &race->first, *b = &race->second;
    bool whole = race->first_byte == 0 && a->n_bytes == race->n_bytes
                 && b->n_bytes == race->n_bytes;
    sl_text *row = start_row(r);
    sl_text_add(row, "%s", race->tensor);
    if (!whole && race->n_bytes > 0)
        sl_text_add(row, ", bytes %zu to %zu of it", race->first_byte,
                    race->first_byte + race->n_bytes - 1);
    if (*race->made_where != '\0') sl_text_add(row, ", made at %s", race->made_where);
    put_row(r, "memory");
}

/* What became of it on the simulator. */
static const char *outcome_text(const sl_race *race)
{
    if (race->outcome == SL_RACE_UNKNOWN) return NULL;
    if (race->outcome == SL_RACE_HELD) return "in this run it went right; nothing guarantees it";
    if (race->first.kind == SL_ACCESS_FREE) return "the memory was used before it was freed";
    if (race->second.kind == SL_ACCESS_FREE) return "the memory was freed while it was in use";
    if (race->second.kind == SL_ACCESS_READ) return "the stale value was read";
    if (race->first.kind == SL_ACCESS_READ) return "the first has read what the second wrote";
    return "the second was overwritten by the first";
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void put_headline(report *r, const sl_race *race)
{
    bool accident = race->kind == SL_RACE_ACCIDENT;
    const char *label = accident ? "accident" : "race";
    sl_text *row = start_row(r);
    add_headline(row, race);
    if (row->failed) return;
    clean(row->data);
    if (r->colour) sl_text_add(r->text, "\033[%sm", accident ? "1;33" : "1;31");
    sl_text_add(r->text, "%s:", label);
    if (r->colour) sl_text_add(r->text, "\033[0m");
    sl_text_add(r->text, " ");
    put_words(r, row->data, PREFIX + (int)strlen(label) + 2, 4);
}

static void put_remedy(report *r, const sl_race *race)
{
    sl_text *row = start_row(r);
    if (race->remedy == NULL || *race->remedy == '\0') return;
    sl_text_add(row, "insert %s", race->remedy);
    if (race->remedy_where != NULL && *race->remedy_where != '\0')
        sl_text_add(row, " %s", race->remedy_where);
    put_row(r, "fix");
}

/* What orders the two of an accident. */
static void put_chance(report *r, const sl_race *race)
{
    sl_text *row = start_row(r);
    if (race->accident == NULL) return;
    sl_text_add(row, "kept only by undocumented behaviour of the driver: %s", race->accident);
    put_row(r, "order");
}

static void put_outcome(report *r, const sl_race *race)
{
    const char *text = outcome_text(race);
    sl_text *row = start_row(r);
    if (text == NULL) return;
    sl_text_add(row, "%s", text);
    put_row(r, "here");
}

void lsl_push_race_report(lua_State *L, const sl_race *race, int columns, bool colour,
                          const char *op)
{
    luaL_checkstack(L, 12, NULL);
    lua_newtable(L);        /* of files whose lines have been read */
    int cache = lua_gettop(L);
    report r = {.columns = columns, .colour = colour};
    r.text = lsl_new_text(L);
    r.row = lsl_new_text(L);
    put_headline(&r, race);
    put_access(&r, "first", &race->first, &race->second);
    put_source(&r, L, cache, race->first.where);
    put_access(&r, "second", &race->second, &race->first);
    if (strcmp(race->first.where, race->second.where) != 0)
        put_source(&r, L, cache, race->second.where);
    put_memory(&r, race);
    put_chance(&r, race);
    put_remedy(&r, race);
    put_outcome(&r, race);
    if (race->count > 1)
        sl_text_add(r.text, "  (and %llu more time%s)\n", (unsigned long long)race->count - 1,
                    race->count == 2 ? "" : "s");
    start_row(&r);
    if (r.text->failed || r.text->len == 0)
        lsl_fail(L, SL_ENOMEM, op, "no memory for the report of a race");
    lua_pushlstring(L, r.text->data, r.text->len - 1);
    lua_replace(L, cache);
    lua_settop(L, cache);
}
