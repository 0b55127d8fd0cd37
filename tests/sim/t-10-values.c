/* Values on demand: laziness, merging, chains as deep as scripts can make them,
 * huge tensors, and who owns what. The kernels have t-11-kernel-values.c. */
#include "../../core/sim/value_node.h"

#include <stdlib.h>
#include <string.h>

#include "../tap.h"

/* ---- helpers -------------------------------------------------------------------- */

static sl_work kernel(sl_kernel which, int64_t n, double scalar)
{
    return (sl_work){ .kind = SL_WORK_KERNEL,
                      .kernel = (uint8_t)which,
                      .dtype = SL_FLOAT32,
                      .m = 1,
                      .n = n,
                      .k = 1,
                      .scalar = scalar,
                      .seed = 1,
                      .sequence = 2 };
}

/* A value with these bytes. */
static sim_value *of_floats(const float *x, size_t n)
{
    return sim_value_write(sim_value_bytes_set(4 * n, 0), 0, 4 * n, x, NULL);
}

static float at(sim_value *value, size_t i)
{
    float x = NAN;
    return sim_value_read(value, 4 * i, 4, &x, NULL) == SL_OK ? x : NAN;
}

/* What the engine does with a kernel: captures its inputs, applies the work and
 * puts the result into the output buffer in place of what that held. */
static bool run(const sl_work *work, sim_value **out, sim_value *in0, sim_value *in1)
{
    const size_t bytes = (*out)->bytes;
    sim_value_retain(in0);
    sim_value_retain(in1);
    sim_value *value = sim_value_apply(work, bytes, SIM_VALUES(in0, in1), *out);
    if (value) {
        sim_value_release(*out);
        *out = value;
    }
    sim_value_release(in0);
    sim_value_release(in1);
    return value != NULL;
}

/* ---- laziness, merging ------------------------------------------------------------ */

static void values_are_computed_on_demand(void)
{
    const float x[4] = { 1, 2, 3, 4 }, y[4] = { 10, 20, 30, 40 };
    sim_value *a = of_floats(x, 4), *b = of_floats(y, 4), *c = sim_value_bytes_set(16, 0);
    const sl_work add = kernel(SL_KERNEL_ADD, 4, 0);
    run(&add, &c, a, b);
    ok(!sim_value_is_computed(c), "a kernel computes nothing");
    is_double(at(c, 2), 33, 0, "reading computes");
    ok(sim_value_is_computed(c), "and keeps the bytes");
    sim_value *captured = sim_value_retain(c);
    run(&add, &c, c, a);
    run(&add, &c, c, c);
    sim_value_release(a);
    is_double(at(c, 0), 24, 0, "in place, twice, after an input was let go");
    is_double(at(captured, 0), 11, 0, "who captured the old value still has it");
    float z[5];
    sl_error err = { 0 };
    is_int(sim_value_read(c, 4, 16, z, &err), SL_EINVAL, "reading past the end is refused");
    is_str(err.msg, "cannot read 16 bytes at 4 of 16", "with the numbers");
    is_int(sim_value_read(c, 16, 0, z, &err), SL_OK, "nothing can be read at the end");
    sim_value_release(captured);
    sim_value_release(b);
    sim_value_release(c);
    sim_value_release(NULL);
}

static void memory_is_taken_over_only_from_the_dead(void)
{
    const float x[2] = { 3, 5 };
    const sl_work square = kernel(SL_KERNEL_POW, 2, 2), mul = kernel(SL_KERNEL_MUL, 2, 0);
    sim_value *a = of_floats(x, 2), *b = sim_value_bytes_set(8, 0);
    run(&square, &b, a, NULL);
    is_double(at(b, 1), 25, 0, "an input that somebody holds is read,");
    is_double(at(a, 1), 5, 0, "not overwritten");
    run(&mul, &a, a, a);
    is_double(at(a, 0), 9, 0, "both inputs the same value, held by nobody else");
    run(&mul, &a, b, a);
    sim_value_release(b);
    is_double(at(a, 0), 81, 0, "both inputs different");
    is_double(at(a, 1), 625, 0, "element by element");
    sim_value_release(a);
}

static void the_same_kernel_over_and_over_is_one_recipe(void)
{
    const float x[3] = { 1.5f, 1, 0.5f }, step[3] = { 1, 2, 3 };
    const sl_work add = kernel(SL_KERNEL_ADD, 3, 0), mul = kernel(SL_KERNEL_MUL, 3, 0);
    sim_value *a = of_floats(x, 3), *b = of_floats(step, 3);
    for (int i = 0; i < 10; i++)
        run(&add, &a, a, b);
    is_int(a->depth, 1, "a += b ten times is one node");
    run(&add, &a, b, a);
    is_int(a->depth, 2, "a = b + a is another one");
    is_double(at(a, 0), 12.5, 0, "eleven times in all");
    is_double(at(a, 2), 33.5, 0, "for each element");
    run(&add, &a, b, b);
    for (int i = 0; i < 9; i++)
        run(&add, &a, a, b);
    is_int(a->depth, 1, "a = b + b and a += b nine times are one node, which b stays an input of");
    is_double(at(a, 1), 22, 0, "eleven times, too");
    is_double(at(b, 1), 2, 0, "and b is as it was");
    sim_value_release(a);
    a = of_floats(x, 3);
    run(&add, &a, a, b);
    run(&add, &a, a, a);
    is_int(a->depth, 2, "what is added to itself is no repetition");
    is_double(at(a, 2), 7, 0, "and is doubled");
    sim_value_release(a);
    a = of_floats(x, 3);
    run(&add, &a, a, b);

    sim_value *captured = sim_value_retain(a);
    run(&add, &a, a, b);
    is_int(a->depth, 2, "what somebody captured is not computed twice");
    is_double(at(captured, 0), 2.5, 0, "it is as it was");
    is_double(at(a, 0), 3.5, 0, "the new one goes on from there");
    sim_value_release(captured);

    for (int i = 0; i < 1000000; i++)
        run(&mul, &a, a, a);
    ok(isinf(at(a, 0)) && isinf(at(a, 1)) && isinf(at(a, 2)), "a million times a = a a");
    sim_value_release(a);
    sim_value_release(b);
}

/* A million elements a million times over would take a quarter of an hour. */
static void what_two_rounds_do_not_change_is_not_computed_on(void)
{
    enum { N = 1 << 20 };
    const sl_work square = kernel(SL_KERNEL_POW, N, 2), negate = kernel(SL_KERNEL_NEG, N, 0);
    const sl_work from_one = kernel(SL_KERNEL_RSUB_SCALAR, N, 1),
                  noise = kernel(SL_KERNEL_RAND, N, 0);
    const sl_work *works[] = { &square, &negate, &from_one };
    for (int rounds = 1000000; rounds < 1000002; rounds++) {
        sim_value *was = sim_value_apply(&noise, 4 * N, SIM_VALUES(NULL), NULL), *a[3];
        const double x = at(was, N - 1),
                     want[3] = { 0, rounds % 2 ? -x : x, rounds % 2 ? 1 - x : x };
        for (int k = 0; k < 3; k++) {
            a[k] = sim_value_retain(was);
            for (int i = 0; i < rounds; i++)
                run(works[k], &a[k], a[k], NULL);
            is_double(at(a[k], N - 1), want[k], 1e-7, "%d rounds of %s on a million elements",
                      rounds, sl_kernel_row_of((sl_kernel)works[k]->kernel)->name);
            sim_value_release(a[k]);
        }
        sim_value_release(was);
    }
}

/* ---- deep chains ------------------------------------------------------------------ */

/* Two buffers in turn: nothing merges. */
static void ping_pong(int rounds, size_t n, bool looks)
{
    const sl_work step = kernel(SL_KERNEL_ADD_SCALAR, (int64_t)n, 1);
    sim_value *noise = sim_value_apply(&(sl_work){ .kernel = SL_KERNEL_RAND, .n = (int64_t)n },
                                       4 * n, SIM_VALUES(NULL), NULL);
    sim_value *a = sim_value_retain(noise), *b = sim_value_bytes_set(4 * n, 0);
    for (int i = 0; i < rounds / 2; i++) {
        run(&step, &b, a, NULL);
        run(&step, &a, b, NULL);
    }
    if (looks)
        is_double(at(a, n - 1), at(noise, n - 1) + (double)rounds, 1,
                  "%d steps between two buffers of %zu elements", rounds, n);
    sim_value_release(a);
    sim_value_release(b);
    sim_value_release(noise);
}

/* Both inputs hang on the whole past: 2^n paths, n nodes. */
static void fibonacci(void)
{
    const sl_work add = kernel(SL_KERNEL_ADD, 1, 0);
    const float one = 1;
    sim_value *a = of_floats(&one, 1), *b = of_floats(&one, 1);
    for (int i = 0; i < 15; i++) {
        run(&add, &a, a, b);
        run(&add, &b, a, b);
    }
    is_double(at(b, 0), 2178309, 0, "the 32nd Fibonacci number");
    for (int i = 0; i < 50000; i++) {
        run(&add, &a, a, b);
        run(&add, &b, a, b);
    }
    ok(isinf(at(b, 0)), "and far beyond");
    sim_value_release(a);
    sim_value_release(b);
}

/* Dear to compute, so never computed early: the nodes must be freed in a row. */
static void dear_chains_stay_lazy(void)
{
    enum { N = 1 << 20, ROUNDS = 100000 };
    const sl_work step = kernel(SL_KERNEL_POW, N, 1.5);
    const sl_work noise = { .kernel = SL_KERNEL_RAND, .n = N };
    sim_value *a = sim_value_apply(&noise, 4 * N, SIM_VALUES(NULL), NULL);
    sim_value *b = sim_value_bytes_set(4 * N, 0);
    for (int i = 0; i < ROUNDS; i++) {
        run(&step, &b, a, NULL);
        run(&step, &a, b, NULL);
    }
    ok(!sim_value_is_computed(a), "a chain that is dear to compute is not computed unasked");
    sim_value_release(a);
    sim_value_release(b);
    ok(true, "and freed without recursion");
}

static sl_work of_doubles(sl_work work)
{
    work.dtype = SL_FLOAT64;
    return work;
}

/* A million nodes on one number, none computed before the last is read, since at their begin is the
 * sum of two products, which counts as dear. */
static void a_deep_chain_is_read_at_its_end(void)
{
    enum { N = 512, ROUNDS = 500000 };
    sl_work product = of_doubles(kernel(SL_KERNEL_MATMUL, N, 0));
    product.m = product.k = N;
    product.outer = 2;
    const sl_work fill = of_doubles(kernel(SL_KERNEL_FILL, 2 * N * N, 1));
    const sl_work sum = of_doubles(kernel(SL_KERNEL_SUM, 2 * N * N, 0));
    const sl_work add = of_doubles(kernel(SL_KERNEL_ADD_SCALAR, 1, 3));
    const sl_work sub = of_doubles(kernel(SL_KERNEL_SUB_SCALAR, 1, 2));
    sim_value *ones = sim_value_bytes_set(2 * N * N * 8, 0), *a = sim_value_bytes_set(8, 0);
    run(&fill, &ones, NULL, NULL);
    run(&product, &ones, ones, ones);
    run(&sum, &a, ones, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        run(&add, &a, a, NULL);
        run(&sub, &a, a, NULL);
    }
    is_int(a->depth, 2 + 2 * ROUNDS, "a million operations in place, of which none is computed");
    double x = 0;
    sim_value_read(a, 0, sizeof x, &x, NULL);
    is_double(x, 2.0 * N * N * N + ROUNDS, 0, "are computed when the last is read");
    sim_value_release(ones);
    sim_value_release(a);
}

/* ---- splices and writes ------------------------------------------------------------ */

/* Random splices, memsets, writes and reads against plain memory. */
static void splices_are_what_memory_would_hold(void)
{
    enum { BUFFERS = 4, BYTES = 97, ROUNDS = 30000 };
    uint8_t memory[BUFFERS][BYTES], got[BYTES];
    sim_value *value[BUFFERS];
    uint32_t state = 1;
    bool same = true;
#define RANDOM(n) ((size_t)((state = state * 1664525u + 1013904223u) >> 16) % (n))
    for (size_t i = 0; i < BUFFERS; i++) {
        memset(memory[i], (int)i, BYTES);
        value[i] = sim_value_bytes_set(BYTES, (uint8_t)i);
    }
    for (int round = 0; round < ROUNDS; round++) {
        const size_t to = RANDOM(BUFFERS), from = RANDOM(BUFFERS), n = RANDOM(BYTES + 1);
        const size_t dst = RANDOM(BYTES + 1 - n), src = RANDOM(BYTES + 1 - n);
        sim_value *next = NULL;
        switch (RANDOM(8)) {
        case 0:
            next = sim_value_memset(value[to], 0, n, (uint8_t)round);
            memset(memory[to], (uint8_t)round, n);
            break;
        case 1:
            for (size_t i = 0; i < n; i++)
                memory[to][dst + i] = (uint8_t)RANDOM(256);
            value[to] = sim_value_write(value[to], dst, n, memory[to] + dst, NULL);
            continue;
        case 2:
            if (sim_value_read(value[from], src, n, got, NULL) != SL_OK
                || memcmp(got, memory[from] + src, n) != 0)
                same = false;
            continue;
        default:
            next = sim_value_splice(value[to], dst, value[from], src, n);
            memmove(memory[to] + dst, memory[from] + src, n);
        }
        sim_value_release(value[to]);
        value[to] = next;
    }
#undef RANDOM
    for (size_t i = 0; i < BUFFERS; i++) {
        same = same && sim_value_read(value[i], 0, BYTES, got, NULL) == SL_OK
               && memcmp(got, memory[i], BYTES) == 0;
        sim_value_release(value[i]);
    }
    ok(same, "%d random splices, memsets, writes and reads agree with plain memory", ROUNDS);
}

static void whole_copies_share(void)
{
    const float x[2] = { 1, 2 };
    sim_value *a = of_floats(x, 2), *b = sim_value_bytes_set(8, 0);
    sim_value *copy = sim_value_splice(b, 0, a, 0, 8);
    ok(copy == a, "a copy of the whole is the same value");
    const float y = 7;
    sim_value *written = sim_value_write(copy, 4, 4, &y, NULL);
    ok(written != a, "a write to a shared value makes a new one");
    is_double(at(a, 1), 2, 0, "the shared one stays");
    is_double(at(written, 1), 7, 0, "the new one has the data");
    is_double(at(written, 0), 1, 0, "and the rest");
    sim_value *again = sim_value_write(written, 0, 4, &y, NULL);
    ok(again == written, "a write to a value that nobody else holds reuses it");
    sim_value *none = sim_value_splice(a, 0, b, 0, 0);
    ok(none == a, "a copy of nothing is the base");
    sim_value_release(none);
    sim_value_release(again);
    sim_value_release(a);
    sim_value_release(b);
}

static void elements_can_be_set_one_by_one(void)
{
    enum { N = 1 << 20 }; /* too large to be copied at each write */
    sim_value *a = sim_value_bytes_set(4 * N, 0);
    for (size_t i = 0; i < N; i++) {
        const float x = (float)i;
        a = sim_value_write(a, 4 * i, 4, &x, NULL);
    }
    bool same = true;
    for (size_t i = 0; i < N; i += 1001)
        same = same && at(a, i) == (float)i;
    ok(same, "%d elements written one by one", N);
    sim_value_release(a);
}

/* ---- huge tensors ------------------------------------------------------------------ */

static const size_t huge = (size_t)4 << 40;

static void constants_cost_nothing(void)
{
    const int64_t n = (int64_t)(huge / 4);
    sim_value *a = sim_value_bytes_set(huge, 0);
    is_double(at(a, huge / 4 - 1), 0, 0, "the last element of 4 TB of zeros");
    const sl_work fill = kernel(SL_KERNEL_FILL, n, 3), square = kernel(SL_KERNEL_POW, n, 2);
    const sl_work add = kernel(SL_KERNEL_ADD, n, 0);
    run(&fill, &a, NULL, NULL);
    run(&square, &a, a, NULL);
    run(&add, &a, a, a);
    is_double(at(a, 12345678901), 18, 0, "elementwise kernels keep a constant one");
    uint8_t bytes[9];
    is_int(sim_value_read(a, 4 * 77 + 3, 9, bytes, NULL), SL_OK, "bytes at an odd offset");
    ok(bytes[0] == 0x41 && bytes[2] == 0 && bytes[3] == 0x90 && bytes[4] == 0x41,
       "are in the right order");
    sim_value_release(a);
}

/* float64 takes up the whole pattern of a constant. */
static void constants_have_eight_bytes(void)
{
    const double third = 1.0 / 3;
    sl_work fill = kernel(SL_KERNEL_FILL, 1000, third), add = kernel(SL_KERNEL_ADD, 1000, 0);
    fill.dtype = add.dtype = SL_FLOAT64;
    sim_value *a = sim_value_bytes_set(8000, 0), *b = sim_value_bytes_set(8000, 0);
    double got[3] = { 0 };
    run(&fill, &a, NULL, NULL);
    run(&add, &b, a, a);
    ok(sim_value_is_computed(b), "kernels on constants give constants");
    sim_value_read(b, 7976, 24, got, NULL);
    ok(got[0] == 2 * third && got[2] == 2 * third, "of float64, too");
    sim_value *c = sim_value_splice(a, 12, b, 4, 24);
    sim_value_read(c, 8, 24, got, NULL);
    unsigned char want[24];
    for (int i = 0; i < 3; i++)
        memcpy(want + 8 * i, &third, 8);
    const double twice = 2 * third;
    memcpy(want + 4, (const char *)&twice + 4, 4); /* the splice begins inside an element */
    memcpy(want + 8, &twice, 8);
    memcpy(want + 16, &twice, 8);
    ok(memcmp(got, want, sizeof want) == 0, "a part that begins inside an element keeps its bytes");
    sim_value_release(a);
    sim_value_release(b);
    sim_value_release(c);
}

static void random_numbers_are_read_in_place(void)
{
    const sl_work rand = kernel(SL_KERNEL_RANDN, (int64_t)(huge / 4), 0);
    const sl_work small = kernel(SL_KERNEL_RANDN, 100, 0);
    sim_value *a = sim_value_apply(&rand, huge, SIM_VALUES(NULL), NULL);
    sim_value *b = sim_value_apply(&small, 400, SIM_VALUES(NULL), NULL);
    uint8_t part[100], whole[400];
    is_int(sim_value_read(a, 37, 100, part, NULL), SL_OK, "4 TB of random numbers, a part");
    is_int(sim_value_read(b, 0, 400, whole, NULL), SL_OK, "a small tensor, the whole");
    ok(memcmp(part, whole + 37, 100) == 0, "have the same bytes");
    ok(at(a, huge / 4 - 1) != at(a, huge / 4 - 2), "the last elements are there");
    sl_error err = { 0 };
    const sl_work square = kernel(SL_KERNEL_POW, (int64_t)(huge / 4), 2);
    run(&square, &a, a, NULL);
    float x;
    is_int(sim_value_read(a, 0, 4, &x, &err), SL_ENOMEM, "what needs 4 TB is refused");
    ok(strstr(err.msg, "4398046511104") != NULL, "with the bytes that it needs (%s)", err.msg);
    is_int(sim_value_read(a, 0, 4, &x, NULL), SL_ENOMEM, "also the second time");
    sim_value_release(a);
    sim_value_release(b);
}

static void huge_tensors_can_be_written_in_parts(void)
{
    const float x = 5, y[2] = { 6, 7 };
    sim_value *a = sim_value_bytes_set(huge, 0), *b = of_floats(y, 2);
    a = sim_value_write(a, huge / 2, 4, &x, NULL);
    sim_value *next = sim_value_splice(a, huge - 12, b, 0, 8);
    sim_value_release(a);
    a = next;
    float got[4];
    is_int(sim_value_read(a, huge - 16, 16, got, NULL), SL_OK, "a range across a splice");
    ok(got[0] == 0 && got[1] == 6 && got[2] == 7 && got[3] == 0, "has both sides");
    is_double(at(a, huge / 8), 5, 0, "an element that was set in 4 TB");
    is_double(at(a, huge / 8 + 1), 0, 0, "and the one beside it");
    for (size_t i = 0; i < 200000; i++)
        a = sim_value_write(a, 4 * i, 4, &x, NULL);
    is_double(at(a, 0), 5, 0, "beneath 200000 splices");
    is_double(at(a, huge / 8), 5, 0, "the old one too");
    sim_value *part = sim_value_bytes_set(8, 0);
    next = sim_value_splice(part, 4, a, 4 * 199999, 4);
    is_double(at(next, 1), 5, 0, "a copy out of a part of 4 TB");
    is_double(at(next, 0), 0, 0, "and what was beside it");
    sim_value_release(next);
    sim_value_release(part);
    next = sim_value_memset(a, 0, huge - 4, 1);
    sim_value_release(a);
    is_double(at(next, huge / 4 - 1), 0, 0, "a partial memset of 4 TB leaves the rest");
    sim_value *all = sim_value_memset(next, 0, huge, 0);
    is_double(at(all, 1), 0, 0, "a whole one leaves nothing");
    sim_value_release(next);
    sim_value_release(all);
    sim_value_release(b);
}

int main(void)
{
    plan(0);
    values_are_computed_on_demand();
    memory_is_taken_over_only_from_the_dead();
    the_same_kernel_over_and_over_is_one_recipe();
    what_two_rounds_do_not_change_is_not_computed_on();
    ping_pong(1000000, 1, true);
    ping_pong(20000, 1000, true);
    ping_pong(1000000, 7, false);
    fibonacci();
    dear_chains_stay_lazy();
    a_deep_chain_is_read_at_its_end();
    splices_are_what_memory_would_hold();
    whole_copies_share();
    elements_can_be_set_one_by_one();
    constants_cost_nothing();
    constants_have_eight_bytes();
    random_numbers_are_read_in_place();
    huge_tensors_can_be_written_in_parts();
    return done_testing();
}
