/* trace_missing.c - launches of a foreign trace whose operations are not in it: the profiler lost
 * them, or did not record what graphs run. What is launched within a capture runs in none,
 * whichever thread launches it: PyTorch's backward pass has a thread of its own. */
#include "trace_match.h"

#include <stdlib.h>

#include "../timeline/overlap.h"

/* A call that begins or ends a capture. */
typedef struct border {
    int64_t pid, ns;
    bool begins;
    size_t n_open; /* captures of the process, from here on */
} border;

SL__ORDER(by_process_and_time, border, x->pid, x->ns);

static bool is_border(const sl__host *host)
{
    return !host->failed
           && (host->does == SL__DOES_BEGIN_CAPTURE || host->does == SL__DOES_END_CAPTURE);
}

static sl_status find_borders(const sl__records *records, border **borders, size_t *n,
                              sl_error *err)
{
    *n = 0;
    for (size_t i = 0; i < records->n_hosts; i++)
        *n += is_border(&records->hosts[i]);
    *borders = malloc((*n + 1) * sizeof **borders);
    if (!*borders) return sl__no_memory(err, "the captures of a trace");
    for (size_t i = 0, to = 0; i < records->n_hosts; i++) {
        const sl__host *host = &records->hosts[i];
        if (is_border(host))
            (*borders)[to++] = (border){ host->pid, host->call.host_start_ns,
                                         host->does == SL__DOES_BEGIN_CAPTURE, 0 };
    }
    sl__sort(*borders, *n, sizeof **borders, by_process_and_time);
    for (size_t i = 0; i < *n; i++) {
        border *at = &(*borders)[i];
        const size_t n_open = i > 0 && at[-1].pid == at->pid ? at[-1].n_open : 0;
        at->n_open = at->begins ? n_open + 1 : n_open - (n_open > 0);
    }
    return SL_OK;
}

static bool is_captured(const border *borders, size_t n, const sl__host *host)
{
    const border key = { .pid = host->pid, .ns = host->call.host_start_ns };
    size_t at;
    SL__SEARCH(at, n, by_process_and_time(&borders[at], &key) <= 0);
    return at > 0 && borders[at - 1].pid == host->pid && borders[at - 1].n_open > 0;
}

/* Of the calls with one correlation the first stands for all. */
sl_status sl__missing_count(sl__records *records, sl_error *err)
{
    border *borders;
    size_t n;
    if (records->own) return SL_OK;
    sl_status status = find_borders(records, &borders, &n, err);
    for (size_t i = 0; i < records->n_hosts && status == SL_OK; i++) {
        const sl__host *host = &records->hosts[i];
        bool first = i == 0 || host->call.correlation == 0
                     || host->call.correlation != host[-1].call.correlation;
        if (!first || (host->does != SL__DOES_LAUNCH_KERNEL && host->does != SL__DOES_LAUNCH_GRAPH))
            continue;
        sl__doubted *doubted = &records->doubted[host->does == SL__DOES_LAUNCH_GRAPH
                                                     ? SL_DOUBT_NO_NODES
                                                     : SL_DOUBT_NO_OPERATION];
        doubted->of++;
        if (host->has_work || is_captured(borders, n, host)) continue;
        doubted->from_ns = doubted->n == 0 ? host->call.host_start_ns
                                           : sl__min(doubted->from_ns, host->call.host_start_ns);
        doubted->to_ns = sl__max(doubted->to_ns, host->call.host_end_ns);
        doubted->n++;
    }
    free(borders);
    return status;
}
