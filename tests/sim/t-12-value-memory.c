/* Results that are kept for runs that compute the same again: what is the same, and what is not.
 * sim_memory_recall tells whether a result is known without computing it. */
#include "../../core/sim/value_node.h"

#include <stdlib.h>
#include <string.h>

#include "../tap.h"

enum { N = 64 }; /* a product of 64 x 64 takes longer than a copy of its result */
enum { BYTES = N * N * 4 };

static sl_work product(void)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = SL_KERNEL_MATMUL,
                      .dtype = SL_FLOAT32,
                      .m = N,
                      .n = N,
                      .k = N,
                      .outer = 1 };
}

static sl_work scaled(double by)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = SL_KERNEL_MUL_SCALAR,
                      .dtype = SL_FLOAT32,
                      .m = 1,
                      .n = N * N,
                      .k = 1,
                      .scalar = by };
}

/* What the host writes: all elements are `x`, but that the last one is `last`. */
static sim_value *written(float x, float last)
{
    float *data = malloc(BYTES);
    for (int i = 0; i < N * N; i++)
        data[i] = x;
    data[N * N - 1] = last;
    sim_value *value = sim_value_write(sim_value_bytes_set(BYTES, 0), 0, BYTES, data, NULL);
    free(data);
    return value;
}

static sim_value *applied(const sl_work *work, sim_value *a, sim_value *b)
{
    return sim_value_apply(work, BYTES, SIM_VALUES(a, b), NULL);
}

/* (a x a) by, of a new `a`. */
static sim_value *chain(float x, float last, double by)
{
    const sl_work first = product(), second = scaled(by);
    sim_value *a = written(x, last), *b = applied(&first, a, a), *c = applied(&second, b, NULL);
    sim_value_release(a);
    sim_value_release(b);
    return c;
}

static float first_of(sim_value *value)
{
    float x = NAN;
    return sim_value_read(value, 0, 4, &x, NULL) == SL_OK ? x : NAN;
}

static bool is_known(const sim_value *value)
{
    uint8_t *data = sim_memory_recall(value);
    free(data);
    return data != NULL;
}

/* Whether such a chain is known. */
static bool knows(float x, float last, double by)
{
    sim_value *value = chain(x, last, by);
    const bool known = is_known(value);
    sim_value_release(value);
    return known;
}

static void the_same_is_known_again(void)
{
    ok(!knows(1, 1, 2), "nothing is known at first");
    sim_value *value = chain(1, 1, 2);
    is_double(first_of(value), 2 * N, 0, "a chain is computed");
    sim_value_release(value);
    ok(knows(1, 1, 2),
       "the same chain on the same bytes is known again, though no node of it is left");
    value = chain(1, 1, 2);
    is_double(first_of(value), 2 * N, 0, "and has the same result");
    ok(sim_value_is_computed(value), "which it keeps");
    sim_value_release(value);
    ok(!knows(1, 1, 3), "another factor is another chain");
    ok(!knows(1, 2, 2), "so is one on bytes of which the last differs");
}

static void what_is_computed_from_a_result_has_its_digest(void)
{
    const sl_work work = product();
    sim_value *a = chain(1, 1, 2), *b = applied(&work, a, a);
    is_double(first_of(a), 2 * N, 0, "an input that is known");
    is_double(first_of(b), 4.0 * N * N * N, 0, "and a product of it, computed");
    sim_value *lazy = chain(1, 1, 2), *again = applied(&work, lazy, lazy);
    ok(is_known(again), "is known also before its inputs have been asked for");
    sim_value_release(again);
    sim_value_release(lazy);
    sim_value_release(a);
    sim_value_release(b);
}

static void what_the_host_writes_later_counts(void)
{
    const sl_work work = product();
    const float other = 5;
    sim_value *a = written(3, 3), *b = applied(&work, a, a);
    is_double(first_of(b), 9.0 * N, 0, "a product of bytes of the host");
    sim_value_release(b);
    a = sim_value_write(a, 0, 4, &other, NULL);
    b = applied(&work, a, a);
    ok(!is_known(b), "is another one once the host has written into them");
    is_double(first_of(b), 25 + 9 * (N - 1), 0, "and is computed from the new ones");
    sim_value_release(b);
    sim_value_release(a);
}

static void how_often_counts(void)
{
    const sl_work work = scaled(2);
    for (int times = 1; times <= 3; times++) {
        sim_value *a = chain(1, 1, 1);
        for (int i = 0; i < times; i++) {
            sim_value *next = sim_value_apply(&work, BYTES, SIM_VALUES(sim_value_retain(a)), a);
            sim_value_release(a);
            sim_value_release(a);
            a = next;
        }
        is_double(first_of(a), N * (1 << times), 0, "a kernel in place, %d times", times);
        sim_value_release(a);
    }
}

static void copies_are_not_kept(void)
{
    const sl_work work = scaled(7);
    sim_value *a = written(1, 1), *b = applied(&work, a, NULL);
    is_double(first_of(b), 7, 0, "one kernel on each element");
    sim_value_release(b);
    b = applied(&work, a, NULL);
    ok(!is_known(b), "is computed again, which is as fast as copying what it gave");
    sim_value_release(b);
    sim_value_release(a);
}

static void forgetting(void)
{
    sim_value *before = chain(1, 1, 2);
    sim_memory_keep(false);
    ok(!is_known(before), "after the end nothing is known");
    is_double(first_of(before), 2 * N, 0, "and values are computed as ever");
    sim_value_release(before);
    sim_value *without = chain(1, 1, 2);
    sim_memory_keep(true);
    ok(!is_known(without), "a node of a time when nothing was kept has no digest,");
    const sl_work work = product();
    sim_value *product_of = applied(&work, without, without);
    is_double(first_of(product_of), 4.0 * N * N * N, 0, "what is computed from it is computed");
    sim_value_release(product_of);
    sim_value_release(without);
    sim_memory_keep(false);
}

int main(void)
{
    plan(0);
    sim_memory_keep(true);
    the_same_is_known_again();
    what_is_computed_from_a_result_has_its_digest();
    what_the_host_writes_later_counts();
    how_often_counts();
    copies_are_not_kept();
    forgetting();
    return done_testing();
}
