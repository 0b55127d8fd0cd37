/* t-13-value-parts.c - kernels on parts of what buffers hold: random programs against plain
 * arrays, and values that somebody else holds stay as they are. */
#include <stdlib.h>
#include <string.h>

#include "../../core/sim/compute.h"
#include "../../core/sim/values.h"
#include "../tap.h"

enum { BUFFERS = 3, ELEMS = 24, BYTES = ELEMS * 4, HELD = 4 };

typedef struct state {
    sim_value *value[BUFFERS];
    float elems[BUFFERS][ELEMS];
    sim_value *held[HELD]; /* captured at some time, with what it was */
    float was[HELD][ELEMS];
} state;

static uint32_t random_below(uint32_t n)
{
    static uint64_t x = 7;
    x = x * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(x >> 33) % n;
}

static bool holds(sim_value *value, const float *elems)
{
    float got[ELEMS];
    return sim_value_read(value, 0, BYTES, got, NULL) == SL_OK && memcmp(got, elems, BYTES) == 0;
}

/* As the queue does: make, replace, forget what is hidden now. */
static void put(state *s, int to, const sl_work *work, const sl_operand *side, sim_value *in0,
                sim_value *in1)
{
    sim_value *made;
    if (work->kind == SL_WORK_MEMSET)
        made = sim_value_memset(s->value[to], side[SL_OUTPUT].offset, work->bytes,
                                work->byte_value);
    else if (work->kind == SL_WORK_MEMCPY)
        made = sim_value_splice(s->value[to], side[SL_OUTPUT].offset, in0, side[0].offset,
                                work->bytes);
    else
        made = sim_value_apply_part(work, side, s->value[to], SIM_VALUES(in0, in1));
    sim_value_release(s->value[to]);
    s->value[to] = made;
    if (random_below(2)) sim_value_drop_hidden(made);
}

/* One of add, fill, sum, memset, copy on random parts; results stay small whole numbers. */
static void step(state *s)
{
    const int to = (int)random_below(BUFFERS), a = (int)random_below(BUFFERS);
    const int b = (int)random_below(BUFFERS);
    const size_t n = 1 + random_below(ELEMS / 2), out = random_below((uint32_t)(ELEMS - n + 1));
    const size_t at = random_below((uint32_t)(ELEMS - n + 1));
    const size_t bt = random_below((uint32_t)(ELEMS - n + 1));
    sl_work work = {
        .kind = SL_WORK_KERNEL,
        .dtype = SL_FLOAT32,
        .n = (int64_t)n,
    };
    const sl_operand side[SL_SIDES] = {
        { .offset = at * 4, .bytes = n * 4 },
        { .offset = bt * 4, .bytes = n * 4 },
        [SL_OUTPUT] = { .offset = out * 4, .bytes = n * 4 },
    };
    sim_value *in0 = sim_value_retain(s->value[a]), *in1 = sim_value_retain(s->value[b]);
    float made[ELEMS] = { 0 };
    switch (random_below(5)) {
    case 0:
        work.kernel = SL_KERNEL_ADD;
        for (size_t i = 0; i < n; i++) {
            made[i] = s->elems[a][at + i] + s->elems[b][bt + i];
            if (made[i] > 1e6f) /* keep them exact */
                goto done;
        }
        put(s, to, &work, side, in0, in1);
        break;
    case 1:
        work.kernel = SL_KERNEL_FILL;
        work.scalar = random_below(9);
        for (size_t i = 0; i < n; i++)
            made[i] = (float)work.scalar;
        put(s, to, &work, side, NULL, NULL);
        break;
    case 2:
        work.kernel = SL_KERNEL_MUL_SCALAR;
        work.scalar = 0.5;
        for (size_t i = 0; i < n; i++)
            made[i] = s->elems[a][at + i] * 0.5f;
        put(s, to, &work, side, in0, NULL);
        break;
    case 3:
        work = (sl_work){ .kind = SL_WORK_MEMSET, .bytes = n * 4 };
        put(s, to, &work, side, NULL, NULL);
        break;
    default:
        work.kind = SL_WORK_MEMCPY;
        work.bytes = n * 4;
        memcpy(made, &s->elems[a][at], n * 4);
        put(s, to, &work, side, in0, NULL);
    }
    memcpy(&s->elems[to][out], made, n * 4);
done:
    sim_value_release(in0);
    sim_value_release(in1);
}

static void capture(state *s)
{
    const int which = (int)random_below(HELD), from = (int)random_below(BUFFERS);
    sim_value_release(s->held[which]);
    s->held[which] = sim_value_retain(s->value[from]);
    memcpy(s->was[which], s->elems[from], BYTES);
}

static bool all_hold(const state *s)
{
    bool right = true;
    for (int i = 0; i < HELD; i++)
        right = right && (!s->held[i] || holds(s->held[i], s->was[i]));
    for (int i = 0; i < BUFFERS; i++)
        right = right && holds(s->value[i], s->elems[i]);
    return right;
}

static bool random_program(int steps)
{
    state s = { .value = { NULL } };
    for (int i = 0; i < BUFFERS; i++)
        s.value[i] = sim_value_bytes_set(BYTES, 0);
    bool right = true;
    for (int i = 0; i < steps && right; i++) {
        step(&s);
        if (random_below(8) == 0) capture(&s);
        if (random_below(50) == 0) right = all_hold(&s);
    }
    right = right && all_hold(&s);
    for (int i = 0; i < BUFFERS; i++)
        sim_value_release(s.value[i]);
    for (int i = 0; i < HELD; i++)
        sim_value_release(s.held[i]);
    return right;
}

static void random_programs(void)
{
    int right = 0;
    for (int i = 0; i < 300; i++)
        right += random_program(200);
    is_int(right, 300, "300 random programs of 200 operations leave what arrays have");
}

/* A product of two parts of one buffer, by hand: [1 2; 3 4] [5 6; 7 8]. */
static void products(void)
{
    const float in[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const sl_work work = {
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_MATMUL,
        .dtype = SL_FLOAT32,
        .m = 2,
        .n = 2,
        .k = 2,
        .outer = 1,
    };
    const sl_operand side[SL_SIDES] = {
        { .bytes = 16 },
        { .offset = 16, .bytes = 16 },
        [SL_OUTPUT] = { .offset = 4, .bytes = 16 },
    };
    sim_value *a = sim_value_write(sim_value_bytes_set(32, 0), 0, 32, in, NULL);
    sim_value *c = sim_value_bytes_set(24, 0);
    sim_value *made = sim_value_apply_part(&work, side, c, SIM_VALUES(a, a));
    float got[6];
    sim_value_read(made, 0, 24, got, NULL);
    ok(got[0] == 0 && got[1] == 19 && got[2] == 22 && got[3] == 43 && got[4] == 50 && got[5] == 0,
       "a product of two halves of a buffer lies within another");
    sim_value_release(made);
    sim_value_release(c);
    sim_value_release(a);
}

/* Four chunks that are written over and over, and the whole is read in the end: what was
 * overwritten is forgotten, so that reading costs what four parts cost. */
static void chunks_in_turn(void)
{
    enum { ROUNDS = 1000, CHUNK = 1 << 20 };
    sim_value *value = sim_value_bytes_set(4 * CHUNK, 0);
    for (int i = 0; i < 4 * ROUNDS; i++) {
        const sl_work work = {
            .kind = SL_WORK_KERNEL,
            .kernel = SL_KERNEL_RAND,
            .dtype = SL_FLOAT32,
            .n = CHUNK / 4,
            .seed = (uint64_t)i,
            .sequence = 1,
        };
        const sl_operand side[SL_SIDES] = {
            [SL_OUTPUT] = { .offset = (size_t)(i % 4) * CHUNK, .bytes = CHUNK },
        };
        sim_value *made = sim_value_apply_part(&work, side, value, SIM_VALUES(NULL));
        sim_value_release(value);
        value = made;
        sim_value_drop_hidden(value);
    }
    ok(sim_value_pending_s(value, 1e9) < 0.5, "what chunks held before is not computed (%.3f s)",
       sim_value_pending_s(value, 1e9));
    sim_value_release(value);
}

int main(void)
{
    plan(0);
    random_programs();
    products();
    chunks_in_turn();
    return done_testing();
}
