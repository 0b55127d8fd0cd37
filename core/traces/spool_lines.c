/* spool_lines.c - gives the calls of a recorded process the lines at which they were made. A spool
 * has a note for the first call of a thread, and for each whose line is another than that of the
 * call before it in its thread. Which of CUPTI's threads a note is of follows from its own call;
 * where that is not recorded, from the thread's other notes, or its number is CUPTI's, too.
 */
#include "spool_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../base.h"
#include "../text/text.h"

#define LINES_AHEAD 65536 /* of a line's number, of as many lines as came before it */

typedef struct sl__spool_at {
    int64_t tid; /* CUPTI's; -1: not known */
    uint32_t thread, correlation, line;
} sl__spool_at;

/* ---- lines ---- */

/* "train.py:31 in step", and of another thread than the one that makes the call
 * "train.py:31 in step (other thread)". Compiled code may have no lines: "program+0x12 in step". */
static sl_status position(sl_timeline *timeline, const spool_line *line, uint32_t file,
                          uint32_t function, uint32_t *where, sl_error *err)
{
    const char *in = sl_timeline_text(timeline, function);
    sl_text text = { 0 };
    sl_text_add(&text, "%s", sl_timeline_text(timeline, file));
    if (line->number) sl_text_add(&text, ":%" PRIu32, line->number);
    if (in[0]) sl_text_add(&text, " in %s", in);
    if (line->is_other) sl_text_add(&text, " (other thread)");
    sl_status status = text.failed ? sl__no_memory(err, "a line of a program")
                                   : sl_timeline_intern(timeline, text.data, where, err);
    sl_text_free(&text);
    return status;
}

sl_status sl__spool_lines_add(sl__spool_lines *lines, sl_timeline *timeline, const spool_line *line,
                              uint32_t file, uint32_t function, sl_error *err)
{
    uint32_t where = 0;
    if (line->id > lines->n_taken++ + LINES_AHEAD) return SL_OK;
    if (!SL__GROW_ZEROED(lines->where, lines->cap_where, (size_t)line->id + 1))
        return sl__no_memory(err, "%" PRIu32 " lines of a program", line->id);
    if (lines->n_where <= line->id) lines->n_where = (size_t)line->id + 1;
    sl_status status = position(timeline, line, file, function, &where, err);
    lines->where[line->id] = where;
    return status == SL_OK ? sl_timeline_set_source(timeline, where, line->text, err) : status;
}

sl_status sl__spool_lines_note(sl__spool_lines *lines, const spool_at *at, sl_error *err)
{
    const sl__spool_at note = { -1, at->thread, at->correlation, at->line };
    return sl__records_add((void **)&lines->at, &lines->n_at, &lines->cap_at, &note, sizeof note,
                           err);
}

/* ---- calls ---- */

SL__ORDER(by_own_thread, sl__spool_at, x->thread, x->correlation);
SL__ORDER(by_thread, sl__spool_at, x->tid, x->correlation);

static uint32_t number_of(const sl__host *host) { return (uint32_t)host->call.correlation; }

/* Which of CUPTI's threads each note is of. One whose call is missing (not in a range that is
 * recorded, say) is of the thread that the next note of its own thread has, or else the one
 * before; without any its number is taken: CUPTI counts in pthread_t, unless it is set otherwise.
 */
static void find_threads(sl__spool_lines *lines, const sl__host *hosts, size_t n)
{
    sl__spool_at *at = lines->at;
    for (size_t i = 0; i < lines->n_at; i++) {
        size_t host;
        SL__SEARCH(host, n, number_of(&hosts[host]) < at[i].correlation);
        if (host < n && number_of(&hosts[host]) == at[i].correlation) at[i].tid = hosts[host].tid;
    }
    for (size_t i = lines->n_at; i-- > 1;)
        if (at[i - 1].tid < 0 && at[i - 1].thread == at[i].thread) at[i - 1].tid = at[i].tid;
    for (size_t i = 1; i < lines->n_at; i++)
        if (at[i].tid < 0 && at[i].thread == at[i - 1].thread) at[i].tid = at[i - 1].tid;
    for (size_t i = 0; i < lines->n_at; i++)
        if (at[i].tid < 0) at[i].tid = at[i].thread;
}

void sl__spool_lines_apply(sl__spool_lines *lines, sl__records *records, size_t first)
{
    const sl__spool_at *at = lines->at;
    if (lines->n_at == 0 || records->n_hosts == first) return;
    sl__host *hosts = records->hosts + first;
    const size_t n = records->n_hosts - first;
    if (lines->n_at > 1) qsort(lines->at, lines->n_at, sizeof *at, by_own_thread);
    find_threads(lines, hosts, n);
    if (lines->n_at > 1) qsort(lines->at, lines->n_at, sizeof *at, by_thread);
    for (size_t i = 0; i < n; i++) {
        size_t next;
        SL__SEARCH(
            next, lines->n_at,
            at[next].tid < hosts[i].tid
                || (at[next].tid == hosts[i].tid && at[next].correlation <= number_of(&hosts[i])));
        if (next == 0 || at[next - 1].tid != hosts[i].tid) continue;
        const uint32_t line = at[next - 1].line;
        if (line < lines->n_where) hosts[i].call.where = lines->where[line];
    }
}

void sl__spool_lines_free(sl__spool_lines *lines)
{
    free(lines->where);
    free(lines->at);
    *lines = (sl__spool_lines){ 0 };
}
