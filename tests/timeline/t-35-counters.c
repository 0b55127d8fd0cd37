/* t-35-counters.c - memory, queues, kernels at once and copies over time, worked out by hand, and
 * what an allocator says, read from a trace of PyTorch's and kept by ours. */
#define _XOPEN_SOURCE 700

#include "causes.h"
#include "files.h"

#include <unistd.h>

#include "../../core/traces/traces.h"

/* "5=1 25=0 most 1 at 5": the points, in us. */
static const char *tell(const sl_counter *counter)
{
    static char text[1024];
    char *at = text, *end = text + sizeof text;
    *at = '\0';
    for (size_t i = 0; i < counter->n && end - at > 100; i++) {
        put_us(&at, end, counter->at[i].at_ns);
        at += snprintf(at, (size_t)(end - at), "=%" PRId64 " ", counter->at[i].value);
    }
    at += snprintf(at, (size_t)(end - at), "most %" PRId64 " at ", counter->most);
    put_us(&at, end, counter->most_ns);
    return text;
}

static void is_counter_at(const sl_timeline *tl, sl_counter_kind kind, int place,
                          const char *points, const char *what)
{
    sl_counter counter;
    sl_error err;
    must(sl_timeline_counter(tl, kind, place, &counter, &err), &err);
    is_str(tell(&counter), points, "%s", what);
    free(counter.at);
}

static void is_counter(const sl_timeline *tl, sl_counter_kind kind, const char *points,
                       const char *what)
{
    is_counter_at(tl, kind, 0, points, what);
}

/*   host       h[0..2] K1[2..6] K2[6..10] D2H[10..12]
 *   stream 1   |H2D 5..105|  |K1 106..156|
 *   stream 2   |K2 12..132|  |D2H 133..153|
 * The copies move 1 MB in 100 us, and 2 MB in 20 us: 10 and 100 GB/s. */
static sl_timeline *make_work(void)
{
    sl_timeline *tl = make();
    sl_span h = op(tl, SL_SPAN_MEMCPY_H2D, 1, NULL, AT(0, 2), AT(5, 105));
    sl_span d = op(tl, SL_SPAN_MEMCPY_D2H, 2, NULL, AT(10, 12), AT(133, 153));
    h.bytes = 1000000;
    d.bytes = 2000000;
    add(tl, h);
    run(tl, SL_SPAN_KERNEL, 1, "K1", AT(2, 6), AT(106, 156));
    run(tl, SL_SPAN_KERNEL, 2, "K2", AT(6, 10), AT(12, 132));
    add(tl, d);
    sl_timeline_finish(tl, 0, 1000000);
    return tl;
}

static void test_work(void)
{
    sl_timeline *tl = make_work();
    is_counter(tl, SL_COUNTER_KERNELS, "12=1 106=2 132=1 156=0 most 2 at 106", "kernels at once");
    is_counter(tl, SL_COUNTER_QUEUE, "0=1 2=2 5=1 6=2 10=3 12=2 106=1 133=0 most 3 at 10",
               "operations that have been called, and have not started");
    is_counter(tl, SL_COUNTER_H2D, "5=10000000000 105=0 most 10000000000 at 5", "bytes a second");
    is_counter(tl, SL_COUNTER_D2H, "133=100000000000 153=0 most 100000000000 at 133",
               "and those of the other direction");
    is_counter(tl, SL_COUNTER_P2P, "most 0 at 0", "of what there is nothing there are no points");
    is_counter(tl, SL_COUNTER_ALLOCATED, "most 0 at 0", "nor without an allocator");
    sl_timeline_release(tl);
}

/* Of either GPU a kernel, of the second two more and a copy of 1 MB in 10 us. */
static void test_devices(void)
{
    sl_timeline *tl = make();
    sl_error err;
    int place;
    const uint32_t other = sl_timeline_stream_id(1, 3), third = sl_timeline_stream_id(1, 4);
    sl_device_info info = { .backend = "sim", .name = "GPU", .index = 1 };
    must(sl_timeline_add_device(tl, &info, &place, &err), &err);
    sl_span copy = op(tl, SL_SPAN_MEMCPY_P2P, third, NULL, AT(3, 4), AT(40, 50));
    copy.bytes = 1000000;
    run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 1), AT(5, 35));
    run(tl, SL_SPAN_KERNEL, other, NULL, AT(1, 2), AT(10, 20));
    run(tl, SL_SPAN_KERNEL, other, NULL, AT(2, 3), AT(20, 30));
    add(tl, copy);
    sl_timeline_finish(tl, 0, 1000000);
    is_counter(tl, SL_COUNTER_KERNELS, "5=1 35=0 most 1 at 5", "kernels of one GPU");
    is_counter_at(tl, SL_COUNTER_KERNELS, 1, "10=1 30=0 most 1 at 10", "are not the other's");
    is_counter_at(tl, SL_COUNTER_QUEUE, 1, "1=1 2=2 3=3 10=2 20=1 40=0 most 3 at 3",
                  "nor is its queue");
    is_counter_at(tl, SL_COUNTER_P2P, 1, "40=100000000000 50=0 most 100000000000 at 40",
                  "a copy between GPUs is of the one whose stream it is in");
    is_counter(tl, SL_COUNTER_P2P, "most 0 at 0", "and not of the other");
    sl_timeline_release(tl);
}

/* Four kernels of 1 us, 1 us apart, and one beside the third. */
static void test_reduced(void)
{
    sl_timeline *tl = make();
    sl_counter counter;
    sl_error err;
    for (int i = 0; i < 4; i++)
        run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 1), AT(2 * i, 2 * i + 1));
    run(tl, SL_SPAN_KERNEL, 2, NULL, AT(0, 1), AT(4, 5));
    sl_timeline_finish(tl, 0, 10000);
    must(sl_timeline_counter(tl, SL_COUNTER_KERNELS, 0, &counter, &err), &err);
    sl_counter_reduce(&counter, 0, 8000, 8);
    is_str(tell(&counter), "0=1 1=0 2=1 3=0 4=2 5=0 6=1 7=0 most 2 at 4", "what fits stays");
    sl_counter_reduce(&counter, 0, 8000, 4);
    is_str(tell(&counter), "0=1 3=0 4=2 7=0 most 2 at 4",
           "of each half the largest stays, and what it ends with");
    sl_counter_reduce(&counter, 5000, 8000, 4);
    is_str(tell(&counter), "4=2 7=0 most 2 at 4", "of a part what there was at its beginning");
    free(counter.at);
    sl_timeline_release(tl);
}

/* ---- memory -------------------------------------------------------------------------- */

static void call_for(sl_timeline *tl, sl_memory_note note, const int64_t host_us[2])
{
    sl_error err;
    note.correlation = add_call(
        tl, (sl_call){ .kind = SL_CALL_PLAIN, .name = text_id(tl, "cudaMalloc") }, host_us);
    must(sl_timeline_add_memory(tl, &note, &err), &err);
}

static void test_allocations(void)
{
    sl_timeline *tl = make();
    run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 1), AT(2, 100));
    call_for(tl, (sl_memory_note){ .bytes = 100 }, AT(1, 3));
    call_for(tl, (sl_memory_note){ .bytes = 50, .kind = SL_MEMORY_PINNED }, AT(3, 4));
    call_for(tl, (sl_memory_note){ .bytes = 70 }, AT(4, 6));
    call_for(tl, (sl_memory_note){ .bytes = 999, .frees = true, .is_from_before = true }, AT(6, 7));
    call_for(tl, (sl_memory_note){ .bytes = 100, .frees = true }, AT(8, 9));
    sl_timeline_finish(tl, 0, 100000);
    is_counter(tl, SL_COUNTER_DEVICE, "3=100 6=170 9=70 most 170 at 6",
               "what is allocated on the device, from the end of each call on");
    is_counter(tl, SL_COUNTER_PINNED, "4=50 most 50 at 4", "and on the host");
    sl_timeline_release(tl);
}

/* Two threads, whose calls end at one time: what the first allocated the second frees. */
static void test_at_once(void)
{
    sl_timeline *tl = make();
    run(tl, SL_SPAN_KERNEL, 1, NULL, AT(0, 1), AT(2, 100));
    call_for(tl, (sl_memory_note){ .bytes = 100, .frees = true }, AT(1, 3));
    call_for(tl, (sl_memory_note){ .bytes = 100 }, AT(2, 3));
    call_for(tl, (sl_memory_note){ .bytes = 30 }, AT(4, 5));
    call_for(tl, (sl_memory_note){ .bytes = 90, .frees = true }, AT(5, 6));
    call_for(tl, (sl_memory_note){ .bytes = 20 }, AT(6, 7));
    sl_timeline_finish(tl, 0, 100000);
    is_counter(tl, SL_COUNTER_DEVICE, "5=30 6=0 7=20 most 30 at 5",
               "nothing is left of what came and went at once, and never less than nothing");
    sl_timeline_release(tl);
}

/* As PyTorch 2 writes it; of the CPU's memory, and of another GPU's, too. */
static const char torch[] =
    "{\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":1000,\"dur\":9,"
    "\"args\":{\"device\":1,\"stream\":7,\"correlation\":1}},"
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":9,"
    "\"tid\":9,\"ts\":1005,\"args\":{\"Device Type\":1,\"Device Id\":1,\"Addr\":1,\"Bytes\":-40,"
    "\"Total Allocated\":60,\"Total Reserved\":200}},"
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":9,"
    "\"tid\":9,\"ts\":1002,\"args\":{\"Device Type\":1,\"Device Id\":1,\"Addr\":1,\"Bytes\":100,"
    "\"Total Allocated\":100,\"Total Reserved\":200}},"
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1003,\"args\":{\"Device Type\":0,"
    "\"Device Id\":-1,\"Total Allocated\":5,\"Total Reserved\":5}},"
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1003,\"args\":{\"Device Type\":1,"
    "\"Device Id\":0,\"Total Allocated\":7,\"Total Reserved\":7}},"
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":\"x\",\"args\":{\"Device Type\":1,"
    "\"Device Id\":1,\"Total Allocated\":7,\"Total Reserved\":7}},"
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1004,\"args\":{\"Device Type\":1,"
    "\"Device Id\":1,\"Total Allocated\":-7}},"
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":1004}]}";

static void check_samples(const sl_timeline *tl, const char *what)
{
    is_counter(tl, SL_COUNTER_ALLOCATED, "2=100 5=60 most 100 at 2", what);
    is_counter(tl, SL_COUNTER_RESERVED, "2=200 most 200 at 2", what);
}

static void test_samples(void)
{
    sl_timeline *tl = NULL, *back = NULL, *part = NULL;
    sl_error err;
    FILE *file = fopen(in_directory("t.json"), "w");
    if (!file || fputs(torch, file) < 0 || fclose(file) != 0) exit(1);
    must(sl_timeline_load(in_directory("t.json"), SL_BUSIEST_DEVICE, &tl, &err), &err);
    check_samples(tl, "PyTorch's allocator says what it has given away");
    must(sl_timeline_save_kineto(tl, in_directory("a.json"), &err), &err);
    must(sl_timeline_load(in_directory("a.json"), SL_BUSIEST_DEVICE, &back, &err), &err);
    check_samples(back, "saved and loaded it is the same");
    must(sl_timeline_save_kineto(back, in_directory("b.json"), &err), &err);
    char *a = contents(in_directory("a.json")), *b = contents(in_directory("b.json"));
    is_str(b, a, "and saved again the same bytes");
    must(sl_timeline_save_with_counters(tl, in_directory("c.json"), &err), &err);
    char *c = contents(in_directory("c.json"));
    ok(strstr(c, "{\"ph\":\"C\",\"name\":\"allocated by PyTorch\",\"pid\":1,\"tid\":0,"
                 "\"ts\":5.000,\"args\":{\"bytes\":60}}"),
       "a counter track for Perfetto is in the file where that is asked for");
    ok(!strstr(a, "\"ph\":\"C\""), "and else there is none");
    must(sl_timeline_part(tl, &(sl_part_choice){ .count = 1 }, &part, &err), &err);
    size_t n;
    sl_timeline_memory_samples(part, &n);
    ok(n > 0, "a part has what is said in its time");
    free(a);
    free(b);
    free(c);
    sl_timeline_release(part);
    sl_timeline_release(back);
    sl_timeline_release(tl);
    unlink(in_directory("t.json"));
    unlink(in_directory("a.json"));
    unlink(in_directory("b.json"));
    unlink(in_directory("c.json"));
}

#define RANK(pid, ts, allocated, reserved)                                        \
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":" pid ",\"ts\":" ts              \
    ",\"args\":{\"Device Type\":1,\"Device Id\":0,\"Total Allocated\":" allocated \
    ",\"Total Reserved\":" reserved "}},"

/* Two ranks that share a GPU, in one file: the kernel begins at 1000 us. At 6 us both say
 * something, and the second one something that cannot be. */
static const char ranks[] = "{\"traceEvents\":[" RANK("1", "1002", "10", "20")
    RANK("2", "1004", "700", "900") RANK("1", "1006", "15", "20") RANK("2", "1006", "-700", "900")
        RANK("2", "1008", "0", "900") RANK("1", "1009", "9223372036854775807", "20")
            RANK("2", "1010", "5",
                 "900") "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                        "\"ts\":1000,\"dur\":19,\"args\":{\"device\":0,\"stream\":7}}]}";

static void test_ranks(void)
{
    sl_timeline *tl = NULL, *part = NULL;
    sl_error err;
    FILE *file = fopen(in_directory("t.json"), "w");
    if (!file || fputs(ranks, file) < 0 || fclose(file) != 0) exit(1);
    must(sl_timeline_load(in_directory("t.json"), SL_BUSIEST_DEVICE, &tl, &err), &err);
    is_counter(tl, SL_COUNTER_ALLOCATED,
               "2=10 4=710 6=715 8=15 9=9223372036854775807 most 9223372036854775807 at 9",
               "what the ranks on a GPU have given away is added");
    is_counter(tl, SL_COUNTER_RESERVED, "2=20 4=920 most 920 at 4", "and what they hold");
    ok(strstr(sl_timeline_notice(tl), "its \"Total Allocated\" is -700"),
       "less than nothing is doubted");
    const sl_part_choice late = { .is_time = true, .from_ns = 12000, .to_ns = 20000 };
    must(sl_timeline_part(tl, &late, &part, &err), &err);
    sl_counter counter;
    must(sl_timeline_counter(part, SL_COUNTER_RESERVED, 0, &counter, &err), &err);
    is_int(counter.most, 920, "a part behind all of it has what there was last");
    free(counter.at);
    sl_timeline_release(part);
    sl_timeline_release(tl);
    unlink(in_directory("t.json"));
}

static void test_refused(void)
{
    sl_timeline *tl = make();
    sl_error err;
    sl_memory_sample sample = { .allocated_bytes = UINT64_MAX };
    is_int(sl_timeline_add_memory_sample(tl, &sample, &err), SL_EINVAL,
           "more bytes than there can be are refused");
    sample = (sl_memory_sample){ .at_ns = INT64_MAX };
    is_int(sl_timeline_add_memory_sample(tl, &sample, &err), SL_EINVAL,
           "so is a time that no timeline has");
    must(sl_timeline_add_memory_sample(tl, &(sl_memory_sample){ .at_ns = 5 }, &err), &err);
    sample = (sl_memory_sample){ .at_ns = 4 };
    is_int(sl_timeline_add_memory_sample(tl, &sample, &err), SL_EINVAL, "or one that is over");
    sl_timeline_finish(tl, 0, 1);
    sample = (sl_memory_sample){ 0 };
    is_int(sl_timeline_add_memory_sample(tl, &sample, &err), SL_ESTATE,
           "and one more when the timeline is finished");
    sl_timeline_release(tl);
}

int main(void)
{
    plan(0);
    make_directory();
    test_work();
    test_devices();
    test_reduced();
    test_allocations();
    test_at_once();
    test_samples();
    test_ranks();
    test_refused();
    ok(rmdir(directory) == 0, "no file is left");
    return done_testing();
}
