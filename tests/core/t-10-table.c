/* t-10-table.c - things found by their keys, beside a slow model: an array that is searched. */
#include "fake_backend.h"

#include "../../core/table.h"

enum { THINGS = 500, KEYS = 150, ROUNDS = 20000 };

typedef struct thing {
    sl__entry entry;
    uint64_t key;
    int added; /* when; 0: it is not there */
} thing;

static thing things[THINGS];

static thing *latest(uint64_t key, int before)
{
    thing *found = NULL;
    for (int i = 0; i < THINGS; i++)
        if (things[i].added && things[i].key == key && things[i].added < before
            && (!found || things[i].added > found->added))
            found = &things[i];
    return found;
}

/* All things with that key, the latest first. */
static bool finds(const sl__table *table, uint64_t key)
{
    const sl__entry *entry = sl__table_find(table, key);
    const thing *expected = latest(key, ROUNDS + 1);
    while (entry && (const thing *)entry == expected) {
        expected = latest(key, expected->added);
        entry = sl__table_next(entry);
    }
    return !entry && !expected;
}

static uint32_t drawn(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % n;
}

/* What is given back may be changed, as what is freed is. */
static void count(sl__entry *entry, void *n)
{
    memset(entry, 0xff, sizeof *entry);
    ++*(size_t *)n;
}

static void test_random(void)
{
    sl__table table = { 0 };
    uint32_t state = 1;
    int wrong = 0;
    size_t n = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        thing *t = &things[drawn(&state, THINGS)];
        if (t->added) {
            sl__table_remove(&table, &t->entry);
            t->added = 0;
            n--;
        } else {
            t->key = sl__table_key(&table, drawn(&state, KEYS), 7);
            wrong += !sl__table_add(&table, &t->entry, t->key);
            t->added = round;
            n++;
        }
        wrong += table.n != n
                 || (round % 16 == 0 && !finds(&table, sl__table_key(&table, round % KEYS, 7)));
    }
    is_int(wrong, 0, "in random steps all things with a key are found, the latest first");
    size_t given = 0;
    sl__table_clear(&table, count, &given);
    is_int(given, n, "clearing a table gives back each thing once");
    ok(!sl__table_find(&table, 1), "nothing is found in an empty table");
}

int main(void)
{
    plan(0);
    ok(sl__table_key(NULL, 1, 2) != sl__table_key(NULL, 2, 1),
       "the order of a key's values counts");
    test_random();
    return done_testing();
}
