/* step_groups.h - steps of a program that belong together, and what they have in common: of these
 * an edit can be tried without knowing the program.
 *
 * A group is what one selection chooses (sl_whatif_change): all operations with a name, all that a
 * line or a function of the program called, all of a stream. */
#ifndef SL_WHATIF_STEP_GROUPS_H
#define SL_WHATIF_STEP_GROUPS_H

#include "program.h"

typedef enum sl__grouping {
    SL__GROUP_ALL,        /* operations */
    SL__GROUP_NAME,       /* of operations */
    SL__GROUP_WASTE,      /* names of what only fills, copies or changes a layout */
    SL__GROUP_FLOAT,      /* names of products in float32 without tensor cores */
    SL__GROUP_CALL,       /* names of calls that are no operations */
    SL__GROUP_ALLOCATION, /* those that allocate or free memory */
    SL__GROUP_LINE,
    SL__GROUP_FUNCTION, /* lines "... in NAME" */
    SL__GROUP_OPERATOR,
    SL__GROUP_PHASE, /* of a training: its optimizer */
    SL__GROUP_STREAM,
    SL__GROUPINGS
} sl__grouping;

typedef struct sl__group {
    sl__grouping by;
    char *selection;             /* as sl_whatif_change takes it */
    size_t n;                    /* operations */
    size_t n_kernels;            /* of them */
    size_t n_light;              /* of these that take as long as their memory or launch does */
    size_t n_softmax;            /* likewise: softmax */
    size_t n_room;               /* and that leave SMs empty */
    size_t n_behind;             /* right behind one of the group in their stream */
    size_t n_again;              /* of a name that was there since the last of another group */
    size_t n_fed;                /* and right behind a copy to the GPU */
    size_t n_to_gpu, n_from_gpu; /* copies */
    size_t n_pageable;           /* of these from or to pageable memory */
    size_t n_blocking;           /* and whose calls wait */
    size_t n_collectives;
    size_t n_syncs;         /* calls that wait */
    size_t n_waits;         /* of streams for events */
    double gpu_ns, host_ns; /* of its operations, and of its calls with what led to them */
    double gpu_part;        /* of its operations, of the makespan */
    double before_ns;       /* that the host took before its calls, however long */
} sl__group;

typedef struct sl__groups {
    sl__group *at;
    size_t n, cap;
} sl__groups;

/* Those of a program, in order of their first steps; of very many the first 1024. The same every
 * time. SL_ENOMEM, SL_EINTERRUPT; on failure there is nothing to free. */
sl_status sl__groups_find(const sl__program *program, sl__groups *groups, sl_error *err);
void sl__groups_free(sl__groups *groups);

/* By the words of its name: it reads and writes memory, and computes little; or it computes much:
 * a product, a convolution, attention. Neither: not known. */
bool sl__kernel_moves(const char *name);
bool sl__kernel_computes(const char *name);

#endif
