/* wait_programs.h - small programs of calls on a GPU with round figures, and what held each of their
 * operations.
 */
#ifndef TESTS_SIM_WAIT_PROGRAMS_H
#define TESTS_SIM_WAIT_PROGRAMS_H

#include "small_gpu.h"

#include "../kept.h"
#include "../tap.h"

enum { STREAMS = 5, EVENTS = 3, MOST_STEPS = 60 };
enum { GAP_NS = 7, CROSS_NS = 11, SUBMIT_NS = 13, CALL_NS = 17 };

/* ---- programs: lists of calls, each of which takes one correlation ------------------- */

typedef enum kind { SPIN, H2D, D2H, RECORD, WAIT, UNRELATED_WAIT, WORK, FUNC, SYNC } kind;

typedef struct step {
    kind kind;
    int stream;  /* 0 is the NULL stream */
    int64_t n;   /* ns (SPIN, WORK), bytes (copies), event (RECORD, WAIT) */
    int threads; /* SPIN: of its blocks */
    int64_t blocks;
    bool pageable;
} step;

typedef struct program {
    step step[MOST_STEPS];
    int n;
    bool non_blocking[STREAMS];
    int priority[STREAMS];
    small_override more[8];
    int n_more;
} program;

typedef struct rig {
    sl_device *device;
    sl_stream *stream[STREAMS];
    sl_event *event[EVENTS], *never;
    sl_tensor *host[MOST_STEPS], *gpu[MOST_STEPS]; /* of the steps that copy */
    sl_timeline *timeline;
} rig;

static inline sl_tensor *memory(rig *r, sl_place place, int64_t bytes)
{
    sl_tensor_spec spec = { .dtype = SL_UINT8, .place = place, .ndim = 1, .dim = { bytes } };
    sl_tensor *tensor = NULL;
    sl_tensor_create(r->device, &spec, r->stream[0], &tensor, NULL);
    return tensor;
}

/* Before the recording, which would number the allocations too. */
static inline void get_memory(rig *r, const program *p)
{
    for (int i = 0; i < p->n; i++) {
        const step *s = &p->step[i];
        if (s->kind != H2D && s->kind != D2H) continue;
        r->host[i] = memory(r, s->pageable ? SL_PAGEABLE : SL_PINNED, s->n);
        r->gpu[i] = memory(r, SL_ON_DEVICE, s->n);
    }
}

static inline sl_status copy(rig *r, const step *s, sl_tensor *dst, sl_tensor *src)
{
    sl_status status = sl_cuda_memcpy_async(dst, src, (size_t)s->n, r->stream[s->stream], NULL);
    sl_tensor_release(dst);
    sl_tensor_release(src);
    return status;
}

static inline bool host_func(void *ud, sl_error *err)
{
    (void)ud, (void)err;
    return true;
}

static inline sl_status take_step(rig *r, const program *p, int i)
{
    const step *s = &p->step[i];
    sl_stream *stream = r->stream[s->stream];
    sl_spin_options spin = { .duration_ns = s->n, .threads = s->threads, .blocks = s->blocks };
    switch (s->kind) {
    case SPIN: return sl_spin(&spin, stream, NULL);
    case H2D: return copy(r, s, r->gpu[i], r->host[i]);
    case D2H: return copy(r, s, r->host[i], r->gpu[i]);
    case RECORD: return sl_event_record(r->event[s->n], stream, NULL);
    case WAIT: return sl_stream_wait_event(stream, r->event[s->n], NULL);
    case UNRELATED_WAIT: return sl_stream_wait_event(stream, r->never, NULL);
    case WORK: return sl_device_host_work(r->device, s->n, NULL);
    case FUNC: return sl_stream_launch_host_func(stream, host_func, NULL, NULL, NULL);
    case SYNC: return sl_stream_synchronize(stream, NULL);
    }
    return SL_EINVAL;
}

static inline void open_rig(rig *r, const program *p)
{
    sl_error err = { 0 };
    memset(r, 0, sizeof *r);
    r->device = small_gpu_open(p->more, (size_t)p->n_more, &err);
    if (!r->device) diag("%s", err.msg);
    r->stream[0] = sl_device_default_stream(r->device);
    for (int i = 1; i < STREAMS; i++) {
        sl_stream_options options = {
            .priority = p->priority[i],
            .non_blocking = p->non_blocking[i],
        };
        sl_stream_create(r->device, &options, &r->stream[i], NULL);
    }
    for (int i = 0; i < EVENTS; i++)
        sl_event_create(r->device, i == 0, &r->event[i], NULL);
    sl_event_create(r->device, false, &r->never, NULL);
}

/* The caller releases the timeline. Correlations are step + 1. */
static inline sl_timeline *run(const program *p)
{
    rig r;
    int failed = 0;
    open_rig(&r, p);
    get_memory(&r, p);
    sl_record_start(r.device, "test", &r.timeline, NULL);
    for (int i = 0; i < p->n; i++)
        failed += take_step(&r, p, i) != SL_OK;
    failed += sl_device_synchronize(r.device, NULL) != SL_OK;
    sl_record_stop(r.device, r.timeline);
    for (int i = 1; i < STREAMS; i++)
        sl_stream_release(r.stream[i]);
    for (int i = 0; i < EVENTS; i++)
        sl_event_release(r.event[i]);
    sl_event_release(r.never);
    sl_device_drain(r.device);
    sl_device_release(r.device);
    if (failed) diag("%d of %d steps failed", failed, p->n);
    return r.timeline;
}

static const sl_hold *hold_of(const sl_timeline *timeline, int step_index)
{
    size_t n;
    const sl_hold *holds = holds_of(timeline, &n);
    for (size_t i = 0; i < n; i++)
        if (holds[i].correlation == (uint64_t)step_index + 1) return &holds[i];
    return NULL;
}

static inline int64_t start_of(const sl_timeline *timeline, int step_index)
{
    const sl_span *span = span_of(timeline, (uint64_t)step_index + 1);
    const sl_call *call = call_of(timeline, (uint64_t)step_index + 1);
    return span ? span->start_ns : call ? call->device_ns : -1;
}

#define NONE SL_CAUSE_NONE
#define LATENCY SL_CAUSE_LATENCY
#define ORDER SL_CAUSE_STREAM_ORDER
#define EVENT SL_CAUSE_EVENT
#define BARRIER SL_CAUSE_NULL_STREAM
#define CHANNEL SL_CAUSE_CHANNEL
#define ENGINE SL_CAUSE_ENGINE
#define ROOM SL_CAUSE_ROOM
#define PRIORITY SL_CAUSE_PRIORITY
#define BLOCKED SL_CAUSE_HOST_BLOCKED

/* 4 SMs of 1024 threads; full: a block on each SM that fills it. Copies run at 10 bytes/ns,
 * and so does the host between pageable memory and 2 staging buffers of 1 MB. */
#define FULL .threads = 1024, .blocks = 4
#define FREE .non_blocking = { true, true, true, true, true }
#define GAP                           \
    {                                 \
        "stream_gap_us", GAP_NS / 1e3 \
    }
#define CROSS                             \
    {                                     \
        "cross_stream_us", CROSS_NS / 1e3 \
    }

#endif
