/* kineto_slice.c - what the events of a trace consist of, and where a slice goes in its row. */
#include "kineto_write.h"

#include <inttypes.h>

#include "../text/json.h"

/* ---- rows --------------------------------------------------------------------- */

static double us(int64_t ns) { return (double)ns / 1000; }

static int64_t cut_ns(int64_t ns) { return (int64_t)(us(ns) * 1000); }

/* Does a slice at start_ns still come after `last` for readers that take the decimals as
 * doubles? HTA adds ts and dur, 203.442 + 0.270 > 203.712, and would nest what only
 * touches; Perfetto cuts 1000 ts and 1000 dur to whole ns, 1000 * 1.001 < 1001. */
static bool reads_after(sl__interval last, int64_t base_ns, int64_t start_ns)
{
    int64_t from = last.start_ns - base_ns, to = start_ns - base_ns;
    int64_t duration = last.end_ns - last.start_ns;
    return us(from) + us(duration) <= us(to) && cut_ns(from) + cut_ns(duration) <= cut_ns(to);
}

sl__interval sl__row_place(sl__row *row, int64_t base_ns, int64_t start_ns, int64_t end_ns)
{
    sl__interval placed = { start_ns, end_ns };
    if (row->filled && placed.start_ns < row->last.end_ns) placed.start_ns = row->last.end_ns;
    if (row->filled && !reads_after(row->last, base_ns, placed.start_ns)) placed.start_ns++;
    if (placed.end_ns < placed.start_ns) placed.end_ns = placed.start_ns;
    *row = (sl__row){ placed, end_ns, true };
    return placed;
}

/* The same for a slice within another one. */
static bool reads_within(sl__interval outer, int64_t base_ns, sl__interval inner)
{
    int64_t from = outer.start_ns - base_ns, to = inner.start_ns - base_ns;
    int64_t around = outer.end_ns - outer.start_ns, duration = inner.end_ns - inner.start_ns;
    return us(to) + us(duration) <= us(from) + us(around)
           && cut_ns(to) + cut_ns(duration) <= cut_ns(from) + cut_ns(around);
}

void sl__row_keep_within(const sl__row *outer, int64_t base_ns, sl__interval *when)
{
    const sl__interval around = outer->last;
    when->end_ns = sl__min(when->end_ns, around.end_ns);
    when->start_ns = sl__min(when->start_ns, when->end_ns);
    while (when->end_ns > around.start_ns && !reads_within(around, base_ns, *when)) {
        when->end_ns--;
        when->start_ns = sl__min(when->start_ns, when->end_ns);
    }
}

/* ---- pieces of an event ---------------------------------------------------- */

void sl__write_begin(sl__writer *w, const char *start)
{
    sl__json_raw(&w->file, w->first ? "\n" : ",\n");
    sl__json_raw(&w->file, start);
    w->first = false;
}

void sl__write_place(sl__writer *w, int pid, uint64_t tid)
{
    sl__json_uint(&w->file, ",\"pid\":", (uint64_t)pid);
    sl__json_uint(&w->file, ",\"tid\":", tid);
}

void sl__write_meta_begin(sl__writer *w, const char *what, int pid, uint64_t tid)
{
    sl__write_begin(w, "{\"ph\":\"M\",\"name\":\"");
    sl__json_raw(&w->file, what);
    sl__json_raw(&w->file, "\"");
    sl__write_place(w, pid, tid);
    sl__json_raw(&w->file, ",\"ts\":0,\"args\":{");
}

void sl__write_row_name(sl__writer *w, int pid, uint64_t tid, const char *name)
{
    sl__write_meta_begin(w, "thread_name", pid, tid);
    sl__json_string(&w->file, "\"name\":", name);
    sl__json_raw(&w->file, "}}");
    sl__write_meta_begin(w, "thread_sort_index", pid, tid);
    sl__json_uint(&w->file, "\"sort_index\":", tid);
    sl__json_raw(&w->file, "}}");
}

void sl__add_thread_name(const sl__writer *w, uint32_t thread, sl_text *name)
{
    const char *own = sl_timeline_thread_name(w->timeline, thread);
    sl_text_add(name, "thread %" PRIu32, thread);
    if (*own) sl_text_add(name, " (%s)", own);
}

void sl__slice_begin(sl__writer *w, const char *cat, const char *name, int pid, uint64_t tid,
                     sl__interval when)
{
    sl__write_begin(w, "{\"ph\":\"X\",\"cat\":\"");
    sl__json_raw(&w->file, cat);
    sl__json_string(&w->file, "\",\"name\":", name);
    sl__write_place(w, pid, tid);
    sl__json_milli(&w->file, ",\"ts\":", when.start_ns - w->base_ns);
    sl__json_milli(&w->file, ",\"dur\":", when.end_ns - when.start_ns);
}

void sl__slice_own_times(sl__writer *w, sl__interval when, int64_t start_ns, int64_t end_ns)
{
    if (when.start_ns == start_ns && when.end_ns == end_ns) return;
    sl__json_milli(&w->file, ",\"own ts\":", start_ns - w->base_ns);
    sl__json_milli(&w->file, ",\"own dur\":", end_ns - start_ns);
}

static void put_cause(sl__writer *w, const char *cause_key, uint8_t cause, const char *by_key,
                      uint64_t by)
{
    if (cause != SL_CAUSE_NONE)
        sl__json_string(&w->file, cause_key, sl_cause_name((sl_cause)cause));
    if (by) sl__json_uint(&w->file, by_key, by);
}

void sl__write_hold(sl__writer *w, uint64_t correlation)
{
    sl_hold hold;
    if (!sl_timeline_find_hold(w->timeline, correlation, &hold)) return;
    sl__json_milli(&w->file, ",\"ready us\":", hold.ready_ns - w->base_ns);
    put_cause(w, ",\"held cause\":", hold.ready_cause, ",\"held by\":", hold.ready_by);
    put_cause(w, ",\"start cause\":", hold.start_cause, ",\"start by\":", hold.start_by);
}

void sl__write_flow(sl__writer *w, bool start, uint64_t id, int pid, uint64_t tid, int64_t ns)
{
    sl__write_begin(w, start ? "{\"ph\":\"s\"" : "{\"ph\":\"f\",\"bp\":\"e\"");
    sl__json_uint(&w->file, ",\"id\":", id);
    sl__write_place(w, pid, tid);
    sl__json_milli(&w->file, ",\"ts\":", ns - w->base_ns);
    sl__json_raw(&w->file, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}");
}
