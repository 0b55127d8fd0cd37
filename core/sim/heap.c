/* heap.c - the heap of events by time, work whose rate changes, and first-in-first-out lists of
 * operations. */
#include "sim.h"

#include <stdlib.h>

/* Order at equal times: the kind of event (8 bits), then the order of issue (56 bits). */
static uint64_t node_key(const sim_node *node)
{
    return ((uint64_t)node->what << 56) | (node->seq & 0x00ffffffffffffffu);
}

static inline bool is_before(sim_ps at, uint64_t key, const struct sim_heap_entry *entry)
{
    return at != entry->at ? at < entry->at : key < entry->key;
}

static inline bool is_behind(sim_ps at, uint64_t key, const struct sim_heap_entry *entry)
{
    return at != entry->at ? at > entry->at : key > entry->key;
}

bool sim_heap_grow(sim_heap *heap, uint32_t n)
{
    uint32_t cap = heap->cap ? heap->cap : 64;
    while (cap < n)
        cap *= 2;
    void *grown = realloc(heap->entry, cap * sizeof *heap->entry);
    if (!grown) return false;
    heap->entry = grown;
    heap->cap = cap;
    return true;
}

static inline void heap_put(sim_heap *heap, uint32_t i, sim_ps at, uint64_t key, sim_node *node)
{
    heap->entry[i].at = at;
    heap->entry[i].key = key;
    heap->entry[i].node = node;
    node->slot = i + 1;
}

static inline void heap_copy(sim_heap *heap, uint32_t i, uint32_t from)
{
    const struct sim_heap_entry *entry = &heap->entry[from];
    heap_put(heap, i, entry->at, entry->key, entry->node);
}

/* Puts it at i, or above. What an entry has is passed one by one, which stays in registers. */
static inline void sift_up(sim_heap *heap, uint32_t i, sim_ps at, uint64_t key, sim_node *node)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / 4;
        if (!is_before(at, key, &heap->entry[parent])) break;
        heap_copy(heap, i, parent);
        i = parent;
    }
    heap_put(heap, i, at, key, node);
}

/* Puts it at i, or below. */
static inline void sift_down(sim_heap *heap, uint32_t i, sim_ps at, uint64_t key, sim_node *node)
{
    for (;;) {
        uint32_t first = 4 * i + 1, least = first;
        if (first >= heap->n) break;
        uint32_t end = first + 4 < heap->n ? first + 4 : heap->n;
        for (uint32_t c = first + 1; c < end; c++)
            if (is_before(heap->entry[c].at, heap->entry[c].key, &heap->entry[least])) least = c;
        if (!is_behind(at, key, &heap->entry[least])) break;
        heap_copy(heap, i, least);
        i = least;
    }
    heap_put(heap, i, at, key, node);
}

static __attribute__((noinline)) void move(sim_heap *heap, sim_node *node, uint64_t key)
{
    const uint32_t i = node->slot - 1;
    if (is_before(node->at, key, &heap->entry[i]))
        sift_up(heap, i, node->at, key, node);
    else
        sift_down(heap, i, node->at, key, node);
}

/* Most events are new, and few move: those are apart, since they need more registers. */
void sim_heap_set(sim_heap *heap, sim_node *node, sim_ps at)
{
    const uint64_t key = node_key(node);
    node->at = at;
    if (node->slot)
        move(heap, node, key);
    else
        sift_up(heap, heap->n++, at, key, node);
}

sim_node *sim_heap_pop(sim_heap *heap)
{
    sim_node *first = heap->entry[0].node;
    const struct sim_heap_entry *last = &heap->entry[--heap->n];
    first->slot = 0;
    if (heap->n > 0) sift_down(heap, 0, last->at, last->key, last->node);
    return first;
}

void sim_heap_remove(sim_heap *heap, sim_node *node)
{
    if (!node->slot) return;
    const uint32_t i = node->slot - 1;
    const struct sim_heap_entry *last = &heap->entry[--heap->n];
    node->slot = 0;
    if (i == heap->n) return;
    if (i > 0 && is_before(last->at, last->key, &heap->entry[(i - 1) / 4]))
        sift_up(heap, i, last->at, last->key, last->node);
    else
        sift_down(heap, i, last->at, last->key, last->node);
}

/* ---- work at a changing rate ---- */

void sim_fluid_start(sim_fluid *fluid, sim_ps now, double work_ps)
{
    fluid->left_ps = work_ps;
    fluid->since = now;
    fluid->rate = 0;
}

sim_ps sim_fluid_ps(double work_ps, double rate)
{
    double duration = work_ps > 0 ? work_ps / rate : 0;
    sim_ps whole = sim_whole_ps(duration);
    return whole + (whole < SIM_LAST_PS && duration > (double)whole);
}

void sim_fluid_set_rate(sim_heap *heap, sim_fluid *fluid, sim_ps now, double rate)
{
    if (fluid->rate == rate) return;
    fluid->left_ps -= (double)(now - fluid->since) * fluid->rate;
    fluid->since = now;
    fluid->rate = rate;
    sim_heap_set(heap, &fluid->node, sim_later(now, sim_fluid_ps(fluid->left_ps, rate)));
}

/* ---- lists of operations ---- */

void sim_fifo_push(sim_fifo *fifo, sim_op *op)
{
    op->fifo_next = NULL;
    if (fifo->tail)
        fifo->tail->fifo_next = op;
    else
        fifo->head = op;
    fifo->tail = op;
}

sim_op *sim_fifo_pop(sim_fifo *fifo)
{
    sim_op *op = fifo->head;
    if (op) {
        fifo->head = op->fifo_next;
        if (!fifo->head) fifo->tail = NULL;
    }
    return op;
}
