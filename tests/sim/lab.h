/* lab.h - one experiment on the small GPU: operations in a few streams that do not wait for the
 * NULL stream, recorded, and the times that they got. Operations are numbered from 0 in the
 * order of their calls, records and waits among them. */
#ifndef SIM_LAB_H
#define SIM_LAB_H

#include <stdlib.h>

#include "small_gpu.h"

#include "../core/launch.h"
#include "../kept.h"
#include "../tap.h"

enum { LAB_STREAMS = 24, LAB_EVENTS = 4, LAB_MOST_TENSORS = 128 };

typedef struct lab {
    sl_device *device;
    sl_stream *stream[LAB_STREAMS]; /* 0: the NULL stream; by the order of creation */
    sl_event *event[LAB_EVENTS], *timed;
    sl_tensor *tensor[LAB_MOST_TENSORS];
    int n_tensors, failed;
    sl_timeline *timeline;
} lab;

typedef struct lab_setup {
    const small_override *more;
    size_t n_more;
    const sl_setting *tables;
    size_t n_tables;
    bool blocking; /* streams that the NULL stream's rules are for */
} lab_setup;

#define LAB_MORE(...)                                \
    .more = (const small_override[]){ __VA_ARGS__ }, \
    .n_more = sizeof((const small_override[]){ __VA_ARGS__ }) / sizeof(small_override)
#define LAB_TABLES(...)                            \
    .tables = (const sl_setting[]){ __VA_ARGS__ }, \
    .n_tables = sizeof((const sl_setting[]){ __VA_ARGS__ }) / sizeof(sl_setting)
#define LAB_TABLE(name, numbers)                              \
    {                                                         \
        name, numbers, sizeof numbers / sizeof *numbers, NULL \
    }

static void lab_open(lab *l, const lab_setup *setup)
{
    sl_error err = { 0 };
    memset(l, 0, sizeof *l);
    l->device = small_gpu_open_with(setup->more, setup->n_more, setup->tables, setup->n_tables,
                                    &err);
    if (!l->device) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
    l->stream[0] = sl_device_default_stream(l->device);
    for (int i = 1; i < LAB_STREAMS; i++) {
        sl_stream_options options = { .non_blocking = !setup->blocking };
        l->failed += sl_stream_create(l->device, &options, &l->stream[i], NULL) != SL_OK;
    }
    for (int i = 0; i < LAB_EVENTS; i++)
        l->failed += sl_event_create(l->device, false, &l->event[i], NULL) != SL_OK;
    l->failed += sl_event_create(l->device, true, &l->timed, NULL) != SL_OK;
    l->failed += sl_record_start(l->device, "test", &l->timeline, NULL) != SL_OK;
}

/* Ends the experiment; from here on its timeline is there to be read. */
static void lab_end(lab *l)
{
    l->failed += sl_device_synchronize(l->device, NULL) != SL_OK;
    sl_record_stop(l->device, l->timeline);
    is_int(l->failed, 0, "all calls succeed");
}

static void lab_close(lab *l)
{
    sl_timeline_release(l->timeline);
    for (int i = 0; i < l->n_tensors; i++)
        sl_tensor_release(l->tensor[i]);
    for (int i = 1; i < LAB_STREAMS; i++)
        sl_stream_release(l->stream[i]);
    for (int i = 0; i < LAB_EVENTS; i++)
        sl_event_release(l->event[i]);
    sl_event_release(l->timed);
    sl_device_drain(l->device);
    sl_device_release(l->device);
}

/* ---- operations ---- */

static inline sl_tensor *lab_tensor(lab *l, sl_place place, sl_dtype dtype, int64_t rows,
                                    int64_t columns)
{
    sl_tensor_spec spec = { .dtype = dtype, .place = place, .ndim = 2, .dim = { rows, columns } };
    sl_tensor *tensor = NULL;
    l->failed += sl_tensor_create(l->device, &spec, l->stream[0], &tensor, NULL) != SL_OK;
    l->tensor[l->n_tensors++] = tensor;
    return tensor;
}

static inline sl_tensor *lab_bytes(lab *l, sl_place place, int64_t n)
{
    return lab_tensor(l, place, SL_UINT8, 1, n);
}

static inline void lab_spin_blocks(lab *l, int stream, int64_t ns, int64_t blocks, int64_t threads)
{
    sl_spin_options options = { .duration_ns = ns, .blocks = blocks, .threads = threads };
    l->failed += sl_spin(&options, l->stream[stream], NULL) != SL_OK;
}

static inline void lab_spin(lab *l, int stream, int64_t ns)
{
    lab_spin_blocks(l, stream, ns, 1, 32);
}

static inline void lab_copy(lab *l, int stream, sl_tensor *dst, sl_tensor *src, int64_t n)
{
    l->failed += sl_cuda_memcpy_async(dst, src, (size_t)n, l->stream[stream], NULL) != SL_OK;
}

/* From and to pinned memory. */
static inline void lab_h2d(lab *l, int stream, int64_t n)
{
    lab_copy(l, stream, lab_bytes(l, SL_ON_DEVICE, n), lab_bytes(l, SL_PINNED, n), n);
}

static inline void lab_d2h(lab *l, int stream, int64_t n)
{
    lab_copy(l, stream, lab_bytes(l, SL_PINNED, n), lab_bytes(l, SL_ON_DEVICE, n), n);
}

static inline void lab_record(lab *l, int stream, sl_event *event)
{
    l->failed += sl_event_record(event, l->stream[stream], NULL) != SL_OK;
}

static inline void lab_wait(lab *l, int stream, sl_event *event)
{
    l->failed += sl_stream_wait_event(l->stream[stream], event, NULL) != SL_OK;
}

static inline void lab_host_work(lab *l, int64_t ns)
{
    l->failed += sl_device_host_work(l->device, ns, NULL) != SL_OK;
}

/* ---- what came of them ---- */

/* The `i`th span, in the order of the calls: records and waits are none. */
static inline const sl_span *lab_span(const lab *l, size_t i)
{
    size_t n;
    const sl_span *span = spans_of(l->timeline, &n);
    if (i >= n) {
        printf("Bail out! there is no span %zu of %zu\n", i, n);
        exit(1);
    }
    return &span[i];
}

static inline int64_t lab_ns(const lab *l, size_t i)
{
    return lab_span(l, i)->end_ns - lab_span(l, i)->start_ns;
}

static inline void lab_starts(const lab *l, const int64_t *start_ns, size_t n, const char *name)
{
    bool right = true;
    for (size_t i = 0; i < n; i++) {
        if (lab_span(l, i)->start_ns != start_ns[i])
            diag("span %zu starts at %lld ns, expected %lld", i,
                 (long long)lab_span(l, i)->start_ns, (long long)start_ns[i]);
        right = right && lab_span(l, i)->start_ns == start_ns[i];
    }
    ok(right, "%s", name);
}

/* The spans' starts in ns. */
#define LAB_STARTS(l, name, ...)                    \
    lab_starts(l, (const int64_t[]){ __VA_ARGS__ }, \
               sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), name)

#endif
