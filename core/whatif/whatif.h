/* whatif.h - the recorded program, played again with a change: what removing a cause gains. */
#ifndef SL_WHATIF_H
#define SL_WHATIF_H

#include "../streamlab.h"
#include "../timeline/explanation.h"

/* ---- a program and its changes (whatif.c, edits.h) ------------------------------------ */

typedef struct sl_whatif sl_whatif;

typedef struct sl_identity { /* the program played unchanged */
    int64_t measured_ns, replayed_ns;
    double error;        /* of the makespan: 0.02 is 2 % too long */
    const char *problem; /* why no change can be predicted: a sentence's end; NULL: it can */
} sl_identity;

typedef struct sl_prediction {
    int64_t before_ns;       /* without what recording took */
    int64_t after_ns;        /* with the changes */
    int64_t low_ns, high_ns; /* where after_ns is likely to lie: as far as what is assumed may be
                                * off, and predictions of recorded pairs were */
} sl_prediction;

typedef struct sl_remedy { /* one change, or two that go together */
    const char *edits[2];  /* their names; the second may be NULL */
    const char *selection; /* of both: what stands behind "line=" or, not `by_line`, a name */
    bool by_line;
    double number; /* the argument of the first, if it has one */
    sl_prediction prediction;
} sl_remedy;

/* Of a finished timeline, which stays until close. SL_EUNSUPPORTED: it keeps only a summary;
 * SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_open(const sl_timeline *timeline, sl_whatif **whatif, sl_error *err);
void sl_whatif_close(sl_whatif *whatif);

sl_status sl_whatif_identity(const sl_whatif *whatif, sl_identity *identity, sl_error *err);

/* Adds a change to those before. selection: a pattern as fnmatch(3) has them, for names of
 * operations and calls; or "KEY=PATTERN" with a key of sl_by_parse, or step=N or N..M; "" of an
 * edit that is of the whole program. number, or name: the argument that the edit has; else
 * ignored. *n: how many operations or calls it changed. SL_EINVAL: no such edit, or an argument
 * that it cannot have; SL_ENOTFOUND: nothing of its kind is chosen; SL_ENOMEM, SL_EINTERRUPT.
 * After a failure nothing has changed. */
sl_status sl_whatif_change(sl_whatif *whatif, const char *edit, const char *selection,
                           double number, const char *name, size_t *n, sl_error *err);
void sl_whatif_undo(sl_whatif *whatif); /* all changes */

/* SL_EINVAL: the changed operations wait for each other; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_predict(sl_whatif *whatif, sl_prediction *prediction, sl_error *err);

/* What single changes would give, the shortest makespan first: for each name of copies, each
 * line or name of calls that wait, and all launches as graphs. Those that gain nothing are left
 * out. Texts are the timeline's. The caller frees *remedies. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_rank(sl_whatif *whatif, sl_remedy **remedies, size_t *n, sl_error *err);

/* Rows of the table of edits: name, and whether it has a selection, a number, a name. NULL behind
 * the last one. */
const char *sl_edit_name(size_t row, bool *selects, bool *has_number, bool *has_name);

/* ---- explanations with their gains (gained.c) ----------------------------------------- */

/* Each idle gap of each engine before work that came to it, and each wait of work for an
 * engine that was busy for others, by cause. Found once: the timeline keeps it. SL_ENOMEM,
 * SL_EINTERRUPT: the next call looks again. */
sl_status sl_timeline_causes(const sl_timeline *timeline, const sl_explanation **explanation,
                             sl_error *err);
/* The same from the spans and calls alone, as for a backend that does not report causes. The
 * caller frees it. */
sl_status sl_timeline_infer_causes(const sl_timeline *timeline, sl_explanation *explanation,
                                   sl_error *err);

/* ---- operations in graphs (as_graphs.c) ----------------------------------------------- */

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
