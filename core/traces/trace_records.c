/* trace_records.c - the lists of what a trace says, and what is looked up in them. */
#include <stdlib.h>
#include <string.h>

#include "../timeline/guess.h"
#include "../timeline/store.h"
#include "trace_match.h"

/* ---- storage -------------------------------------------------------------------- */

sl_status sl__records_add(void **array, size_t *n, size_t *cap, const void *item, size_t size,
                          sl_error *err)
{
    if (*n == *cap && !sl__grow(array, cap, *n + 1, size, false))
        return sl__no_memory(err, "more than %zu events of a trace", *n);
    memcpy((char *)*array + (*n)++ * size, item, size);
    return SL_OK;
}

void sl__records_widen(sl__records *records, int64_t start_ns, int64_t end_ns)
{
    if (start_ns == 0 && !records->own) {
        records->zero_end_ns = records->has_zeros ? sl__max(records->zero_end_ns, end_ns) : end_ns;
        records->has_zeros = true;
        return;
    }
    if (!records->timed || start_ns < records->first_ns) records->first_ns = start_ns;
    if (!records->timed || end_ns > records->last_ns) records->last_ns = end_ns;
    records->timed = true;
}

/* The index of a thread, or SL__MOST_RANGE_THREADS. Ranges of one often follow each other. */
static sl_status find_range_thread(sl__records *records, int64_t pid, int64_t tid, size_t *index,
                                   sl_error *err)
{
    const sl__range_thread thread = { pid, tid, SL__NO_THREAD };
    const sl__range_thread *all = records->range_threads;
    for (*index = records->n_range_threads; *index > 0; (*index)--)
        if (all[*index - 1].tid == tid && all[*index - 1].pid == pid) break;
    if ((*index)-- > 0) return SL_OK;
    *index = records->n_range_threads;
    if (*index == SL__MOST_RANGE_THREADS) return SL_OK;
    return SL__RECORDS_ADD(records, range_threads, &thread, err);
}

sl_status sl__records_add_range(sl__records *records, int64_t pid, int64_t tid, sl_host_range range,
                                sl_error *err)
{
    size_t thread;
    if (range.start_ns < 0 || range.end_ns < range.start_ns || range.end_ns >= SL__TIME_LIMIT_NS)
        return SL_OK;
    sl_status status = find_range_thread(records, pid, tid, &thread, err);
    if (status != SL_OK || thread == SL__MOST_RANGE_THREADS) return status;
    range.thread = (uint32_t)thread;
    return sl_timeline_add_host_range(records->timeline, &range, err);
}

void sl__records_free(sl__records *records)
{
    free(records->works);
    free(records->hosts);
    free(records->syncs);
    free(records->threads);
    free(records->range_threads);
    free(records->facts);
    free(records->holds);
    free(records->collectives);
    free(records->exchanges);
    free(records->comm_calls);
    free(records->peers);
    free(records->launches);
    free(records->memory);
    free(records->samples);
    free(records->devices);
    free(records->notes);
    free(records->places);
    free(records->stalls);
    for (int kind = 0; kind < SL_DOUBTS; kind++)
        sl_text_free(&records->doubted[kind].what);
    memset(records, 0, sizeof *records);
}

/* Of a group's name and its ranks: two groups may have one name, as each rank counts its own. */
uint64_t sl__exchange_group(const sl_timeline *timeline, const sl_exchange_note *note)
{
    const uint32_t ids[] = { note->group_name, note->group_ranks };
    uint64_t hash = SL__HASH_START;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const char *text = sl_timeline_text(timeline, ids[i]);
        hash = sl__hash(hash, text, strlen(text));
    }
    return hash;
}

/* ---- look-ups ------------------------------------------------------------------- */

static bool comes_before(const sl__host *host, uint64_t correlation, bool plain)
{
    if (host->call.correlation != correlation) return host->call.correlation < correlation;
    return !plain && sl__is_plain(host);
}

/* Where a correlation would be if the numbers had no gaps, as those of a thread have few; then the
 * borders between which it is: each step from there is twice as long as the one before. */
static void guess(const sl__records *records, uint64_t correlation, bool plain, size_t *from,
                  size_t *to)
{
    const sl__host *all = records->hosts;
    const size_t n = records->n_hosts;
    const uint64_t first = all[0].call.correlation, last = all[n - 1].call.correlation;
    size_t at = 0, step = 1;
    if (correlation > first && last > first)
        at = (size_t)((double)(sl__min(correlation, last) - first) / (double)(last - first)
                      * (double)(n - 1));
    *from = *to = at;
    if (comes_before(&all[at], correlation, plain)) {
        for (; *to < n && comes_before(&all[*to], correlation, plain); step *= 2) {
            *from = *to + 1;
            *to = step < n - *to ? *to + step : n;
        }
    } else {
        for (; *from > 0 && !comes_before(&all[*from - 1], correlation, plain); step *= 2) {
            *to = *from - 1;
            *from = step < *from ? *from - step : 0;
        }
    }
}

sl__host *sl__host_find(const sl__records *records, uint64_t correlation, bool plain)
{
    size_t at, from, to;
    if (correlation == 0 || records->n_hosts == 0) return NULL;
    guess(records, correlation, plain, &from, &to);
    SL__SEARCH(at, to - from, comes_before(&records->hosts[from + at], correlation, plain));
    at += from;
    sl__host *found = at < records->n_hosts ? &records->hosts[at] : NULL;
    bool fits = found && found->call.correlation == correlation && sl__is_plain(found) == plain;
    return fits ? found : NULL;
}

/* The number of the call that enqueued it. */
static uint64_t call_of(const sl__work *work)
{
    return work->has_no_call ? work->launch : work->span.correlation;
}

sl__host *sl__launch_find(const sl__records *records, const sl__work *work)
{
    return sl__host_find(records, call_of(work), true);
}

uint64_t sl__issue_of(const sl__match *m, uint64_t correlation)
{
    if (!m->renumbered || correlation == 0) return correlation;
    size_t at;
    SL__SEARCH(at, m->n_items, m->by_number[at].correlation < correlation);
    bool found = at < m->n_items && m->by_number[at].correlation == correlation;
    return found ? m->by_number[at].issue : 0;
}
