/* value_node.h - the nodes behind values.h, for the files value*.c. They call downwards:
 *   values.c, value_parts.c,       making values
 *     value_launch.c, value_reduce.c
 *   value_read.c                   reading ranges
 *   value_compute.c                computing nodes
 *   value_launched.c, value_reduced.c  those that are not recipes
 *   value_memory.c, value_cost.c   results that are kept; what computing takes
 *   value_direct.c, value_node.c   bytes that need no computing; nodes
 *
 * A node is a constant (eight bytes, repeated), literal bytes, a recipe (a kernel on other nodes),
 * a splice (a node with a range taken from another), a launch of a custom kernel, or one of its
 * outputs (value_launch.h). Computing turns a node into literal bytes
 * in place, for all who hold it, and releases its inputs. Walks over the graph follow `link` and do
 * not recurse: graphs may be a million nodes deep.
 */
#ifndef SIM_VALUE_NODE_H
#define SIM_VALUE_NODE_H

#include <stdlib.h>

#include "compute.h"
#include "value_launch.h"
#include "value_memory.h"
#include "values.h"

typedef enum sim_value_form {
    VALUE_CONSTANT,
    VALUE_LITERAL,
    VALUE_RECIPE,
    VALUE_SPLICE,
    VALUE_LAUNCH, /* of a custom kernel; it has no bytes of its own */
    VALUE_OUTPUT, /* what a launch leaves in one of its regions */
    VALUE_REDUCED /* of several values of one size, element by element (value_reduce.c) */
} sim_value_form;

enum { SIM_PATTERN = 8 }; /* bytes: as many as an element has at most */

/* What the ranks of a collective give, in their order. */
typedef struct sim_reduced {
    sl_dtype dtype;
    sl_reduction reduction;
    int n;
    sim_value *in[]; /* held */
} sim_reduced;

/* 120 bytes, which is all that an operation whose result is never read keeps. */
struct sim_value {
    int32_t refs;
    uint8_t form;   /* sim_value_form */
    uint8_t marked; /* by pending_cost, while it runs */
    uint8_t sign;   /* whether its digest lies behind it (value_memory.c) */
    uint32_t depth; /* of uncomputed nodes from here down; an upper bound */
    size_t bytes;
    sim_value *link; /* the next node of the walk that this node is on */
    union {
        uint8_t pattern[SIM_PATTERN]; /* VALUE_CONSTANT: byte i is pattern[i % 8] */
        uint8_t *data;                /* VALUE_LITERAL: owned */
        struct {
            sim_value *in[SL_INPUTS]; /* held; NULL where unused */
            sim_job job;
        } recipe;
        struct {
            sim_value *base, *src; /* held */
            size_t dst_offset, src_offset, count;
        } splice;
        struct sim_launched *launch; /* VALUE_LAUNCH: behind the node */
        sim_reduced *reduced;        /* VALUE_REDUCED: owned */
        struct {
            sim_value *launch; /* held */
            uint32_t region;
        } output;
    } as;
};

/* How many splices are searched when another one is made: a buffer may be used in so many parts
 * before shortcuts are missed. */
enum { SIM_VALUE_SHORTCUTS = 256 };

static inline bool sim_value_covers(size_t offset, size_t count, size_t inner_offset,
                                    size_t inner_count)
{
    return inner_offset >= offset && inner_offset - offset <= count
           && inner_count <= count - (inner_offset - offset);
}

/* How many nodes `value` can hold, and the i-th of them, or NULL. */
static inline int sim_value_inputs(const sim_value *value)
{
    if (value->form == VALUE_REDUCED) return value->as.reduced->n;
    return value->form == VALUE_LAUNCH ? (int)value->as.launch->n : SL_INPUTS;
}

static inline sim_value *sim_value_input(const sim_value *value, int i)
{
    switch ((sim_value_form)value->form) {
    case VALUE_RECIPE: return value->as.recipe.in[i];
    case VALUE_SPLICE: return i == 0 ? value->as.splice.base : i == 1 ? value->as.splice.src : NULL;
    case VALUE_LAUNCH: return value->as.launch->region[i].before;
    case VALUE_REDUCED: return value->as.reduced->in[i];
    case VALUE_OUTPUT: return i == 0 ? value->as.output.launch : NULL;
    case VALUE_CONSTANT:
    case VALUE_LITERAL: break;
    }
    return NULL;
}

static inline bool sim_value_is_generator(const sim_value *value)
{
    return value->form == VALUE_RECIPE && sim_job_is_generator(&value->as.recipe.job);
}

/* Whether any range of it can be read without computing the whole. */
static inline bool sim_value_is_direct(const sim_value *value)
{
    return sim_value_is_computed(value) || sim_value_is_generator(value);
}

static inline uint8_t *sim_value_new_data(size_t bytes) { return malloc(bytes > 0 ? bytes : 1); }
/* Of malloc, or what a launch has worked on (sl_emulate_new_memory). */
static inline void sim_value_free_data(uint8_t *data)
{
    if (!sl_emulate_free_memory(data)) free(data);
}

/* Whether each new node has room for its digest behind it: while results are kept. */
extern bool sim_value_has_room;

/* New nodes with one reference; NULL: out of memory. A literal takes `data`, also on failure. */
sim_value *sim_value_new_node(sim_value_form form, size_t bytes);
/* With `more` bytes of the form's own behind it, at sim_value_behind. */
sim_value *sim_value_new_larger(sim_value_form form, size_t more);
void *sim_value_behind(sim_value *value);
sim_value *sim_value_new_constant(size_t bytes, const uint8_t pattern[SIM_PATTERN]);
sim_value *sim_value_new_literal(size_t bytes, uint8_t *data);

/* Of the host; UINT64_MAX: unknown. */
uint64_t sim_physical_bytes(void);

/* value_direct.c: copies bytes of a direct node. False: the user interrupted it. */
bool sim_value_read_direct(const sim_value *value, size_t offset, size_t count, uint8_t *to);

/* value_cost.c: an estimate of the operations that computing it takes; any number above the limit
 * if that is more. */
double sim_value_pending_flops(sim_value *value, double limit_flops);

/* value_reduced.c: computes one whose inputs are direct, into new memory. NULL with *interrupted
 * set: the user interrupted it; else out of memory. */
uint8_t *sim_reduced_compute(const sim_value *value, bool *interrupted);
/* The same for a range of whole elements, as many at most; into `to`. False: interrupted. */
enum { SIM_REDUCED_PIECE = 512 };
bool sim_reduced_piece(const sim_reduced *reduced, size_t offset, size_t bytes, uint8_t *to);

/* value_compute.c: makes `value` a literal (a constant stays one). On failure some inputs may have
 * been computed, but no value has changed. SL_EINTERRUPT: the user interrupted it; it can be
 * started again. */
sl_status sim_value_compute(sim_value *value, sl_error *err);

/* values.c: sets the depth of a new node and computes it if the chain has become too deep. NULL,
 * with the node released, if it must be computed and cannot. */
sim_value *sim_value_bound(sim_value *value);

#endif
