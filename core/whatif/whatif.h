/* whatif.h - the recorded program, played again with a change: what removing a cause gains. */
#ifndef SL_WHATIF_H
#define SL_WHATIF_H

#include "../timeline/explanation.h"

/* ---- explanations with their gains (gained.c) ---- */

/* Each idle gap of each engine before work that came to it, and each wait of work for an
 * engine that was busy for others, by cause. Found once: the timeline keeps it. SL_ENOMEM,
 * SL_EINTERRUPT: the next call looks again. */
sl_status sl_timeline_causes(const sl_timeline *timeline, const sl_explanation **explanation,
                             sl_error *err);
/* The same from the spans and calls alone, as for a backend that does not report causes. The
 * caller frees it. */
sl_status sl_timeline_infer_causes(const sl_timeline *timeline, sl_explanation *explanation,
                                   sl_error *err);

/* ---- operations in graphs (as_graphs.c) ---- */

/* The recorded schedule played again, with all that the host issued between two of its waits (or
 * work, or other calls that a capture cannot contain) in a graph that it launches with one call.
 * Operations take as long as they did. Captures, instantiation and first launches do not count. */
typedef struct sl_as_graphs {
    int64_t makespan_ns; /* as recorded if there is no graph */
    size_t n_graphs;
    size_t n_nodes;   /* of all graphs: operations that are no records or waits */
    int64_t issue_ns; /* the host's recorded time for these, from each first call to the last */
} sl_as_graphs;
/* SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_timeline_as_graphs(const sl_timeline *timeline, const sl_graph_costs *costs,
                                sl_as_graphs *found, sl_error *err);

#endif
