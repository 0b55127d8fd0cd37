/* nsys_strings.c - the texts of a report of Nsight Systems ("StringIds").
 *
 * A report keeps more texts than a timeline needs (what the program printed, names of functions
 * that were sampled), so that they are read at once, and those that are asked for go to the
 * timeline.
 */
#include "nsys_strings.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "../record/spool.h"
#include "call_names.h"

SL__ORDER(by_id, struct nsys_string, x->id, x->at);

static sl_status add(sl__nsys_strings *strings, int64_t id, const char *text, size_t n,
                     sl_error *err)
{
    if (!SL__GROW(strings->all, strings->cap, strings->n + 1))
        return sl__no_memory(err, "the texts of a report");
    strings->all[strings->n++] = (struct nsys_string){ .id = id, .at = strings->texts.len };
    sl_text_add_bytes(&strings->texts, text, n < SPOOL_TEXT_MOST ? n : SPOOL_TEXT_MOST - 1);
    sl_text_add_bytes(&strings->texts, "", 1);
    return strings->texts.failed ? sl__no_memory(err, "the texts of a report") : SL_OK;
}

sl_status sl__nsys_strings_read(sl__nsys_strings *strings, sl__sqlite *db, sl_error *err)
{
    static const char *const columns[] = { "id", "value", NULL };
    sl__rows rows;
    bool more = false;
    sl_status status = sl__rows_open(db, "StringIds", columns, &rows, err);
    while (status == SL_OK && (status = sl__rows_next(&rows, &more, err)) == SL_OK && more) {
        size_t n;
        const char *text = sl__rows_text(&rows, 1, &n);
        if (text && n > 0) status = add(strings, sl__rows_whole(&rows, 0, -1), text, n, err);
    }
    sl__rows_close(&rows);
    if (status == SL_OK && strings->n > 1)
        qsort(strings->all, strings->n, sizeof *strings->all, by_id);
    return status;
}

void sl__nsys_strings_free(sl__nsys_strings *strings)
{
    sl_text_free(&strings->texts);
    free(strings->all);
    strings->all = NULL;
}

static struct nsys_string *find(sl__nsys_strings *strings, int64_t id)
{
    size_t at;
    SL__SEARCH(at, strings->n, strings->all[at].id < id);
    return at < strings->n && strings->all[at].id == id ? &strings->all[at] : NULL;
}

/* `length`: of a name, what of it is taken; NULL: all. */
static sl_status intern(sl__nsys_strings *strings, const char *text, size_t n,
                        size_t (*length)(const char *name), uint32_t *id, sl_error *err)
{
    char copy[SPOOL_TEXT_MOST];
    n = sl__min(n, sizeof copy - 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (length) copy[length(copy)] = '\0';
    return *copy ? sl_timeline_intern(strings->timeline, copy, id, err) : SL_OK;
}

sl_status sl__nsys_string(sl__nsys_strings *strings, sl__rows *rows, int column, uint32_t *text,
                          sl_error *err)
{
    size_t n;
    const char *given = sl__rows_text(rows, column, &n);
    struct nsys_string *found = find(strings, sl__rows_whole(rows, column, -1));
    *text = 0;
    if (given) return intern(strings, given, n, NULL, text, err);
    if (!found) return SL_OK;
    const char *kept = strings->texts.data + found->at;
    sl_status status = found->text ? SL_OK
                                   : intern(strings, kept, strlen(kept), NULL, &found->text, err);
    *text = found->text;
    return status;
}

sl_status sl__nsys_call_name(sl__nsys_strings *strings, sl__rows *rows, int column, uint32_t *text,
                             sl_error *err)
{
    struct nsys_string *found = find(strings, sl__rows_whole(rows, column, -1));
    *text = 0;
    if (!found) return SL_OK;
    const char *kept = strings->texts.data + found->at;
    sl_status status = found->as_call ? SL_OK
                                      : intern(strings, kept, strlen(kept), sl__call_name_length,
                                               &found->as_call, err);
    *text = found->as_call;
    return status;
}
