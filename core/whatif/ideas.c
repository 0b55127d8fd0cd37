/* ideas.c - the table of what is tried, and of which groups. */
#include "ideas.h"

#define LITTLE 0.05 /* of the makespan: what a program may also do without */

static bool has_pageable(const sl__group *g) { return g->n_pageable > 0; }
static bool has_to_gpu(const sl__group *g) { return g->n_to_gpu > 0; }
static bool has_from_gpu(const sl__group *g) { return g->n_from_gpu > 0; }
static bool has_syncs(const sl__group *g) { return g->n_syncs > 0; }
static bool has_waits(const sl__group *g) { return g->n_waits > 0; }
static bool has_kernels(const sl__group *g) { return g->n_kernels > 0; }
static bool has_allocations(const sl__group *g) { return g->n_allocations > 0; }
static bool has_operations(const sl__group *g) { return g->n > 0; }

/* Kernels that one kernel could do the work of: behind each other, and light. */
static bool is_fusible(const sl__group *g)
{
    return 2 * g->n_behind > g->n && 10 * g->n_light >= 9 * g->n && g->n_light == g->n_kernels;
}

/* Where the host gives the GPU values, or asks for them, and that costs it more than the GPU. */
static bool asks(const sl__group *g)
{
    return g->n_syncs + g->n_from_gpu + g->n_to_gpu > 0 && g->n > 0 && g->gpu_ns < g->host_ns
           && g->gpu_part < LITTLE;
}

/* Kernels beside which others have room. One behind a copy to the GPU reads what was copied. */
static bool leaves_room(const sl__group *g)
{
    return g->n_kernels > 0 && 2 * g->n_room > g->n_kernels && g->n_fed == 0;
}

#define NOTHING SL__EDITS

static const sl__idea ideas[] = {
    { SL__EDIT_PIN, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 0, NULL, has_pageable },
    { SL__EDIT_NON_BLOCKING, NOTHING, SL__GROUP_NAME, 0, NULL, has_to_gpu },
    { SL__EDIT_DROP_SYNC, NOTHING, SL__GROUP_LINE, 0, NULL, has_syncs },
    { SL__EDIT_DROP_SYNC, NOTHING, SL__GROUP_CALL, 0, NULL, has_syncs },
    { SL__EDIT_NON_BLOCKING, NOTHING, SL__GROUP_NAME, 0, NULL, has_from_gpu },
    { SL__EDIT_DROP_WAIT, NOTHING, SL__GROUP_LINE, 0, NULL, has_waits },
    { SL__EDIT_DROP_WAIT, NOTHING, SL__GROUP_CALL, 0, NULL, has_waits },
    { SL__EDIT_PREFETCH, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 1, NULL, has_to_gpu },
    { SL__EDIT_PREFETCH, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 2, NULL, has_to_gpu },
    { SL__EDIT_MOVE, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 0, "side", has_from_gpu },
    { SL__EDIT_MOVE, NOTHING, SL__GROUP_NAME, 0, "side", leaves_room },
    { SL__EDIT_PRIORITY, NOTHING, SL__GROUP_STREAM, -1, NULL, has_kernels },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_FAMILY, 0, NULL, has_operations },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_CALL, 0, NULL, has_allocations },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_LINE, 0, NULL, asks },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_FUNCTION, 0, NULL, asks },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_NAME, 0, NULL, asks },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_LINE, 0, NULL, is_fusible },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_FUNCTION, 0, NULL, is_fusible },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_OPERATOR, 0, NULL, is_fusible },
    { SL__EDIT_GRAPH, NOTHING, SL__GROUP_ALL, 0, NULL, has_kernels },
};

const sl__idea *sl__ideas(size_t *n)
{
    *n = sizeof ideas / sizeof *ideas;
    return ideas;
}
