/* matching.c - an array of calls and one of records, sorted by correlation when they are matched.
 * CUPTI numbers the calls in order and delivers most records in that order, so the arrays are
 * usually sorted already. An operation takes 16 bytes for its call and 48 for its record until it
 * is matched. */
#include "matching.h"

#include <stdlib.h>
#include <string.h>

#include "../base.h"

/* ---- calls and records ---- */

void cuda_matching_add_call(cuda_matching *m, uint64_t external_id, uint32_t correlation)
{
    if (!SL__GROW(m->calls, m->cap_calls, m->n_calls + 1)) {
        m->n_lost++;
        return;
    }
    if (m->n_calls > 0 && m->calls[m->n_calls - 1].correlation > correlation)
        m->calls_unsorted = true;
    m->calls[m->n_calls++] = (cuda_call){ external_id, correlation };
}

void cuda_matching_add_record(cuda_matching *m, const cuda_record *record)
{
    if (!SL__GROW(m->records, m->cap_records, m->n_records + 1)) {
        m->n_lost++;
        return;
    }
    if (m->n_records > 0 && m->records[m->n_records - 1].correlation > record->correlation)
        m->records_unsorted = true;
    m->records[m->n_records++] = *record;
}

/* ---- matching ---- */

SL__ORDER(by_correlation, cuda_call, x->correlation);

/* Those of one call by their start, so that the result does not depend on the order in
 * which CUPTI's buffers came. */
SL__ORDER(by_correlation_and_start, cuda_record, x->correlation, x->start_ns);

static void sort(cuda_matching *m)
{
    if (m->calls_unsorted) qsort(m->calls, m->n_calls, sizeof *m->calls, by_correlation);
    if (m->records_unsorted)
        qsort(m->records, m->n_records, sizeof *m->records, by_correlation_and_start);
    m->calls_unsorted = m->records_unsorted = false;
}

/* The first call that is not before `correlation`. */
static size_t first_call(const cuda_matching *m, uint32_t correlation)
{
    size_t at;
    SL__SEARCH(at, m->n_calls, m->calls[at].correlation < correlation);
    return at;
}

void cuda_matching_run(cuda_matching *m, bool all, cuda_matched_fn fn, void *ud)
{
    sort(m);
    size_t at = m->n_records > 0 ? first_call(m, m->records[0].correlation) : 0;
    for (size_t i = 0; i < m->n_records; i++) {
        const cuda_record *record = &m->records[i];
        while (at < m->n_calls && m->calls[at].correlation < record->correlation)
            at++;
        if (at < m->n_calls && m->calls[at].correlation == record->correlation)
            fn(ud, m->calls[at].external_id, record);
    }
    m->n_records = 0;
    if (all) cuda_matching_clear(m);
}

void cuda_matching_clear(cuda_matching *m)
{
    size_t n_lost = m->n_lost;
    free(m->calls);
    free(m->records);
    memset(m, 0, sizeof *m);
    m->n_lost = n_lost;
}
