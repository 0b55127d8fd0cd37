/* edits.h - changes of a program: a row a kind, its name in scripts and on the command line,
 * what of the program it is about, and which argument it has. Each is a function of edits_*.c. */
#ifndef SL_WHATIF_EDITS_H
#define SL_WHATIF_EDITS_H

#include "program.h"
#include "whatif.h"

#define SL__EDIT_MAP(X)                                                                       \
    /* a faster or slower kernel or copy: its time by a factor */                             \
    X(SCALE, scale, OPERATION, FACTOR)                                                        \
    /* neither called nor run */                                                              \
    X(REMOVE, remove, CALLED, NOTHING)                                                        \
    /* copies from or to pageable memory: as fast as pinned ones */                           \
    X(PIN, pin, PAGEABLE, NOTHING)                                                            \
    /* the host goes on behind the call; the synchronisation right behind goes */             \
    X(NON_BLOCKING, non_blocking, COPY, NOTHING)                                              \
    /* to a stream of its own, by name */                                                     \
    X(MOVE, move, OPERATION, NAME)                                                            \
    X(PRIORITY, priority, OPERATION, PRIORITY)                                                \
    /* the host waits no longer there */                                                      \
    X(DROP_SYNC, drop_sync, SYNC, NOTHING)                                                    \
    /* a stream waits no longer for an event */                                               \
    X(DROP_WAIT, drop_wait, WAIT, NOTHING)                                                    \
    /* copies to the GPU are called that many of them earlier */                              \
    X(PREFETCH, prefetch, UPLOAD, COUNT)                                                      \
    /* neighbours in a stream become one launch */                                            \
    X(FUSE, fuse, OPERATION, NOTHING)                                                         \
    /* neighbours of the same name become one launch, or one copy */                          \
    X(BATCH, batch, OPERATION, NOTHING)                                                       \
    /* launches without a wait between them become one call */                                \
    X(GRAPH, graph, OPERATION, NOTHING)                                                       \
    /* another thread makes these calls, and does what the host did before them */            \
    X(THREADS, threads, CALLED, NOTHING)                                                      \
    /* later work no longer waits for it, before the next phase, step, or wait of the host */ \
    X(ASYNC, async, RESULT, NOTHING)                                                          \
    /* all-reduces of gradients become ones of that many bytes */                             \
    X(BUCKETS, buckets, COLLECTIVE, BYTES)                                                    \
    /* blocks that collectives have, and their bandwidth with that */                         \
    X(CHANNELS, channels, COLLECTIVE, CHANNELS)                                               \
    /* another GPU, by its figures */                                                         \
    X(PROFILE, profile, DEVICE, GPU)                                                          \
    /* all that the host does, by a factor */                                                 \
    X(HOST_SCALE, host_scale, ANY, FACTOR)

typedef enum sl__edit_kind {
#define X(id, name, of, argument) SL__EDIT_##id,
    SL__EDIT_MAP(X)
#undef X
        SL__EDITS
} sl__edit_kind;

/* Of which steps, what a sentence calls one, and whether a selection says which of them: else all
 * are changed. */
#define SL__EDIT_OF_MAP(X)                             \
    X(ANY, "step", false)                              \
    X(OPERATION, "operation", true)                    \
    X(CALLED, "operation or call", true)               \
    X(COPY, "copy", true)                              \
    X(UPLOAD, "copy to the GPU", true)                 \
    X(PAGEABLE, "pageable copy", true)                 \
    X(RESULT, "collective or copy from the GPU", true) \
    X(DEVICE, "operation", false)                      \
    X(COLLECTIVE, "collective", false)                 \
    X(SYNC, "call that waits", true)                   \
    X(WAIT, "wait for an event", true) /* of streams */

typedef enum sl__edit_of {
#define X(id, text, selects) SL__OF_##id,
    SL__EDIT_OF_MAP(X)
#undef X
} sl__edit_of;

/* Its argument: a number from the least to the most, which is whole or not, or a name. CUDA's
 * priorities are from -5 to 0. */
#define SL__EDIT_ARGUMENT_MAP(X)                                    \
    X(NOTHING, "nothing", 0, 0, false)                              \
    X(NAME, "the name of a stream", 0, 0, false)                    \
    X(GPU, "the figures of a GPU", 0, 0, false)                     \
    X(FACTOR, "a factor", 0, 1e6, false)                            \
    X(CHANNELS, "how many blocks a collective has,", 1, 1024, true) \
    X(BYTES, "bytes", 1, 1e15, true)                                \
    X(COUNT, "how many copies,", 1, 1e6, true)                      \
    X(PRIORITY, "a whole number", -100, 100, true)

typedef enum sl__edit_argument {
#define X(id, text, least, most, is_whole) SL__WITH_##id,
    SL__EDIT_ARGUMENT_MAP(X)
#undef X
} sl__edit_argument;

typedef struct sl__edit_row {
    const char *name;
    sl__edit_of of;
    sl__edit_argument argument;
} sl__edit_row;

const sl__edit_row *sl__edit_row_of(sl__edit_kind kind);
bool sl__edit_parse(const char *name, sl__edit_kind *kind);

/* SL_EINVAL: not one that the edit can have, which a sentence says. */
sl_status sl__edit_check_number(sl__edit_kind kind, double number, sl_error *err);
/* What a sentence calls a step that it may change. */
const char *sl__edit_of_text(sl__edit_kind kind);
bool sl__edit_selects(sl__edit_kind kind);

typedef struct sl__edit_value { /* an argument */
    double number;              /* of MOVE that of the stream, from 1 */
    const sl_gpu_ratios *gpu;   /* of PROFILE */
} sl__edit_value;

/* Changes those steps of the kind for which chosen[step] is set, and gives their number. SL_ENOMEM;
 * SL_EINVAL, SL_ENOTFOUND: what the edit needs is not known. */
sl_status sl__edit_apply(sl__program *program, sl__edit_kind kind, const bool *chosen,
                         const sl__edit_value *value, size_t *n, sl_error *err);

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
