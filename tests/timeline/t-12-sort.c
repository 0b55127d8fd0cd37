/* t-12-sort.c - sorting, against an order that is counted: how many elements come before each. */
#include "../tap.h"

#include <string.h>

#include "../../core/timeline/sort.h"

enum { MOST = 300 };

/* xorshift: the same numbers on every machine. */
static uint32_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* Elements of three sizes: one that is copied, one that is no multiple of 8, and one that is sorted
 * by pointers. `was` is where it came from. */
#define ELEMENT(name, ...)                                    \
    typedef struct name {                                     \
        uint16_t key, was;                                    \
        __VA_ARGS__                                           \
    } name;                                                   \
    static name name##_all[MOST + 1];                         \
    static int by_##name(const void *left, const void *right) \
    {                                                         \
        const name *a = left, *b = right;                     \
        return (a->key > b->key) - (a->key < b->key);         \
    }
ELEMENT(small, uint32_t other;)
ELEMENT(odd, char other[7];)
ELEMENT(large, uint16_t other[98];)

static uint16_t keys[MOST];

/* Where the i-th key belongs: of equal ones the first stays the first. */
static size_t rank_of(size_t n, size_t i)
{
    size_t rank = 0;
    for (size_t k = 0; k < n; k++)
        rank += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);
    return rank;
}

#define SORTS(name)                                                       \
    static bool is_sorted_##name(size_t n)                                \
    {                                                                     \
        bool right = true;                                                \
        for (size_t i = 0; i < n; i++)                                    \
            name##_all[i] = (name){ .key = keys[i], .was = (uint16_t)i }; \
        name##_all[n] = (name){ .key = 7, .was = 7 };                     \
        sl__sort(name##_all, n, sizeof *name##_all, by_##name);           \
        for (size_t i = 0; i < n; i++)                                    \
            right &= name##_all[rank_of(n, i)].was == i;                  \
        return right && name##_all[n].key == 7 && name##_all[n].was == 7; \
    }
SORTS(small)
SORTS(odd)
SORTS(large)

static void check(size_t n, const char *what)
{
    ok(is_sorted_small(n) && is_sorted_odd(n) && is_sorted_large(n), "%s: %zu", what, n);
}

static void test_orders(size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint16_t)i;
    check(n, "in order");
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint16_t)(n - i);
    check(n, "in the opposite order");
    for (size_t i = 0; i < n; i++)
        keys[i] = 3;
    check(n, "all equal");
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint16_t)(i % 2 * 1000 + i / 2);
    check(n, "two that take turns");
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint16_t)(i / 10 * 10 + 9 - i % 10);
    check(n, "tens, each in the opposite order");
    for (size_t i = 0; i < n; i++)
        keys[i] = (uint16_t)(n - i / 2);
    check(n, "pairs of equal ones in the opposite order");
}

static void test_random(void)
{
    bool right = true;
    for (int i = 0; i < 200; i++) {
        const size_t n = next_random() % MOST;
        const uint32_t range = 1 + next_random() % 400, turn = 1 + next_random() % 60;
        for (size_t k = 0; k < n; k++)
            keys[k] = (uint16_t)(k % turn ? keys[k - 1] + next_random() % 3
                                          : next_random() % range);
        right &= is_sorted_small(n) && is_sorted_odd(n) && is_sorted_large(n);
    }
    ok(right, "runs of all lengths");
}

/* Each in order, with equal ones also between rows; up to more than are gathered. */
static void test_rows(void)
{
    enum { MOST_ROWS = 24 };
    bool right = true;
    for (int i = 0; i < 200; i++) {
        const size_t n = next_random() % MOST;
        const uint32_t n_rows = 1 + next_random() % MOST_ROWS;
        uint16_t last[MOST_ROWS];
        for (uint32_t row = 0; row < n_rows; row++)
            last[row] = (uint16_t)(next_random() % 1000);
        for (size_t k = 0; k < n; k++)
            keys[k] = last[next_random() % n_rows] += (uint16_t)(next_random() % 3);
        right &= is_sorted_small(n) && is_sorted_odd(n) && is_sorted_large(n);
    }
    ok(right, "rows that take turns as it comes");
}

int main(void)
{
    static const size_t lengths[] = { 0, 1, 2, 3, 17, MOST };
    plan(0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        test_orders(lengths[i]);
    test_random();
    test_rows();
    return done_testing();
}
