/* t-13-devices.c - a timeline of two devices: ids of streams, names, and what is a device's own.
 *
 *   ns                0     10     20     30     40
 *   GPU 0, NULL       |kernel------|
 *   GPU 1, NULL       |kernel|            |kernel|    the second behind a record of GPU 0
 *   GPU 1, stream 3          |copy-------|
 */
#include "make.h"

static sl_device_info gpu(int index, int sm_count)
{
    return (
        sl_device_info){ .backend = "sim", .name = "GPU", .index = index, .sm_count = sm_count };
}

static int add(sl_timeline *tl, int index)
{
    sl_device_info info = gpu(index, 10 * index);
    sl_error err;
    int place = -1;
    must(sl_timeline_add_device(tl, &info, &place, &err), &err);
    return place;
}

static sl_timeline *make_two(void)
{
    sl_timeline *tl = make();
    sl_device_info first = gpu(4, 132);
    sl_timeline_set_device(tl, &first);
    add(tl, 7);
    return tl;
}

static void test_ids(void)
{
    sl_timeline *tl = make_two();
    uint32_t null_1 = sl_timeline_stream_id(1, 0), third_1 = sl_timeline_stream_id(1, 3);
    is_int(sl_timeline_stream_id(0, 3), 3, "streams of the first device keep their ids");
    is_int(sl_timeline_place(tl, 3), 0, "by which they are known");
    is_int(sl_timeline_place(tl, third_1), 1, "those of the second have others");
    ok(sl_timeline_is_null_stream(tl, 0) && sl_timeline_is_null_stream(tl, null_1),
       "each device has a NULL stream");
    ok(!sl_timeline_is_null_stream(tl, third_1), "which is no other one");
    is_int(sl_timeline_row_id(0, 2, 5), 1 << 30 | 2 << 16 | 5, "further rows as well");
    is_int(sl_timeline_place(tl, sl_timeline_row_id(0, 2, 5)), 0, "have the place in their ids");
    is_int(sl_timeline_place(tl, sl_timeline_row_id(1, 2, 5)), 1, "of either device");
    is_int(sl_timeline_device_at(tl, 1)->index, 7, "the second place is that of GPU 7");
    for (int i = 2; i < SL_MOST_DEVICES; i++)
        is_int(add(tl, i), i, "one more");
    int place;
    is_int(sl_timeline_add_device(tl, sl_timeline_device(tl), &place, NULL), SL_EINVAL,
           "but no more than there may be");
    sl_timeline_release(tl);
    tl = make();
    is_int(sl_timeline_place(tl, third_1), 0, "where there is one device, ids mean nothing");
    sl_timeline_release(tl);
}

/* The picture above. */
static sl_timeline *two_at_work(void)
{
    sl_timeline *tl = make_two();
    uint32_t null_1 = sl_timeline_stream_id(1, 0), third_1 = sl_timeline_stream_id(1, 3);
    sl_stream_note third = { .id = third_1, .non_blocking = true };
    must(sl_timeline_intern(tl, "third", &third.name, NULL), NULL);
    must(sl_timeline_add_stream(tl, &third, NULL), NULL);
    must(sl_timeline_add_stream(tl, &(sl_stream_note){ .id = null_1 }, NULL), NULL);
    kernel(tl, 0, 0, 20);
    uint64_t record = call(tl, SL_CALL_EVENT_RECORD, 0, 0, 0);
    kernel(tl, null_1, 0, 10);
    span(tl, third_1, SL_SPAN_MEMCPY_H2D, 10, 25);
    call(tl, SL_CALL_STREAM_WAIT, null_1, record, 0);
    kernel(tl, null_1, 30, 40);
    finish(tl);
    return tl;
}

static int64_t busy(const sl_timeline *tl, int place, int engine)
{
    sl_selection sel = sl_select_all;
    int64_t ns;
    sel.place = place;
    sel.engine = engine;
    must(sl_timeline_busy_ns(tl, &sel, &ns, NULL), NULL);
    return ns;
}

static void test_work(void)
{
    sl_timeline *tl = two_at_work();
    char buffer[SL_STREAM_NAME_BYTES];
    ok(sl_timeline_has_several(tl), "spans are of two devices");
    is_str(sl_timeline_stream_name(tl, sl_timeline_stream_id(1, 3), buffer), "gpu7: third",
           "names of streams begin with the GPU");
    is_str(sl_timeline_engine_name(tl, SL_ENGINES, buffer), "gpu7: compute",
           "as do those of engines");
    is_int(busy(tl, -1, SL_ENGINE_COMPUTE), 30, "compute of both: 0 to 20, 30 to 40");
    is_int(busy(tl, 0, SL_ENGINE_COMPUTE), 20, "of the first");
    is_int(busy(tl, 1, SL_ENGINE_COMPUTE), 20, "of the second: 0 to 10, 30 to 40");
    sl_bounds bounds;
    must(sl_timeline_bounds(tl, &bounds, NULL), NULL);
    is_int(bounds.busiest_engine_ns, 20, "the busiest engine is one of one device");
    is_int(bounds.busiest_place, 0, "of equals the first");
    is_int(bounds.critical_path_ns, 30, "the longest chain: 20 before the record, 10 behind it");
    is_int(sl_timeline_makespan_ns(tl), 40, "the makespan is over both");
    sl_timeline_release(tl);
}

/* A NULL stream orders the blocking streams of its device, and a synchronisation waits for it. */
static void test_own(void)
{
    sl_bounds bounds;
    sl_timeline *tl = make_two();
    kernel(tl, sl_timeline_stream_id(1, 2), 0, 100);
    kernel(tl, 0, 0, 30);
    finish(tl);
    must(sl_timeline_bounds(tl, &bounds, NULL), NULL);
    is_int(bounds.critical_path_ns, 100, "the NULL stream does not wait for another device");
    sl_timeline_release(tl);
    tl = make_two();
    kernel(tl, sl_timeline_stream_id(1, 2), 0, 100);
    kernel(tl, 1, 0, 30);
    call(tl, SL_CALL_DEVICE_SYNC, 0, 0, 0);
    kernel(tl, 1, 100, 120);
    finish(tl);
    must(sl_timeline_bounds(tl, &bounds, NULL), NULL);
    is_int(bounds.critical_path_ns, 100, "nor does a synchronisation of the device: 30 + 20");
    sl_timeline_release(tl);
}

static uint64_t part(sl_timeline *tl, int rank, sl_collective what, int peer, uint64_t number,
                     int64_t from_ns, int64_t to_ns)
{
    sl_collective_note note = { .comm = 1,
                                .number = number,
                                .rank = rank,
                                .ranks = 2,
                                .peer = peer,
                                .collective = (uint8_t)what };
    note.correlation = span(tl, sl_timeline_stream_id(rank, 1), SL_SPAN_KERNEL, from_ns, to_ns);
    must(sl_timeline_add_collective(tl, &note, NULL), NULL);
    return note.correlation;
}

static void is_met(const sl_timeline *tl, uint64_t id, int64_t met_ns, int late_rank,
                   uint64_t late_by, const char *name)
{
    const sl_collective_note *note = sl_timeline_find_collective(tl, id);
    ok(note && note->met_ns == met_ns && note->late_rank == late_rank && note->late_by == late_by,
       "%s", name);
}

/* Number 1 is an all-reduce, and also what rank 1 sends to rank 0; of number 2 one part was recorded. */
static void test_meetings(bool simulated)
{
    sl_timeline *tl = make_two();
    sl_device_info info = *sl_timeline_device(tl);
    info.simulated = info.knows_causes = simulated;
    sl_timeline_set_device(tl, &info);
    is_str(sl_timeline_device(tl)->backend, "sim", "a timeline may be given its own device again");
    uint64_t sums[2] = { part(tl, 0, SL_ALL_REDUCE, -1, 1, 5, 50),
                         part(tl, 1, SL_ALL_REDUCE, -1, 1, 30, 51) };
    uint64_t send = part(tl, 1, SL_SEND, 0, 1, 60, 80), recv = part(tl, 0, SL_RECV, 1, 1, 70, 80);
    uint64_t alone = part(tl, 0, SL_ALL_REDUCE, -1, 2, 90, 99);
    finish(tl);
    if (simulated) {
        is_met(tl, sums[0], 0, 0, 0, "what a simulated GPU does not say is not known");
    } else {
        is_met(tl, sums[0], 30, 1, sums[1], "ranks meet when the last of them starts");
        is_met(tl, sums[1], 30, 1, sums[1], "and its part knows that as well");
        is_met(tl, send, 70, 0, recv, "so do a send and its recv");
        is_met(tl, alone, 0, 0, 0, "of one part alone it is not known");
    }
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    test_ids();
    test_work();
    test_own();
    test_meetings(false);
    test_meetings(true);
    return done_testing();
}
