/* edits.h - changes of a program: a row a kind, its name in scripts and on the command line,
 * what of the program it is about, and which argument it has. Each is a function of edits.c. */
#ifndef SL_WHATIF_EDITS_H
#define SL_WHATIF_EDITS_H

#include "program.h"
#include "whatif.h"

#define SL__EDIT_MAP(X)                                                           \
    /* a faster or slower kernel or copy: its time by a factor */                 \
    X(SCALE, "scale", OPERATION, NUMBER, scale)                                   \
    /* neither called nor run */                                                  \
    X(REMOVE, "remove", OPERATION, NOTHING, take_out)                             \
    /* copies from or to pageable memory: as fast as pinned ones */               \
    X(PIN, "pin", COPY, NOTHING, pin)                                             \
    /* the host goes on behind the call; the synchronisation right behind goes */ \
    X(NON_BLOCKING, "non_blocking", COPY, NOTHING, unblock)                       \
    /* to a stream of its own, by name */                                         \
    X(MOVE, "move", OPERATION, NAME, move)                                        \
    X(PRIORITY, "priority", OPERATION, NUMBER, set_priority)                      \
    /* the host waits no longer there */                                          \
    X(DROP_SYNC, "drop_sync", SYNC, NOTHING, drop_sync)                           \
    /* a stream waits no longer for an event */                                   \
    X(DROP_WAIT, "drop_wait", WAIT, NOTHING, drop_wait)                           \
    /* copies to the GPU are called that many of them earlier */                  \
    X(PREFETCH, "prefetch", COPY, NUMBER, prefetch)                               \
    /* neighbours in a stream become one launch */                                \
    X(FUSE, "fuse", OPERATION, NOTHING, fuse)                                     \
    /* launches without a wait between them become one call */                    \
    X(GRAPH, "graph", OPERATION, NOTHING, graph)                                  \
    /* all that the host does, by a factor */                                     \
    X(HOST_SCALE, "host_scale", ANY, NUMBER, scale_host)

typedef enum sl__edit_kind {
#define X(id, name, of, argument, apply) SL__EDIT_##id,
    SL__EDIT_MAP(X)
#undef X
        SL__EDITS
} sl__edit_kind;

typedef enum sl__edit_of {
    SL__OF_ANY,
    SL__OF_OPERATION,
    SL__OF_COPY,
    SL__OF_SYNC, /* calls that wait */
    SL__OF_WAIT  /* of streams, for events */
} sl__edit_of;

typedef enum sl__edit_argument {
    SL__WITH_NOTHING,
    SL__WITH_NUMBER,
    SL__WITH_NAME
} sl__edit_argument;

typedef struct sl__edit_row {
    const char *name;
    sl__edit_of of;
    sl__edit_argument argument;
} sl__edit_row;

const sl__edit_row *sl__edit_row_of(sl__edit_kind kind);
bool sl__edit_parse(const char *name, sl__edit_kind *kind);

/* Changes those steps of the kind for which chosen[step] is set, and gives their number. number:
 * the argument, or of MOVE the number of the stream, from 1. SL_ENOMEM. */
sl_status sl__edit_apply(sl__program *program, sl__edit_kind kind, const bool *chosen,
                         double number, size_t *n, sl_error *err);

/* Sets chosen[step] of all steps that the selection (sl_whatif_change) names, whatever their kind
 * (selections.c). SL_EINVAL: a key that there is not; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__select(const sl__program *program, const char *selection, bool *chosen,
                     sl_error *err);

/* The programs of an sl_whatif (whatif.c): as recorded, and with its changes. */
const sl__program *sl__whatif_recorded(const sl_whatif *whatif);
sl__program *sl__whatif_changed(sl_whatif *whatif);

/* Whether steps of the kind may be chosen, as far as the row says. */
bool sl__edit_suits(const sl__program *program, sl__edit_kind kind, size_t step);

#endif
