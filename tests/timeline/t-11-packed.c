/* Spans, calls and what held them come out of the packed store as they went in. */
#include "make.h"

#include "../../core/timeline/packed.h"
#include "../../core/timeline/store.h"

#define LARGEST ((int64_t)UINT32_MAX) /* of a packed difference */

static sl__packed_list new_list(size_t words)
{
    return (sl__packed_list){ .shared.more = words - 1 };
}

static bool is_same_span(const sl_span *a, const sl_span *b)
{
    return a->start_ns == b->start_ns && a->end_ns == b->end_ns
           && a->host_start_ns == b->host_start_ns && a->host_end_ns == b->host_end_ns
           && a->correlation == b->correlation && a->bytes == b->bytes && a->stream == b->stream
           && a->name == b->name && a->where == b->where && a->symbol == b->symbol
           && a->blocks == b->blocks && a->shared_bytes == b->shared_bytes
           && a->threads == b->threads && a->registers == b->registers && a->kind == b->kind
           && a->engine == b->engine && a->flags == b->flags && a->kernels == b->kernels
           && a->kernels_after == b->kernels_after;
}

static bool is_same_call(const sl_call *a, const sl_call *b)
{
    return a->host_start_ns == b->host_start_ns && a->host_end_ns == b->host_end_ns
           && a->device_ns == b->device_ns && a->correlation == b->correlation
           && a->target == b->target && a->stream == b->stream
           && a->target_stream == b->target_stream && a->name == b->name && a->where == b->where
           && a->kind == b->kind && a->waited_for_device == b->waited_for_device
           && a->queue_full == b->queue_full;
}

static bool is_same_hold(const sl_hold *a, const sl_hold *b)
{
    return a->correlation == b->correlation && a->ready_ns == b->ready_ns
           && a->ready_by == b->ready_by && a->start_by == b->start_by
           && a->ready_cause == b->ready_cause && a->start_cause == b->start_cause;
}

/* Every member differs from every other one. */
static const sl_span ordinary = {
    .start_ns = 5200,
    .end_ns = 7000,
    .host_start_ns = 1000,
    .host_end_ns = 3100,
    .correlation = 77,
    .bytes = UINT64_C(0x0102030405060708),
    .stream = UINT32_MAX,
    .name = 11,
    .where = 12,
    .symbol = 13,
    .blocks = 4000000000,
    .shared_bytes = 49152,
    .threads = 1024,
    .registers = 255,
    .kind = SL_SPAN_MEMCPY_P2P,
    .engine = SL_ENGINE_COPY,
    .flags = SL_SPAN_GUESSED | SL_SPAN_LOADED,
    .kernels = 15,
    .kernels_after = 6,
};

static const sl_call ordinary_call = {
    .host_start_ns = 1000,
    .host_end_ns = 1800,
    .device_ns = 2500,
    .correlation = 90,
    .target = 41,
    .stream = 7,
    .target_stream = UINT32_MAX,
    .name = 3,
    .where = 9,
    .kind = SL_CALL_STREAM_WAIT,
    .waited_for_device = 1,
    .queue_full = 1,
};

/* ---- spans ---- */

/* Whether it needed to be kept beside; `same`: it came back as it was. */
static bool is_unpacked(const sl_span *span, bool *same)
{
    sl__packed_list list = new_list(SL__SPAN_WORDS);
    *same = sl__packed_add_span(&list, span);
    if (!*same) return false;
    sl_span back = sl__packed_span(&list, 0);
    size_t n_unpacked = list.n_unpacked;
    *same = is_same_span(&back, span);
    sl__packed_free(&list);
    return n_unpacked > 0;
}

static void test_spans(void)
{
    const int64_t latest = SL__TIME_LIMIT_NS - 1;
    const struct {
        const char *name;
        int64_t start_ns, end_ns, host_start_ns, host_end_ns;
        bool unpacked;
    } cases[] = {
        { "an ordinary one", 5200, 7000, 1000, 3100, false },
        { "one that takes no time", 1000, 1000, 1000, 1000, false },
        { "one at zero, before its call", 0, 5, 1000, 1001, false },
        { "one without times", SL__UNTIMED, SL__UNTIMED, 1000, 1001, false },
        { "one of 2^32 - 1 ns", 10, 10 + LARGEST, 3, 4, false },
        { "one of 2^32 ns", 10, 11 + LARGEST, 3, 4, true },
        { "one 2^32 - 1 ns behind its call", 1 + LARGEST, 1 + LARGEST, 1, 4, false },
        { "one 2^32 ns behind its call", 2 + LARGEST, 2 + LARGEST, 1, 4, true },
        { "one whose call takes 2^32 - 1 ns", 10, 20, 3, 3 + LARGEST, false },
        { "one whose call takes 2^32 ns", 10, 20, 3, 4 + LARGEST, true },
        { "one that starts before its call", 999, 2000, 1000, 1001, true },
        { "one far before the host's clock", -latest, -latest + 7, 50, 60, true },
        { "one whose call was years ago", latest - 7, latest, -latest, 1 - latest, true },
        { "one before the beginning of time", -500, -300, -900, -800, false },
        { "one that ends before it starts", 700, 650, 100, 110, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sl_span span = ordinary;
        bool same;
        span.start_ns = cases[i].start_ns;
        span.end_ns = cases[i].end_ns;
        span.host_start_ns = cases[i].host_start_ns;
        span.host_end_ns = cases[i].host_end_ns;
        bool unpacked = is_unpacked(&span, &same);
        ok(same && unpacked == cases[i].unpacked, "%s comes back%s", cases[i].name,
           cases[i].unpacked ? ", kept beside" : "");
    }
}

static void test_shared(void)
{
    sl__packed_list list = new_list(SL__SPAN_WORDS);
    bool same = true;
    for (uint64_t i = 0; i < 1000; i++) {
        sl_span span = { .correlation = i + 1, .name = i % 3 == 0, .kernels = i % 2 };
        if (!sl__packed_add_span(&list, &span)) abort();
    }
    for (uint64_t i = 0; i < 1000; i++) {
        sl_span back = sl__packed_span(&list, i);
        same &= back.correlation == i + 1 && back.name == (i % 3 == 0) && back.kernels == i % 2;
    }
    ok(same, "each of a thousand spans has its name");
    is_int(list.shared.n, 4, "two names and two numbers of kernels are four kinds of attributes");
    sl__packed_trim(&list);
    is_int(list.cap, 1000, "no room is left behind those of a finished timeline");
    sl_span back = sl__packed_span(&list, 999);
    is_int(back.name, 1, "and they are still there");
    sl__packed_free(&list);
}

static void test_changes(void)
{
    sl__packed_list list = new_list(SL__SPAN_WORDS);
    sl_span span = ordinary, back;
    sl_hold hold = { .correlation = 77, .ready_ns = 5000, .ready_by = 70, .ready_cause = 2 }, held;
    span.start_ns = span.end_ns = SL__UNTIMED;
    if (!sl__packed_add_span(&list, &span) || !sl__packed_set_hold(&list, 0, &hold)) abort();
    span.start_ns = 5200;
    span.end_ns = 7000;
    span.symbol = 99;
    ok(sl__packed_set_span(&list, 0, &span), "a span gets its times later");
    back = sl__packed_span(&list, 0);
    ok(is_same_span(&back, &span) && list.n_unpacked == 0, "it has them, and its symbol");
    ok(sl__packed_hold(&list, 0, &held) && is_same_hold(&held, &hold), "what held it stays");
    for (int i = 0; i < 3; i++) {
        span.end_ns = LARGEST * 10 + i;
        if (!sl__packed_set_span(&list, 0, &span)) abort();
    }
    back = sl__packed_span(&list, 0);
    ok(is_same_span(&back, &span), "it may become a long one");
    is_int(list.n_unpacked, 1, "which is kept beside once, however often it changes");
    ok(sl__packed_hold(&list, 0, &held) && is_same_hold(&held, &hold), "with what held it");
    if (!sl__packed_set_span(&list, 0, &ordinary)) abort();
    back = sl__packed_span(&list, 0);
    ok(is_same_span(&back, &ordinary), "and a short one again");
    ok(sl__packed_hold(&list, 0, &held) && is_same_hold(&held, &hold), "still with what held it");
    sl__packed_free(&list);
}

/* ---- calls ---- */

static void test_calls(void)
{
    const struct {
        const char *name;
        uint64_t correlation, target;
        int64_t device_ns;
        bool unpacked;
    } cases[] = {
        { "an ordinary call", 90, 41, 2500, false },
        { "one without a target", 90, 0, 2500, false },
        { "one that the device never reaches", 90, 41, 0, false },
        { "one without its time", 90, 41, SL__UNTIMED, false },
        { "one that is its own target", 90, 90, 2500, false },
        { "one with a later target", 90, 91, 2500, true },
        { "one with a target 2^32 - 1 before", UINT64_C(1) << 32, 1, 2500, false },
        { "one with a target 2^32 before", (UINT64_C(1) << 32) + 1, 1, 2500, true },
        { "one with the largest number", UINT64_MAX, 1, 2500, true },
        { "one with the largest numbers", UINT64_MAX, UINT64_MAX - 1, 2500, false },
        { "one that the device reached before", 90, 41, 999, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sl__packed_list list = new_list(SL__CALL_WORDS);
        sl_call call = ordinary_call;
        call.correlation = cases[i].correlation;
        call.target = cases[i].target;
        call.device_ns = cases[i].device_ns;
        if (!sl__packed_add_call(&list, &call)) abort();
        sl_call back = sl__packed_call(&list, 0);
        ok(is_same_call(&back, &call) && (list.n_unpacked > 0) == cases[i].unpacked,
           "%s comes back%s", cases[i].name, cases[i].unpacked ? ", kept beside" : "");
        sl__packed_free(&list);
    }
}

/* What lies between the members of a struct must not make other attributes of it. */
static void test_gaps(void)
{
    sl__packed_list list = new_list(SL__CALL_WORDS);
    for (int i = 0; i < 3; i++) {
        sl_call call;
        memset(&call, 0x55 * i, sizeof call);
        call.host_start_ns = call.host_end_ns = call.device_ns = 0;
        call.correlation = call.target = 1;
        call.stream = call.target_stream = call.name = call.where = 0;
        call.kind = call.waited_for_device = call.queue_full = 0;
        if (!sl__packed_add_call(&list, &call)) abort();
    }
    is_int(list.shared.n, 1, "calls that are alike share their attributes");
    sl__packed_free(&list);
}

/* ---- what held them ---- */

static void test_holds(void)
{
    const uint64_t far = UINT64_C(1) << 40;
    const struct {
        const char *name;
        sl_hold hold;
        bool unpacked;
    } cases[] = {
        { "a hold by nobody", { 0, 5000, 0, 0, 1, 0 }, false },
        { "one by earlier ones", { 0, 5000, far - 3, far - 2, 3, 7 }, false },
        { "one whose start a later one list", { 0, 5000, far - 3, far + 5, 3, 7 }, false },
        { "one by what came 2^32 - 1 before", { 0, 5000, far - UINT32_MAX, 0, 3, 7 }, false },
        { "one by what came 2^32 before", { 0, 5000, far - UINT32_MAX - 1, 0, 3, 7 }, true },
        { "one by the first of all", { 0, 5000, 1, 1, 3, 7 }, true },
        { "a start list by what came 2^31 - 1 before",
          { 0, 5000, 0, far - INT32_MAX, 3, 7 },
          false },
        { "a start list by what came 2^31 before",
          { 0, 5000, 0, far - INT32_MAX - 1, 3, 7 },
          true },
        { "a start list by what comes 2^31 later",
          { 0, 5000, 0, far + INT32_MAX + 1, 3, 7 },
          false },
        { "a start list by what comes 2^31 + 1 later",
          { 0, 5000, 0, far + INT32_MAX + 2, 3, 7 },
          true },
        { "a start that list itself", { 0, 5000, 0, far, 3, 7 }, true },
        { "one that was ready before its call", { 0, 999, far - 3, 0, 3, 7 }, true },
        { "one that was ready 2^32 ns later", { 0, 1001 + LARGEST, 0, 0, 3, 7 }, true },
    };
    sl_span span = ordinary;
    span.correlation = far;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sl__packed_list list = new_list(SL__SPAN_WORDS);
        sl_hold hold = cases[i].hold, held;
        hold.correlation = far;
        if (!sl__packed_add_span(&list, &span) || !sl__packed_set_hold(&list, 0, &hold)) abort();
        sl_span back = sl__packed_span(&list, 0);
        ok(sl__packed_hold(&list, 0, &held) && is_same_hold(&held, &hold)
               && is_same_span(&back, &span) && (list.n_unpacked > 0) == cases[i].unpacked,
           "%s comes back%s", cases[i].name, cases[i].unpacked ? ", kept beside" : "");
        sl__packed_free(&list);
    }
}

/* Those of operations that are not there yet, and of none at all. */
static void test_joining(void)
{
    const uint64_t order[] = { 9, 2, 7, 4 };
    const sl_hold early = { .correlation = 7, .ready_ns = 70, .ready_by = 2, .ready_cause = 2 };
    const sl_hold second = { .correlation = 2, .ready_ns = 71, .ready_cause = 1 };
    const sl_hold nobodys = { .correlation = 5, .ready_ns = 50, .ready_cause = 1 };
    sl_timeline *tl = make();
    sl_hold held;
    sl_error err;
    size_t n;
    must(sl_timeline_add_hold(tl, &early, &err), &err);
    must(sl_timeline_add_hold(tl, &nobodys, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        issued = order[i] - 1;
        if (order[i] == 4)
            call(tl, SL_CALL_EVENT_RECORD, 1, 0, 0);
        else
            span(tl, 1, SL_SPAN_KERNEL, 100, 200);
        sl_hold hold = { .correlation = issued, .ready_ns = (int64_t)issued, .ready_cause = 3 };
        if (issued != 7) must(sl_timeline_add_hold(tl, &hold, &err), &err);
    }
    must(sl_timeline_add_hold(tl, &second, &err), &err);
    sl_timeline_finish(tl, 0, 1000);
    const sl_hold *holds = holds_of(tl, &n);
    is_int(n, 4, "what held no operation of the timeline is dropped");
    ok(holds[0].correlation == 2 && holds[1].correlation == 4 && holds[1].ready_ns == 4
           && holds[2].correlation == 7 && holds[3].correlation == 9 && holds[3].ready_ns == 9,
       "each of the others has its own, spans as well as calls");
    ok(sl_timeline_find_hold(tl, 7, &held) && held.ready_ns == 70 && held.ready_by == 2,
       "also one that came before its operation");
    ok(sl_timeline_find_hold(tl, 2, &held) && held.ready_ns == 2, "a second one has no effect");
    ok(!sl_timeline_find_hold(tl, 5, &held) && !sl_timeline_find_hold(tl, 8, &held),
       "what is not there was held by nothing");
    sl_timeline_release(tl);
}

/* ---- order ---- */

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* The i-th of n when those in groups of `group` come backwards. */
static uint64_t backwards(uint64_t i, uint64_t n, uint64_t group)
{
    uint64_t first = i / group * group, size = n - first < group ? n - first : group;
    return first + size - 1 - (i - first);
}

static void test_order(void)
{
    static const uint64_t groups[] = { 1, 2, 1000, 30000, 40000, 150001 };
    const uint64_t n = 150001;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        sl__packed_list list = new_list(SL__SPAN_WORDS);
        bool sorted = true;
        for (uint64_t i = 0; i < n; i++) {
            uint64_t number = backwards(i, n, groups[g]) + 1;
            /* some of them unpacked, which sorting must not confuse */
            int64_t end_ns = (int64_t)number * 10 + (number % 1000 == 0 ? LARGEST + 1 : 0);
            sl_span span = { .correlation = number, .name = (uint32_t)(number % 7) };
            span.end_ns = end_ns;
            if (!sl__packed_add_span(&list, &span)) abort();
        }
        sl__packed_sort(&list);
        for (uint64_t i = 0; i < n; i++) {
            sl_span span = sl__packed_span(&list, i);
            int64_t end_ns = (int64_t)(i + 1) * 10 + ((i + 1) % 1000 == 0 ? LARGEST + 1 : 0);
            sorted &= span.correlation == i + 1 && span.name == (i + 1) % 7
                      && span.end_ns == end_ns;
        }
        ok(sorted, "spans are put in order that come in groups of %d backwards", (int)groups[g]);
        ok(sl__packed_find(&list, 1) == 0 && sl__packed_find(&list, n) == n - 1
               && sl__packed_find(&list, 0) == SL_NOT_FOUND
               && sl__packed_find(&list, n + 1) == SL_NOT_FOUND,
           "and are found by their numbers");
        sl__packed_free(&list);
    }
}

/* ---- anything ---- */

/* Often at an edge. */
static uint64_t draw_number(uint64_t *state)
{
    static const uint64_t edges[] = { 0,          1,
                                      INT32_MAX,  (uint64_t)INT32_MAX + 1,
                                      UINT32_MAX, (uint64_t)UINT32_MAX + 1,
                                      INT64_MAX,  (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX };
    uint64_t choice = draw(state) % 16;
    if (choice < sizeof edges / sizeof *edges) return edges[choice];
    return draw(state) >> draw(state) % 64;
}

static void draw_span(uint64_t *state, sl_span *span)
{
    *span = ordinary;
    span->correlation = draw_number(state);
    span->start_ns = (int64_t)draw_number(state);
    span->end_ns = (int64_t)draw_number(state);
    span->host_start_ns = (int64_t)draw_number(state);
    span->host_end_ns = (int64_t)draw_number(state);
    span->bytes = draw_number(state) % 5;
}

static void draw_hold(uint64_t *state, uint64_t correlation, sl_hold *hold)
{
    uint64_t ready_by = draw_number(state);
    *hold = (sl_hold){
        .correlation = correlation,
        .ready_ns = (int64_t)draw_number(state),
        .ready_by = ready_by < correlation ? ready_by : 0,
        .start_by = draw_number(state),
        .ready_cause = (uint8_t)draw(state),
        .start_cause = (uint8_t)draw(state),
    };
}

static void test_anything(void)
{
    enum { ROUNDS = 100000 };
    uint64_t state = 88172645463325252;
    sl__packed_list spans = new_list(SL__SPAN_WORDS), calls = new_list(SL__CALL_WORDS);
    int n_good = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        sl_call call = ordinary_call, call_back;
        sl_span span, span_back;
        sl_hold hold, held;
        draw_span(&state, &span);
        draw_hold(&state, span.correlation, &hold);
        call.host_start_ns = span.host_start_ns;
        call.host_end_ns = span.host_end_ns;
        call.device_ns = span.start_ns;
        call.correlation = span.correlation;
        call.target = draw_number(&state);
        if (!sl__packed_add_span(&spans, &span) || !sl__packed_set_hold(&spans, i, &hold)
            || !sl__packed_add_call(&calls, &call))
            abort();
        span_back = sl__packed_span(&spans, i);
        call_back = sl__packed_call(&calls, i);
        n_good += is_same_span(&span, &span_back) && is_same_call(&call, &call_back)
                  && sl__packed_hold(&spans, i, &held) && is_same_hold(&hold, &held)
                  && !sl__packed_hold(&calls, i, &held);
    }
    is_int(n_good, ROUNDS, "whatever goes in comes out");
    ok(spans.n_unpacked > ROUNDS / 2 && spans.n_unpacked < ROUNDS, "from both sides of the edge");
    sl__packed_free(&spans);
    sl__packed_free(&calls);
}

/* A graph of 10 nodes is launched 100 times, from two threads in turn. */
static void test_nodes(void)
{
    enum { NODES = 10, LAUNCHES = 100 };
    sl__packed_list list = new_list(SL__SPAN_WORDS);
    bool same = true;
    for (uint64_t i = 0; i < NODES * LAUNCHES; i++) {
        const uint64_t launch = 1 + i / NODES * (NODES + 1);
        const sl_span span = { .correlation = launch + 1 + i % NODES, .name = 7 };
        const sl_node_note node = { span.correlation, launch, 3, (uint32_t)(i % NODES), -1 };
        if (!sl__packed_add_span(&list, &span) || !sl__packed_set_node(&list, i, &node)
            || !sl__packed_set_thread(&list, i, (uint32_t)(i / NODES % 2)))
            abort();
    }
    for (uint64_t i = 0; i < NODES * LAUNCHES; i++) {
        const uint64_t launch = 1 + i / NODES * (NODES + 1);
        sl_node_note node;
        same &= sl__packed_node(&list, i, &node) && node.correlation == launch + 1 + i % NODES
                && node.launch == launch && node.graph == 3 && node.node == i % NODES
                && node.priority == -1 && sl__packed_thread(&list, i) == i / NODES % 2
                && sl__packed_span(&list, i).name == 7;
    }
    ok(same, "each of a thousand spans has its node, its launch and its thread");
    is_int(list.shared.n, 1 + 2 * NODES,
           "which launches of a thread share: the record has no more bytes");
    sl__packed_free(&list);
}

static void test_what_stays(void)
{
    sl__packed_list spans = new_list(SL__SPAN_WORDS), calls = new_list(SL__CALL_WORDS);
    const sl_node_note foreign = { .correlation = ordinary.correlation, .graph = 4, .node = 2 };
    sl_span span = ordinary;
    sl_call call = { .correlation = 5, .name = 3 }, back;
    sl_node_note node;
    if (!sl__packed_add_span(&spans, &span) || !sl__packed_add_call(&calls, &call)) abort();
    ok(!sl__packed_node(&spans, 0, &node), "a span that no graph ran is no node");
    is_int(sl__packed_thread(&spans, 0), 0, "the first thread made its call");
    if (!sl__packed_set_node(&spans, 0, &foreign) || !sl__packed_set_thread(&spans, 0, 9)
        || !sl__packed_set_thread(&calls, 0, 999999))
        abort();
    span.end_ns += 10 * LARGEST;
    call.name = 8;
    if (!sl__packed_set_span(&spans, 0, &span) || !sl__packed_set_call(&calls, 0, &call)) abort();
    ok(sl__packed_node(&spans, 0, &node) && node.graph == 4 && node.node == 2 && node.launch == 0,
       "a span that is set stays the node that it was, of a launch that is not known");
    is_int(sl__packed_thread(&spans, 0), 9, "and its call stays its thread's");
    back = sl__packed_call(&calls, 0);
    ok(is_same_call(&back, &call) && sl__packed_thread(&calls, 0) == 999999,
       "a call that is set, too");
    sl__packed_free(&spans);
    sl__packed_free(&calls);
}

int main(void)
{
    plan(0);
    test_spans();
    test_shared();
    test_changes();
    test_calls();
    test_gaps();
    test_holds();
    test_joining();
    test_order();
    test_anything();
    test_nodes();
    test_what_stays();
    return done_testing();
}
