/* The event heap against sorting: random insertions, moves and removals. */
#include "../../core/sim/sim.h"

#include <stdlib.h>

#include "../tap.h"

enum { NODES = 500, STEPS = 20000 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool before(const sim_node *a, const sim_node *b)
{
    if (a->at != b->at) return a->at < b->at;
    return a->what != b->what ? a->what < b->what : a->seq < b->seq;
}

/* The least waiting node, by looking at all. */
static sim_node *least_of(sim_node *node)
{
    sim_node *least = NULL;
    for (int i = 0; i < NODES; i++)
        if (node[i].slot && (!least || before(&node[i], least))) least = &node[i];
    return least;
}

int main(void)
{
    plan(4);
    sim_heap heap = { 0 };
    static sim_node node[NODES];
    uint32_t random = 42;
    int wrong = 0, moved = 0;

    ok(sim_heap_reserve(&heap, NODES), "the heap takes a reservation");
    for (int i = 0; i < NODES; i++) {
        node[i].seq = (uint64_t)i;
        node[i].what = (uint8_t)(next_random(&random) % 7);
    }
    for (int step = 0; step < STEPS; step++) {
        sim_node *one = &node[next_random(&random) % NODES];
        if (next_random(&random) % 3 == 0) {
            sim_heap_remove(&heap, one);
        } else {
            moved += one->slot != 0;
            sim_heap_set(&heap, one, (sim_ps)(next_random(&random) % 100));
        }
        sim_node *least = least_of(node);
        wrong += (heap.n ? heap.entry[0].node : NULL) != least;
    }
    is_int(wrong, 0, "its first entry is the least one after each of %d random steps", STEPS);
    ok(moved > 1000, "entries that were already in it moved");
    while (heap.n)
        sim_heap_remove(&heap, heap.entry[0].node);
    is_int(least_of(node) == NULL, 1, "an emptied heap leaves no node that believes it is in it");
    free(heap.entry);
    return done_testing();
}
