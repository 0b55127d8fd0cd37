/* machine.c - a simulated machine: a host and its GPUs, which share clocks and events. */
#include <stdlib.h>

#include "queue.h"

/* By their index. */
static void link_device(sim_machine *machine, sim_device *dev)
{
    sim_device **at = &machine->devices;
    while (*at && (*at)->base.info.index < dev->base.info.index)
        at = &(*at)->machine_next;
    dev->machine_next = *at;
    *at = dev;
    machine->n_devices++;
}

static sl_status check_free(const sim_machine *machine, int index, sl_error *err)
{
    for (const sim_device *other = machine->devices; other; other = other->machine_next)
        if (other->base.info.index == index)
            return sl_fail(err, SL_ESTATE, "device %d of this simulated machine is open", index);
    return SL_OK;
}

sl_status sim_machine_join(sim_device *dev, sim_device *beside, sl_error *err)
{
    sim_machine *machine = beside ? beside->machine : calloc(1, sizeof *machine);
    if (!machine) return sl__no_memory(err, "a simulated machine");
    sl_status status = check_free(machine, dev->base.info.index, err);
    if (status != SL_OK) return status;
    if (!beside) machine->horizon = SIM_LAST_PS;
    if (!sim_heap_reserve(&machine->heap, 1024)) {
        if (!beside) free(machine);
        return sl__no_memory(err, "a simulated machine");
    }
    dev->machine = machine;
    dev->base.machine = machine;
    link_device(machine, dev);
    return SL_OK;
}

#define FREE_LIST(first)                        \
    for (void *next; (first); (first) = next) { \
        next = (first)->next;                   \
        free(first);                            \
    }

void sim_machine_leave(sim_device *dev)
{
    sim_machine *machine = dev->machine;
    sim_device **at = machine ? &machine->devices : NULL;
    if (!machine) return;
    while (*at != dev)
        at = &(*at)->machine_next;
    *at = dev->machine_next;
    if (--machine->n_devices > 0) return;
    sim_value_free_spare();
    FREE_LIST(machine->free_edges);
    FREE_LIST(machine->free_records);
    FREE_LIST(machine->free_relays);
    free(machine->heap.entry);
    free(machine);
}

/* At most what all of its devices can have in the heap at a time: a wave that is alone has no
 * cohort yet, and may become two (placement.c, share_chip), and both legs of a relay may move. */
static uint32_t most_nodes(const sim_machine *machine)
{
    uint32_t n = 2 + machine->n_relays;
    for (const sim_device *dev = machine->devices; dev; dev = dev->machine_next)
        n += 1 + (uint32_t)dev->unfinished + dev->graph_nodes + dev->chip.live_cohorts;
    return n;
}

bool sim_machine_reserve(sim_machine *machine, size_t more)
{
    return sim_heap_reserve(&machine->heap, most_nodes(machine) + (uint32_t)more);
}

bool sim_machine_reserve_next(sim_machine *machine) { return sim_machine_reserve(machine, 0); }
