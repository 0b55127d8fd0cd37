/* engine.c - the discrete-event loop: takes events from the heap and handles them. Completions at
 * one instant come before anything that starts at that instant. */
#include "copies.h"
#include "host.h"
#include "sim_comm.h"
#include "sim_graph.h"

static sim_op *op_of(sim_node *node)
{
    return (sim_op *)((char *)node - offsetof(sim_op, fluid.node));
}

static sim_wave *wave_of(sim_node *node)
{
    return (sim_wave *)((char *)node - offsetof(sim_wave, fluid.node));
}

static sim_meeting *meeting_of(sim_node *node)
{
    return (sim_meeting *)((char *)node - offsetof(sim_meeting, fluid.node));
}

static sim_device *device_of(sim_node *node)
{
    if (node->what == SIM_MEETING_END) return sim_meeting_device(meeting_of(node));
    return sim_device_of(node->what == SIM_WAVE_END ? wave_of(node)->op : op_of(node));
}

static void handle(sim_device *dev, sim_node *node)
{
    switch ((sim_what)node->what) {
    case SIM_WAVE_END: sim_chip_wave_end(dev, wave_of(node)); break;
    case SIM_COPY_END: sim_copies_chunk_end(op_of(node)); break;
    case SIM_KERNEL_END: sim_chip_kernel_end(op_of(node)); break;
    case SIM_MEETING_END: sim_meeting_end(meeting_of(node)); break;
    case SIM_COLLECTIVE_END: sim_chip_end_blocks(op_of(node)); break;
    case SIM_HOST_FUNC_END:
    case SIM_RECORD_END: sim_op_ended(op_of(node), dev->machine->now); break;
    case SIM_READY: sim_ready(op_of(node)); break;
    case SIM_KERNEL_AGAIN: sim_chip_again(op_of(node)); break;
    case SIM_COPY_START: sim_copies_start(op_of(node)); break;
    case SIM_RELAY_START: sim_copies_relay(op_of(node)); break;
    case SIM_HOST_FUNC_START: sim_host_func_start(op_of(node)); break;
    }
}

void sim_settle(sim_device *dev)
{
    if (dev->copies_dirty) sim_copies_dispatch(dev);
    if (dev->chip.dirty || dev->chip.rates_dirty) sim_chip_place(dev);
    if (!dev->chip.rates_dirty) return;
    dev->chip.rates_dirty = false;
    sim_rates_set(dev);
    sim_collectives_set_rates(dev);
}

static void settle_touched(sim_machine *machine)
{
    while (machine->touched) {
        sim_device *dev = machine->touched;
        machine->touched = dev->touched_next;
        dev->touched = false;
        sim_settle(dev);
    }
}

/* Handles all events of this instant, and settles what they have touched. */
static inline void handle_all(sim_machine *machine)
{
    sim_heap *heap = &machine->heap;
    do {
        sim_node *node = sim_heap_pop(heap);
        sim_device *dev = device_of(node);
        sim_settle_too(dev);
        handle(dev, node);
    } while (heap->n && heap->entry[0].at == machine->now);
    settle_touched(machine);
}

/* The same for a machine with one device, as most are. */
static inline void handle_all_of(sim_machine *machine, sim_device *dev)
{
    sim_heap *heap = &machine->heap;
    dev->touched = true; /* so that nothing lists it */
    do
        handle(dev, sim_heap_pop(heap));
    while (heap->n && heap->entry[0].at == machine->now);
    dev->touched = false;
    if (sim_is_unsettled(dev)) sim_settle(dev);
}

/* To the next event. Inline for its many calls by sim_run_until. */
static inline __attribute__((always_inline)) void step(sim_machine *machine)
{
    sim_heap *heap = &machine->heap;
    sim_device *one = machine->n_devices == 1 ? machine->devices : NULL;
    machine->steps++;
    /* A start can cause more events at the same instant: when a kernel is placed, the next one in
     * its channel becomes ready. */
    do {
        sim_device *next = one ? one : device_of(heap->entry[0].node);
        if (next->chip.first) sim_waves_leap(next);
        machine->before = machine->now;
        machine->now = heap->entry[0].at;
        if (one)
            handle_all_of(machine, one);
        else
            handle_all(machine);
    } while (heap->n && heap->entry[0].at == machine->now);
    if (machine->threads) sim_threads_wake(machine);
}

bool sim_step(sim_machine *machine)
{
    if (machine->heap.n == 0) return false;
    step(machine);
    return true;
}

bool sim_stopped(const sim_device *dev, uint32_t *steps)
{
    enum { ASK = 1024 };
    return ++*steps % ASK == 0 && *dev->base.interrupted;
}

bool sim_run_until(sim_machine *machine, sim_ps limit)
{
    uint32_t steps = 0;
    machine->horizon = limit;
    while (machine->heap.n && machine->heap.entry[0].at <= limit && !machine->woken
           && !sim_stopped(machine->devices, &steps))
        step(machine);
    machine->horizon = SIM_LAST_PS;
    if (machine->woken || (machine->heap.n && machine->heap.entry[0].at <= limit)) return false;
    if (machine->now < limit) machine->now = limit;
    return true;
}
