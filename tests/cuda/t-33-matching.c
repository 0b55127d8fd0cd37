/* t-33-matching.c - core/cuda/matching.c: whose a record of the device is, by the number of its
 * call. */
#include "../../core/cuda/matching.h"
#include "../tap.h"

enum { OPS = 5000 };

static uint64_t seen[OPS + 1];

static void on_matched(void *ud, uint64_t external_id, const cuda_record *record)
{
    int *n = ud;
    if (record->start_ns == 10 * external_id) seen[external_id]++;
    ++*n;
}

/* Operation i makes calls 2i and 2i + 1, of which the second is a kernel; another's records are
 * among them. Both come in orders that primes mix. */
static void test_many(void)
{
    cuda_matching m = { .n_lost = 0 };
    int n = 0, right = 0;
    for (uint32_t i = 0; i < 2 * OPS; i++) {
        const uint32_t call = i * 7919 % (2 * OPS);
        cuda_matching_add_call(&m, call / 2 + 1, call + 2);
    }
    for (uint32_t i = 0; i < 2 * OPS; i++) {
        const uint32_t call = i * 7907 % (2 * OPS);
        const bool is_ours = call % 2 == 1;
        const cuda_record record = { .correlation = is_ours ? call + 2 : call + 1000000,
                                     .start_ns = 10 * (call / 2 + 1) };
        cuda_matching_add_record(&m, &record);
    }
    cuda_matching_run(&m, false, on_matched, &n);
    for (int i = 1; i <= OPS; i++)
        right += seen[i] == 1;
    is_int(n, OPS, "a record whose call is known is handed over, another one is not");
    is_int(right, OPS, "each to the operation that made the call");
    cuda_matching_run(&m, false, on_matched, &n);
    is_int(n, OPS, "once");
    cuda_matching_add_record(&m, &(cuda_record){ .correlation = 3, .start_ns = 10 });
    cuda_matching_run(&m, true, on_matched, &n);
    ok(n == OPS + 1 && seen[1] == 2, "a call may have a further record later");
    ok(!m.calls && !m.records && m.n_calls == 0, "nothing is kept when all is over");
}

int main(void)
{
    test_many();
    return done_testing();
}
