/* t-14-host-ranges.c - named ranges of the host: which is the innermost around a time, by hand and
 * against a search of all of them.
 *
 *   ns            0    10    20    30    40    50    60
 *   thread 0      |outer------------------------|
 *                 |first-----|      |second|
 *                      |in|
 *   thread 3           |other------------------------|
 */
#include "make.h"

#include <time.h>

static const sl_host_range outer = { .start_ns = 0, .end_ns = 50, .kind = SL_HOST_RANGE_NVTX };

static void add(sl_timeline *tl, const char *name, sl_host_range_kind kind, uint32_t thread,
                int64_t start_ns, int64_t end_ns)
{
    const sl_host_range range = { .start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .name = text_id(tl, name),
                                  .thread = thread,
                                  .kind = (uint8_t)kind };
    sl_error err;
    must(sl_timeline_add_host_range(tl, &range, &err), &err);
}

/* In the order of their ends, as a program reports them. */
static sl_timeline *make_picture(void)
{
    sl_timeline *tl = make();
    add(tl, "in", SL_HOST_RANGE_NVTX, 0, 5, 10);
    add(tl, "first", SL_HOST_RANGE_NVTX, 0, 0, 15);
    add(tl, "second", SL_HOST_RANGE_NVTX, 0, 25, 35);
    add(tl, "outer", SL_HOST_RANGE_NVTX, 0, 0, 50);
    add(tl, "other", SL_HOST_RANGE_NVTX, 3, 5, 60);
    add(tl, "step", SL_HOST_RANGE_STEP, 3, 0, 30);
    sl_timeline_finish(tl, 0, 100);
    return tl;
}

static const char *name_of(const sl_timeline *tl, size_t index)
{
    if (index == SL_NOT_FOUND) return "none";
    return sl_timeline_text(tl, sl_timeline_host_range(tl, index).name);
}

static const char *at(const sl_timeline *tl, uint32_t thread, int64_t ns)
{
    return name_of(tl, sl_timeline_find_host_range(tl, SL_HOST_RANGE_NVTX, thread, ns));
}

static void test_look_up(void)
{
    sl_timeline *tl = make_picture();
    is_str(at(tl, 0, 0), "first", "of two that start together the shorter one is the inner one");
    is_str(at(tl, 0, 5), "in", "a range is open from its start on");
    is_str(at(tl, 0, 9), "in", "and stays so");
    is_str(at(tl, 0, 10), "first", "until before its end, when what is around it goes on");
    is_str(at(tl, 0, 15), "outer", "also between two ranges");
    is_str(at(tl, 0, 30), "second", "the later one of two neighbours is found");
    is_str(at(tl, 0, 49), "outer", "the last of all is open to its end");
    is_str(at(tl, 0, 50), "none", "nothing is open behind it");
    is_str(at(tl, 0, -1), "none", "nor before it");
    is_str(at(tl, 3, 55), "other", "another thread has ranges of its own");
    is_str(at(tl, 3, 4), "none", "and not those of the first");
    is_str(at(tl, 2, 30), "none", "a thread between those that have some has none");
    is_int(sl_timeline_find_host_range(tl, SL_HOST_RANGE_PYTHON, 0, 30), SL_NOT_FOUND,
           "nor has a kind that is not there");
    is_str(name_of(tl, sl_timeline_find_host_range(tl, SL_HOST_RANGE_STEP, 7, 29)), "step",
           "a step is that of all threads");
    sl_timeline_release(tl);
}

/* Threads 3 and 5 hand work over to each other. */
static void test_callers(void)
{
    sl_timeline *tl = make();
    sl_error err;
    const sl_host_thread is = { 3, text_id(tl, "helper") }, upwards = { 6, 0 },
                         nameless = { 0, 77 };
    add(tl, "own", SL_HOST_RANGE_PYTHON, 5, 10, 20);
    add(tl, "around", SL_HOST_RANGE_PYTHON, 3, 0, 50);
    add(tl, "later", SL_HOST_RANGE_PYTHON, 3, 30, 40);
    must(sl_timeline_set_host_thread(tl, 5, &is, &err), &err);
    is_int(sl_timeline_set_host_thread(tl, 5, &upwards, &err), SL_EINVAL,
           "a caller with a higher number is refused");
    is_int(sl_timeline_set_host_thread(tl, 5, &nameless, &err), SL_EINVAL,
           "so is a name that is no text,");
    is_int(sl_timeline_set_host_thread(tl, SL_MOST_THREADS, &is, &err), SL_EINVAL,
           "and a thread beyond the last");
    sl_timeline_finish(tl, 0, 100);
    is_int(sl_timeline_set_host_thread(tl, 5, &is, &err), SL_ESTATE, "and one after finish");
    is_int(sl_timeline_host_thread(tl, 4).caller, 4, "a thread of which nothing is known is alone");
    is_str(sl_timeline_thread_name(tl, 5), "helper", "one may have a name");
    is_str(sl_timeline_thread_name(tl, 900), "", "others have none");
    is_str(name_of(tl, sl_timeline_find_range_of_caller(tl, SL_HOST_RANGE_PYTHON, 5, 15)), "own",
           "a range of the own thread comes first");
    is_str(name_of(tl, sl_timeline_find_range_of_caller(tl, SL_HOST_RANGE_PYTHON, 5, 25)), "around",
           "then one of another thread of the caller");
    is_str(name_of(tl, sl_timeline_find_range_of_caller(tl, SL_HOST_RANGE_PYTHON, 5, 35)), "later",
           "and of several the innermost");
    is_int(sl_timeline_find_range_of_caller(tl, SL_HOST_RANGE_PYTHON, 4, 35), SL_NOT_FOUND,
           "a thread of another caller has none of them");
    sl_timeline_release(tl);
}

static void test_lists(void)
{
    sl_timeline *tl = make_picture();
    size_t n, first = sl_timeline_host_ranges_of(tl, SL_HOST_RANGE_NVTX, &n);
    is_int(sl_timeline_host_range_count(tl), 6, "all ranges are there");
    is_int(n, 5, "those of a kind are counted");
    is_str(name_of(tl, first), "outer", "the outermost comes first,");
    is_str(name_of(tl, first + 2), "in", "in the order of their starts");
    is_int(sl_timeline_host_range(tl, first + 4).thread, 3, "then the other thread's");
    is_str(name_of(tl, sl_timeline_host_range_around(tl, first + 2)), "first",
           "the one around a range is known");
    is_str(name_of(tl, sl_timeline_host_range_around(tl, first + 1)), "outer",
           "also where both start together");
    is_int(sl_timeline_host_range_around(tl, first), SL_NOT_FOUND, "around the outermost is none");
    is_int(sl_timeline_host_range_around(tl, first + 4), SL_NOT_FOUND,
           "nor around one that is alone in its thread");
    sl_timeline_host_ranges_of(tl, SL_HOST_RANGE_ANNOTATION, &n);
    is_int(n, 0, "of a kind that is not there none are counted");
    sl_timeline_release(tl);
}

static void refuse(sl_timeline *tl, sl_host_range range, const char *name)
{
    sl_error err;
    is_int(sl_timeline_add_host_range(tl, &range, &err), SL_EINVAL, name);
}

static void test_refused(void)
{
    sl_timeline *tl = make();
    sl_host_range range = outer;
    range.end_ns = -1;
    refuse(tl, range, "a range that ends before it starts is refused");
    range.end_ns = INT64_MAX;
    refuse(tl, range, "so is a time beyond what a timeline has");
    range = outer, range.kind = SL_HOST_RANGE_KINDS;
    refuse(tl, range, "a kind that there is not");
    range = outer, range.thread = SL_MOST_THREADS;
    refuse(tl, range, "a thread beyond the last");
    range = outer, range.node = SL_MOST_NODES + UINT32_C(1);
    refuse(tl, range, "a number of a node beyond the last");
    range = outer, range.name = 77;
    refuse(tl, range, "and a text that is not interned");
    is_int(sl_timeline_host_range_count(tl), 0, "none of them is kept");
    sl_timeline_finish(tl, 0, 1);
    is_int(sl_timeline_add_host_range(tl, &outer, NULL), SL_ESTATE,
           "nothing is added to a finished timeline");
    sl_timeline_release(tl);
    tl = make();
    sl_error err;
    must(sl_timeline_keep_summary(tl, &err), &err);
    must(sl_timeline_add_host_range(tl, &outer, &err), &err);
    is_int(sl_timeline_host_range_count(tl), 0, "a summary keeps no ranges");
    sl_timeline_release(tl);
}

static void test_move(void)
{
    const uint32_t threads[] = { 4, SL__NO_THREAD };
    sl_timeline *tl = make();
    add(tl, "kept", SL_HOST_RANGE_NVTX, 0, 1000, 1010);
    add(tl, "left out", SL_HOST_RANGE_NVTX, 1, 1000, 1010);
    add(tl, "not in the list", SL_HOST_RANGE_NVTX, 2, 1000, 1010);
    add(tl, "too early", SL_HOST_RANGE_NVTX, 0, -(INT64_C(1) << 61) + 1, 1010);
    sl__host_ranges_move(tl, 1000, threads, 2);
    sl_timeline_finish(tl, 0, 1);
    is_int(sl_timeline_host_range_count(tl), 1, "ranges of threads without a number are left out");
    is_str(at(tl, 4, 9), "kept", "the others get times and threads of the timeline");
    sl_timeline_release(tl);
}

/* ---- many ---- */

enum { MANY = 20000, LENGTH_NS = 100000 };

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * below >> 32);
}

/* Of a list in order: what an innermost range is, without any search. */
static size_t slow_find(const sl_timeline *tl, uint32_t thread, int64_t ns)
{
    size_t found = SL_NOT_FOUND;
    for (size_t i = 0; i < sl_timeline_host_range_count(tl); i++) {
        const sl_host_range range = sl_timeline_host_range(tl, i);
        if (range.thread == thread && range.start_ns <= ns && range.end_ns > ns) found = i;
    }
    return found;
}

static size_t slow_around(const sl_timeline *tl, size_t index)
{
    const sl_host_range in = sl_timeline_host_range(tl, index);
    for (size_t i = index; i-- > 0;) {
        const sl_host_range range = sl_timeline_host_range(tl, i);
        if (range.thread == in.thread && range.end_ns >= in.end_ns) return i;
    }
    return SL_NOT_FOUND;
}

/* Ranges of three threads that overlap as they like, most of them short. */
static void test_random(void)
{
    sl_timeline *tl = make();
    size_t n_wrong = 0;
    for (int i = 0; i < MANY; i++) {
        const int64_t start_ns = draw(LENGTH_NS);
        const int64_t most_ns = draw(50) == 0 ? LENGTH_NS : 20;
        add(tl, "r", SL_HOST_RANGE_NVTX, draw(3), start_ns, start_ns + draw((uint32_t)most_ns));
    }
    sl_timeline_finish(tl, 0, LENGTH_NS);
    for (int i = 0; i < 300; i++) {
        const uint32_t thread = draw(3);
        const int64_t ns = draw(2 * LENGTH_NS);
        const size_t index = draw(MANY);
        n_wrong += sl_timeline_find_host_range(tl, SL_HOST_RANGE_NVTX, thread, ns)
                   != slow_find(tl, thread, ns);
        n_wrong += sl_timeline_host_range_around(tl, index) != slow_around(tl, index);
    }
    is_int(n_wrong, 0, "look-ups agree with a search of all ranges");
    sl_timeline_release(tl);
}

/* The first of n is open all the time, behind it come n - 1 that are over. */
static double seconds_of_look_ups(int n)
{
    sl_timeline *tl = make();
    size_t n_found = 0;
    add(tl, "all", SL_HOST_RANGE_NVTX, 0, 0, INT64_C(1) << 40);
    for (int i = 1; i < n; i++)
        add(tl, "short", SL_HOST_RANGE_NVTX, 0, i, i + 1);
    sl_timeline_finish(tl, 0, 1);
    const clock_t begin = clock();
    for (int i = 0; i < 20000; i++)
        n_found += sl_timeline_find_host_range(tl, SL_HOST_RANGE_NVTX, 0, n + i) == 0;
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (n_found != 20000) must(SL_EINVAL, &(sl_error){ .msg = "an open range is not found" });
    sl_timeline_release(tl);
    return seconds;
}

static void test_growth(void)
{
    const double few = seconds_of_look_ups(2000), many = seconds_of_look_ups(512000);
    ok(many < 20 * few + 0.05, "256 times as many ranges take less than 20 times as long");
}

int main(void)
{
    test_look_up();
    test_callers();
    test_lists();
    test_refused();
    test_move();
    test_random();
    test_growth();
    return done_testing();
}
