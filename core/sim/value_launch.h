/* value_launch.h - launches of custom kernels as values: what they find in memory, and what they
 * leave there once the source, or a function of the program's, has run.
 *
 * A launch sees its memory as regions: parts of buffers, one for all arguments that overlap. It has
 * one output for each region that it writes. It runs when one of them is read, once; what went
 * wrong is kept, and every reader gets the same error.
 */
#ifndef SIM_VALUE_LAUNCH_H
#define SIM_VALUE_LAUNCH_H

#include "../emulate/emulate.h"
#include "values.h"

typedef struct sim_launched_region {
    sim_value *before; /* its bytes; held until the launch has run */
    sl_buffer *buffer; /* borrowed: it is there for as long as an operation holds it */
    size_t offset, bytes;
    bool is_read, is_written;
    uint8_t *after; /* owned, until its output takes it */
} sim_launched_region;

/* Further launches of the same on what it leaves: so often, by the call at `where`. */
typedef struct sim_again {
    const char *where;
    uint64_t times;
} sim_again;

/* Behind its node, with regions and arguments: about 100 bytes, 60 a region and 24 an argument. */
typedef struct sim_launched {
    sl_custom_call *call;
    sl_emulated *emulated; /* the kernel's; NULL: nothing could compile it */
    bool ran;
    sl_status failed;  /* SL_OK, or how it ended */
    char *why;         /* of that; NULL: there was no memory for it */
    const char *where; /* of the run that comes next */
    sim_again *again;  /* of malloc: the runs behind that, from next_again on */
    uint32_t n_again, next_again;
    sl_emulate_arg *arg;
    uint32_t n; /* regions */
    sim_launched_region region[];
} sim_launched;

/* What a whole buffer holds (borrowed). */
typedef sim_value *(*sim_held_fn)(const sl_buffer *buffer);

/* A launch that begins: takes what there is in the regions that it reads. NULL: out of memory. */
sim_value *sim_value_launch(sl_custom_call *call, sl_emulated *emulated, sim_held_fn held);
/* It ends: takes what there is in the others. NULL, with the launch released: out of memory. */
sim_value *sim_value_launch_end(sim_value *launch, sim_held_fn held);

/* A launch that begins: the one whose outputs it finds, if it does once more what that did, which
 * has not run; held, with what is in its regions. NULL: there is none. */
sim_value *sim_value_launch_before(const sl_custom_call *call, sim_held_fn held,
                                   sim_value *found[SL_INPUTS]);
/* It ends: if what it found is there still, and nobody else has it, the one before does it as well,
 * and leaves what it leaves. So a loop over a tensor in place is one node. False: it cannot; */
bool sim_value_launch_again(sim_value *before, sim_value *const found[SL_INPUTS], const char *where,
                            sim_held_fn held);
/* the launch by itself, as sim_value_launch makes it, from what it found. */
sim_value *sim_value_launch_apart(sl_custom_call *call, sl_emulated *emulated,
                                  sim_value *const found[SL_INPUTS]);

uint32_t sim_value_launch_regions(const sim_value *launch);
/* Where region i is, if the launch writes it. To be asked before the operation retires. */
bool sim_value_launch_region(const sim_value *launch, uint32_t i, sl_buffer **buffer,
                             size_t *offset, size_t *bytes);
/* What the launch leaves in region i. Ask once for each. NULL: out of memory. */
sim_value *sim_value_output(sim_value *launch, uint32_t i, size_t bytes);

/* For the nodes' files. A rough count of operations; */
double sim_launched_flops(const sim_launched *launched);
/* whether it runs more than once; */
static inline bool sim_launched_is_repeated(const sim_launched *l)
{
    return l->next_again < l->n_again;
}
/* the next run follows one that went well, with what that left where it was; */
void sim_launched_run_is_over(sim_launched *launched);
/* runs it once on its regions' contents, of malloc: those that it writes it takes. SL_OK also if it
 * went wrong, which its outputs tell. SL_EINTERRUPT, SL_ENOMEM: it can be run again; */
sl_status sim_launched_run(sim_launched *launched, sl_emulate_region *regions, sl_error *err);
/* hands over the bytes of region i of a launch that has run, or why it has none; */
sl_status sim_launched_take(sim_launched *launched, uint32_t i, uint8_t **data, sl_error *err);
/* frees what is its own, but for the values that its regions hold. */
void sim_launched_free(sim_launched *launched);

/* ---- custom_run.c ---- */

/* Changes the regions in place. `emulated` is NULL if nothing could compile the source. SL_EKERNEL,
 * SL_EUNSUPPORTED (the results are unknown): err->msg says why; SL_EINTERRUPT; SL_ENOMEM. */
sl_status sim_custom_run(const sl_custom_call *call, sl_emulated *emulated,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err);

#endif
