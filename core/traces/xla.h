/* xla.h - what is known so far of a trace of XLA's profiler, which JAX and TensorFlow use.
 *
 * A file of its own has no categories: what an event is depends on its row, and rows are named by
 * metadata before all other events. xla_read.c says which rows count.
 */
#ifndef SL_TRACES_XLA_H
#define SL_TRACES_XLA_H

#include "../text/text.h"
#include "../timeline/timeline.h"

struct sl__reader;

typedef struct sl__xla_row { /* tid -1: of a process */
    int64_t pid, tid;
    int64_t device; /* a GPU's index; -1: the host */
} sl__xla_row;

/* What an operation was for, by the correlation of its launch. */
typedef struct sl__xla_use {
    uint64_t correlation;
    uint32_t operator, module; /* text ids */
    bool is_backward;
} sl__xla_use;

/* A range of the host, until it is known what it lies in. */
typedef struct sl__xla_frame {
    sl_host_range range; /* without thread */
    int64_t pid, tid;
    uint64_t number; /* of its event */
    bool is_xlas;    /* XLA marks it itself, */
    bool is_jaxs;    /* or it is a function that JAX is entered by: so is all that lies in it */
} sl__xla_frame;

typedef struct sl__xla { /* all zero: nothing */
    sl__xla_row *rows;   /* processes, and streams of GPUs */
    size_t n_rows, cap_rows;
    size_t last;       /* row found last */
    uint64_t n_events; /* of its rows */
    sl__xla_use *uses;
    size_t n_uses, cap_uses;
    sl__xla_frame *frames;
    size_t n_frames, cap_frames;
} sl__xla;

/* These look at reader->event, and return its status. Metadata: notes the row. */
sl_status sl__xla_note(struct sl__reader *r);
/* Whether the event is on a row of XLA's, and adds what it is. */
bool sl__xla_has(struct sl__reader *r);
sl_status sl__xla_take(struct sl__reader *r);
/* Behind the last event: operators and modules become ranges around the calls that launched their
 * operations. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__xla_end(struct sl__reader *r, sl_error *err);
void sl__xla_free(sl__xla *xla);

/* ---- xla_scope.c ---- */

/* The module that an operation of JAX or TensorFlow is part of, by its name, into *module:
 * "jit(step)/transpose(jvp(Net))/Dense_0/dot_general" is part of "Net/Dense_0", and *is_backward.
 * Nothing is added where the name has no scopes. */
void sl__xla_scope(const char *name, sl_text *module, bool *is_backward);

/* ---- xla_frames.c ---- */

/* Adds a range whose name is reader->text; step: its number, or -1. Returns the event's status. */
sl_status sl__xla_frame_take(struct sl__reader *r, sl__xla_frame *frame, int64_t step);
/* Behind the last event: frames become ranges of the timeline. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__xla_frames_end(struct sl__reader *r, sl_error *err);

#endif
