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

void sl__records_free(sl__records *records)
{
    free(records->works);
    free(records->hosts);
    free(records->syncs);
    free(records->threads);
    free(records->holds);
    free(records->collectives);
    free(records->peers);
    free(records->launches);
    free(records->devices);
    free(records->notes);
    free(records->places);
    free(records->stalls);
    for (int kind = 0; kind < SL_DOUBTS; kind++)
        sl_text_free(&records->doubted[kind].what);
    memset(records, 0, sizeof *records);
}

/* ---- look-ups ------------------------------------------------------------------- */

static bool comes_before(const sl__host *host, uint64_t correlation, bool plain)
{
    if (host->call.correlation != correlation) return host->call.correlation < correlation;
    return !plain && sl__is_plain(host);
}

sl__host *sl__host_find(const sl__records *records, uint64_t correlation, bool plain)
{
    size_t at;
    SL__SEARCH(at, records->n_hosts, comes_before(&records->hosts[at], correlation, plain));
    sl__host *found = at < records->n_hosts ? &records->hosts[at] : NULL;
    bool fits = found && found->call.correlation == correlation && sl__is_plain(found) == plain;
    return correlation && fits ? found : NULL;
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
