/* ideas.c - the table of what is tried, and of which groups. */
#include "ideas.h"

#include <string.h>

#define TENSOR_FACTOR 0.25 /* assumed: of the time of a product in float32 as TF32 */
#define LONG_NS 10000.0    /* of an operation: more than its launch takes */
#define MUCH 4.0           /* times what the GPU does: the host made the data */
#define LITTLE 0.05        /* of the makespan: what a program may also do without */

static bool has_pageable(const sl__group *g) { return g->n_pageable > 0; }
static bool has_to_gpu(const sl__group *g) { return g->n_to_gpu > 0; }
static bool has_from_gpu(const sl__group *g) { return g->n_from_gpu > 0; }
static bool blocks(const sl__group *g) { return g->n_from_gpu > 0 && g->n_blocking > 0; }
static bool is_long(const sl__group *g) { return g->gpu_ns > LONG_NS * (double)g->n; }
static bool has_results(const sl__group *g) { return has_from_gpu(g) && is_long(g); }
static bool has_collectives(const sl__group *g) { return g->n_collectives > 0; }
static bool has_syncs(const sl__group *g) { return g->n_syncs > 0; }
static bool has_waits(const sl__group *g) { return g->n_waits > 0; }
static bool has_kernels(const sl__group *g) { return g->n_kernels > 0; }
static bool has_calls(const sl__group *g) { return g->host_ns > 0; }
static bool has_operations(const sl__group *g) { return g->n > 0; }

/* Two products and a softmax, with what stands between: one kernel, as PyTorch has it. */
static bool is_attention(const sl__group *g)
{
    return g->n_softmax > 0 && g->n_kernels - g->n_light == 2 * g->n_softmax
           && g->n_kernels <= 8 * g->n_softmax;
}

/* Kernels that one kernel could do the work of: behind each other, and light. */
static bool is_fusible(const sl__group *g)
{
    const bool is_light = 10 * g->n_light >= 9 * g->n && g->n_light == g->n_kernels;
    return 2 * g->n_behind > g->n && (is_light || is_attention(g));
}

/* Where the host gives the GPU values, or asks for them, and that costs it more than the GPU. */
static bool asks(const sl__group *g)
{
    return g->n_syncs + g->n_from_gpu + g->n_to_gpu > 0 && g->n > 0 && g->gpu_ns < g->host_ns
           && (g->gpu_part < LITTLE || g->before_ns > MUCH * g->gpu_ns);
}

/* Kernels beside which others have room. One behind a copy to the GPU reads what was copied. */
static bool leaves_room(const sl__group *g)
{
    return 2 * g->n_room > g->n_kernels && g->n_fed == 0 && g->n_collectives == 0;
}

/* The same over and over, as in a loop: copies, or kernels that leave SMs empty and are
 * not rather to be fused. Of a backward
 * pass, whose kernels ran in another thread, each needs the one before. */
static bool is_repeated(const sl__group *g)
{
    return 10 * g->n_again >= 9 * g->n && 2 * g->n_behind > g->n
           && (g->n_kernels == 0
               || (2 * g->n_room > g->n_kernels && 4 * g->n_light <= 3 * g->n_kernels))
           && !strstr(g->selection, "(other thread)");
}

#define NOTHING SL__EDITS

static const sl__idea ideas[] = {
    { SL__EDIT_PIN, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 0, NULL, has_pageable },
    { SL__EDIT_NON_BLOCKING, NOTHING, SL__GROUP_NAME, 0, NULL, has_to_gpu },
    { SL__EDIT_DROP_SYNC, NOTHING, SL__GROUP_LINE, 0, NULL, has_syncs },
    { SL__EDIT_DROP_SYNC, NOTHING, SL__GROUP_CALL, 0, NULL, has_syncs },
    { SL__EDIT_NON_BLOCKING, NOTHING, SL__GROUP_NAME, 0, NULL, blocks },
    { SL__EDIT_DROP_WAIT, NOTHING, SL__GROUP_LINE, 0, NULL, has_waits },
    { SL__EDIT_DROP_WAIT, NOTHING, SL__GROUP_CALL, 0, NULL, has_waits },
    { SL__EDIT_DROP_WAIT, NOTHING, SL__GROUP_STREAM, 0, NULL, has_waits },
    { SL__EDIT_PREFETCH, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 1, NULL, has_to_gpu },
    { SL__EDIT_PREFETCH, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 2, NULL, has_to_gpu },
    { SL__EDIT_ASYNC, NOTHING, SL__GROUP_NAME, 0, NULL, has_collectives },
    { SL__EDIT_BUCKETS, NOTHING, SL__GROUP_ALL, 1 << 20, NULL, has_collectives },
    { SL__EDIT_BUCKETS, NOTHING, SL__GROUP_ALL, 25 << 20, NULL, has_collectives },
    { SL__EDIT_BUCKETS, NOTHING, SL__GROUP_ALL, 64 << 20, NULL, has_collectives },
    { SL__EDIT_CHANNELS, NOTHING, SL__GROUP_ALL, 8, NULL, has_collectives },
    { SL__EDIT_CHANNELS, NOTHING, SL__GROUP_ALL, 16, NULL, has_collectives },
    { SL__EDIT_MOVE, SL__EDIT_NON_BLOCKING, SL__GROUP_NAME, 0, "side", has_results },
    { SL__EDIT_MOVE, NOTHING, SL__GROUP_NAME, 0, "side", leaves_room },
    { SL__EDIT_SCALE, NOTHING, SL__GROUP_FLOAT, TENSOR_FACTOR, NULL, is_long },
    { SL__EDIT_THREADS, NOTHING, SL__GROUP_NAME, 0, NULL, has_to_gpu },
    { SL__EDIT_PRIORITY, NOTHING, SL__GROUP_STREAM, -1, NULL, has_kernels },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_WASTE, 0, NULL, has_operations },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_ALLOCATION, 0, NULL, has_calls },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_LINE, 0, NULL, asks },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_FUNCTION, 0, NULL, asks },
    { SL__EDIT_REMOVE, NOTHING, SL__GROUP_NAME, 0, NULL, asks },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_LINE, 0, NULL, is_fusible },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_FUNCTION, 0, NULL, is_fusible },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_OPERATOR, 0, NULL, is_fusible },
    { SL__EDIT_FUSE, NOTHING, SL__GROUP_PHASE, 0, NULL, is_fusible },
    { SL__EDIT_BATCH, NOTHING, SL__GROUP_NAME, 0, NULL, is_repeated },
    { SL__EDIT_BATCH, NOTHING, SL__GROUP_LINE, 0, NULL, is_repeated },
    { SL__EDIT_GRAPH, NOTHING, SL__GROUP_ALL, 0, NULL, has_kernels },
};

const sl__idea *sl__ideas(size_t *n)
{
    *n = sizeof ideas / sizeof *ideas;
    return ideas;
}
