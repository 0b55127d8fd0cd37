/* t-34-graph-nodes.c - sets of a graph's nodes, beside a slow model: a list that is searched. */
#include "fake_backend.h"

#include "../../core/graph/nodes.h"

enum { SETS = 6, NODES = 60, ROUNDS = 20000 };

typedef struct model {
    uint32_t n, at[NODES];
} model;

static bool model_has(const model *m, uint32_t node)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i] == node) return true;
    return false;
}

static void model_join(model *to, const model *more)
{
    const model from = *more;
    for (uint32_t i = 0; i < from.n; i++)
        if (!model_has(to, from.at[i])) to->at[to->n++] = from.at[i];
}

static bool same(const sl__nodes *set, const model *m)
{
    bool same = sl__nodes_count(set) == m->n;
    for (uint32_t i = 0; i < m->n && same; i++)
        same = set->at[i] == m->at[i];
    return same;
}

static bool join(sl__nodes **set, sl__nodes *more)
{
    if (!sl__nodes_reserve(set, more)) return false;
    sl__nodes_join(set, more);
    return true;
}

static bool become(sl__nodes **set, uint32_t node)
{
    sl__nodes *alone = sl__nodes_to_become(*set);
    if (!alone) return false;
    sl__nodes_become(alone, node);
    sl__nodes_release(*set);
    *set = alone;
    return true;
}

static uint32_t drawn(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % n;
}

static void test_random(void)
{
    sl__nodes *set[SETS] = { NULL };
    model m[SETS] = { { 0 } };
    uint32_t state = 1;
    int wrong = 0, failed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t to = drawn(&state, SETS), from = drawn(&state, SETS), node;
        switch (drawn(&state, 8)) {
        case 0: /* work: the node alone */
            node = drawn(&state, NODES);
            failed += !become(&set[to], node);
            m[to] = (model){ 1, { node } };
            break;
        case 1: /* a record: both hold one set */
            sl__nodes_retain(set[from]);
            sl__nodes_release(set[to]);
            set[to] = set[from];
            m[to] = m[from];
            break;
        default: failed += !join(&set[to], set[from]); model_join(&m[to], &m[from]);
        }
        for (int i = 0; i < SETS; i++)
            wrong += !same(set[i], &m[i]);
    }
    for (int i = 0; i < SETS; i++)
        sl__nodes_release(set[i]);
    is_int(failed, 0, "no call fails");
    is_int(wrong, 0, "in random steps each set has the nodes of a searched list, in their order");
}

static void test_sharing(void)
{
    sl__nodes *origin = NULL, *other = NULL, *record;
    become(&origin, 1);
    become(&other, 2);
    record = sl__nodes_retain(origin);
    join(&origin, other);
    is_int(sl__nodes_count(record), 1, "a record keeps its nodes when its stream waits for more");
    is_int(sl__nodes_count(origin), 2, "the stream has both");
    join(&record, other);
    become(&origin, 3);
    is_int(record->at[1], 2, "and when its stream goes on");
    sl__nodes_release(other);
    other = NULL;
    join(&other, origin);
    ok(other == origin, "an empty set that joins another one shares it");
    sl__nodes_release(other);
    sl__nodes_release(origin);
    sl__nodes_release(record);
}

int main(void)
{
    plan(0);
    test_random();
    test_sharing();
    return done_testing();
}
