/* fake_activities.c - the times of the fake backend's operations that come later, as activities. */
#include "fake_backend.h"

void fake_deliver(const sl_op *op, int64_t start_ns, int64_t end_ns, const char *symbol)
{
    if (fake.n_activities == fake.cap_activities) {
        fake.cap_activities = fake.cap_activities ? fake.cap_activities * 2 : 64;
        fake.activities = realloc(fake.activities, fake.cap_activities * sizeof *fake.activities);
        if (!fake.activities) abort();
    }
    fake.activities[fake.n_activities++] = (sl_activity){
        .seq = op->seq,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .symbol = symbol,
        .blocks = symbol ? 7 : 0,
        .threads = symbol ? 64 : 0,
        .registers = symbol ? (uint16_t)(end_ns - start_ns) : 0,
        .shared_bytes = symbol ? 70000 : 0,
    };
}

void fake_time_later(sl_op *op)
{
    static const char *const symbols[] = { "part_one", "part_two" };
    int64_t at = fake_tick();
    op->start_ns = op->end_ns = SL_TIME_LATER;
    if (op->work.kind >= SL_WORK_EVENT_RECORD || fake.recordings == 0) return;
    if (fake.lose_activities > 0) {
        fake.lose_activities--;
        return;
    }
    if (fake.memset_parts) {
        fake_deliver(op, at, at + 900, NULL);
        at += 910;
    }
    for (int part = 0; part < (fake.parts ? fake.parts : 1); part++) {
        int64_t end = at + 100 * (part + 1);
        fake_deliver(op, at, end, symbols[part & 1]);
        at = end + 10;
    }
}
