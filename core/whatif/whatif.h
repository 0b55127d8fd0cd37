/* whatif.h - the recorded program, played again with a change: what removing a cause gains. */
#ifndef SL_WHATIF_H
#define SL_WHATIF_H

#include "../streamlab.h"
#include "../timeline/breakdown.h"
#include "../timeline/explanation.h"

/* ---- a program and its changes (whatif.c, edits.h) ------------------------------------ */

typedef struct sl_whatif sl_whatif;

typedef struct sl_identity { /* the program played unchanged */
    int64_t measured_ns, replayed_ns;
    double error;        /* of the makespan: 0.02 is 2 % too long */
    const char *problem; /* why no change can be predicted: a sentence's end; NULL: it can */
    bool knows_needs;    /* which data operations need: a change that takes them is refused */
} sl_identity;

typedef struct sl_prediction {
    int64_t before_ns;       /* without what recording took */
    int64_t after_ns;        /* with the changes */
    int64_t low_ns, high_ns; /* where after_ns is likely to lie: as far as what is assumed may be
                                * off, and predictions of recorded pairs were */
} sl_prediction;

typedef struct sl_remedy { /* one change, or two that go together */
    const char *edits[2];  /* their names; the second may be NULL */
    char *selection;       /* of both, as sl_whatif_change takes it, where the edit has one */
    double number;         /* the argument of the first, if it has one */
    const char *name;      /* likewise, or NULL */
    size_t under;          /* the row under which it stands: of the same edit the one that gains the
                            * most, or the simplest that gains the same; of such a row its own */
    sl_prediction prediction;
} sl_remedy;

typedef struct sl_remedy_pair {
    size_t rows[2]; /* in the order in which they change the program */
    sl_prediction prediction;
} sl_remedy_pair;

typedef struct sl_ranking {
    sl_remedy *at; /* the shortest makespan first */
    size_t n;
    sl_remedy_pair *pairs; /* of the best five rows that stand under none: those that gain more */
    size_t n_pairs;        /* than the better one alone by a hundredth of the makespan */
} sl_ranking;

/* Of a finished timeline, which stays until close. SL_EUNSUPPORTED: it keeps only a summary;
 * SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_open(const sl_timeline *timeline, sl_whatif **whatif, sl_error *err);
void sl_whatif_close(sl_whatif *whatif);

sl_status sl_whatif_identity(const sl_whatif *whatif, sl_identity *identity, sl_error *err);

/* Another GPU, as multiples of the recorded one's figures: 2 is twice as much. */
typedef struct sl_gpu_ratios {
    double compute;  /* operations per second, */
    double memory;   /* bytes per second of its memory, */
    double h2d, d2h; /* of copies from and to pinned memory; */
    double sms;      /* how many it has */
} sl_gpu_ratios;

/* The GPU that the next change `profile` is about. SL_EINVAL: a figure is not above 0, or above
 * 1000. Without it there is none. */
sl_status sl_whatif_set_gpu(sl_whatif *whatif, const sl_gpu_ratios *gpu, sl_error *err);

/* Adds a change to those before. selection: a pattern as fnmatch(3) has them, for names of
 * operations and calls, "A|B" for either; or "KEY=PATTERN" with a key of sl_by_parse, or step=N or
 * N..M; "" of an edit that is of the whole program. number, or name: the argument that the edit
 * has; else ignored. *n: how many operations or calls it changed. SL_EINVAL: no such edit, or an
 * argument that it cannot have; SL_ENOTFOUND: nothing of its kind is chosen; SL_ENOMEM,
 * SL_EINTERRUPT.
 * SL_EINVAL also: an operation would no longer come behind
 * another one whose results it reads, as far as that is known. After a failure nothing has
 * changed. */
sl_status sl_whatif_change(sl_whatif *whatif, const char *edit, const char *selection,
                           double number, const char *name, size_t *n, sl_error *err);
void sl_whatif_undo(sl_whatif *whatif); /* all changes */

/* SL_EINVAL: the changed operations wait for each other; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_predict(sl_whatif *whatif, sl_prediction *prediction, sl_error *err);

/* The program with its changes as a timeline, whose makespan is after_ns: operations, calls and
 * ranges of the host have the times that are predicted. Without changes: before_ns. The caller
 * releases *timeline. Errors as of sl_whatif_predict. */
sl_status sl_whatif_timeline(const sl_whatif *whatif, sl_timeline **timeline, sl_error *err);

/* What single changes would give that can be tried without knowing the program (ideas.c), and pairs
 * of them. Those that gain less than 0.2 % are left out; of very long programs only the first ones
 * are tried. No change may have been made before; afterwards there is none. The same every time.
 * The caller frees it. SL_ENOMEM, SL_EINTERRUPT: there is nothing to free. */
sl_status sl_whatif_rank(sl_whatif *whatif, sl_ranking *ranking, sl_error *err);
void sl_ranking_free(sl_ranking *ranking);

typedef struct sl_edited_line { /* operations or calls of one line that have the same name */
    const char *where, *source; /* "train.py:31 in step", and that line; "" where it is not known */
    const char *name;           /* of the operation or of the call */
    const char *operator_name;  /* the first one's, "" likewise */
    const char *kind;           /* of the operations, as sl_span_kind_name; "call" */
    size_t n;
    uint64_t bytes;           /* of all */
    int64_t time_ns, call_ns; /* on the GPU, and of the host's calls */
} sl_edited_line;

/* Where the recorded program has what a change is about: edit and selection as of
 * sl_whatif_change. Names of the same line stand together. None of an edit that is of the whole
 * program, or where nothing is chosen. Texts are the timeline's. The caller frees *lines.
 * SL_EINVAL: no such edit, or key; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_lines(const sl_whatif *whatif, const char *edit, const char *selection,
                          sl_edited_line **lines, size_t *n, sl_error *err);

typedef struct sl_slope { /* what a little less time of some work gains */
    uint32_t id;          /* text id of what the work belongs to; 0: nothing says that */
    bool is_host;         /* what the host does between and in its calls; id is 0 */
    size_t n;             /* operations, or calls */
    int64_t time_ns;      /* of them, one after the other */
    double gain; /* in parts of the makespan for a part of that time: 0.4 is 0.4 % for 1 % */
} sl_slope;

/* Of the host, and of the operations that take the longest by KERNEL, OPERATOR, MODULE or LINE, of
 * the program with its changes: the largest gain first. The same every time. The caller frees
 * *slopes. SL_EINVAL: the changed operations wait for each other; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl_whatif_slopes(sl_whatif *whatif, sl_by by, sl_slope **slopes, size_t *n,
                           sl_error *err);

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
