/* t-33-matching.c - core/cuda/matching.c: whose a call of CUDA's is, by when it began. */
#include "../../core/cuda/matching.h"
#include "../tap.h"

enum { OPS = 5000 };

/* Operation i was enqueued from 100 i + 10 to 100 i + 60. */
static void enqueue(cuda_matching *m)
{
    for (uint64_t i = 0; i < OPS; i++) {
        cuda_matching_begin(m, i, 100 * i + 10);
        cuda_matching_end(m, 100 * i + 60);
    }
}

/* Calls before, in and behind each interval come to light in an order that a prime mixes. */
static void test_many(void)
{
    static const uint64_t offset[] = { 9, 10, 61 };
    cuda_matching m = { .n_lost = 0 };
    int wrong = 0;
    enqueue(&m);
    for (uint32_t i = 0; i < 3 * OPS; i++) {
        uint32_t call = i * 7919 % (3 * OPS);
        cuda_matching_add_call(&m, call, 100 * (uint64_t)(call / 3) + offset[call % 3]);
    }
    for (size_t i = 0; i < m.n_calls; i++)
        wrong += m.calls[i].correlation % 3 != 1
                 || m.calls[i].external_id != m.calls[i].correlation / 3;
    is_int((int64_t)m.n_calls, OPS, "a call is an operation's if it began in its interval");
    is_int(wrong, 0, "and that operation's");
    cuda_matching_clear(&m);
    ok(!m.intervals && !m.calls && m.n_intervals == 0, "nothing is kept when all is cleared");
}

static void test_ends(void)
{
    cuda_matching m = { .n_lost = 0 };
    cuda_matching_add_call(&m, 1, 5);
    is_int((int64_t)m.n_calls, 0, "without operations a call is nobody's");
    cuda_matching_begin(&m, 7, 100);
    cuda_matching_add_call(&m, 2, 99);
    cuda_matching_add_call(&m, 3, 5000);
    is_int((int64_t)m.n_calls, 1, "an operation that is being enqueued has what began since");
    cuda_matching_end(&m, 200);
    cuda_matching_end(&m, 300);
    cuda_matching_add_call(&m, 4, 200);
    cuda_matching_add_call(&m, 5, 201);
    ok(m.n_calls == 2 && m.calls[1].correlation == 4,
       "the end belongs to it, what follows does not");
    cuda_matching_begin(&m, 8, 150);
    cuda_matching_end(&m, 250);
    cuda_matching_add_call(&m, 6, 149);
    cuda_matching_add_call(&m, 7, 150);
    ok(m.n_calls == 4 && m.calls[2].external_id == 7 && m.calls[3].external_id == 8,
       "an operation ends before the next one begins");
    cuda_matching_clear(&m);
}

int main(void)
{
    test_many();
    test_ends();
    return done_testing();
}
