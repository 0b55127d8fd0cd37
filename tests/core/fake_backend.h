/* fake_backend.h - a backend that does what a test tells it to.
 *
 * Operations wait in one queue until fake_complete() or a synchronise runs them;
 * the clock ticks 1000 ns a call. With fake.later their times come as activities when
 * a recording collects them, as on a real GPU. fake_fault() loses a device. What it was
 * asked, and what it holds, is in `fake`. The program has one backend list, this one's:
 * "fake", "pair" whose two devices are peers and may be ranks, "alone" the same, "checked" whose library checks captures, and "old".
 */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include <stdlib.h>
#include <string.h>

#include "../../core/backend.h"
#include "../tap.h"
#include "launch.h"

enum { FAKE_MOST_OPS = 4096 };

#define FAKE_MEMORY_BYTES ((int64_t)1 << 34) /* reported; no buffer is refused for it */

typedef struct fake_buffer {
    sl_buffer base;
    unsigned char *data;
    uint64_t magic;
} fake_buffer;
typedef struct fake_stream {
    sl_stream base;
    uint64_t magic;
} fake_stream;
typedef struct fake_event {
    sl_event base;
    uint64_t magic;
} fake_event;
typedef struct fake_op {
    sl_op base;
    uint64_t magic;
} fake_op;

extern struct fake {
    int devices, streams, events, buffers;                                  /* open */
    int fail_enqueues, fail_buffers, fail_events, fail_streams, fail_parts; /* the next ones fail */
    bool lends; /* a buffer takes its lender's memory, as far as core sees */
    int parted; /* calls of buffer_part */
    int fail_plain_calls, fail_synchronizes;
    int fail_record_begins;
    int enqueues, computes, plain_calls, synchronizes; /* calls so far */
    bool real;                                         /* devices that open are not simulated */
    int extra_devices;                                 /* besides two */
    int64_t now_ns;
    sl_op *queue[FAKE_MOST_OPS];
    int n_queue;
    sl_op *done, **done_end; /* what reap hands over */
    sl_work last_work;       /* of the last enqueue or host_compute */
    sl_operand last_side[SL_SIDES];
    sl_plain_call last_plain;
    const sl_buffer *last_plain_buffer;
    const sl_stream *last_plain_stream;
    sl_alloc_how last_how;
    int64_t buffer_open_ns, pin_ns; /* how long these take */
    bool later;                     /* times come with activities */
    int parts;                      /* of each operation: so many activities; 0: 1 */
    bool memset_parts;              /* and a long memset before them */
    int lose_activities;            /* of the next operations */
    sl_activity *activities;        /* to be collected */
    size_t n_activities, cap_activities;
    int recordings; /* begun and not ended */
    char range[32]; /* the last one's name */
    bool peer_enabled[2][2];
    int captures, captured; /* that go on; operations that were given to them */
    int graphs;             /* opened */
    int refused_with;       /* by "checked", the next call that may be: CUDA's number */
    const char *refused_call;
    bool spoiled; /* and its captures are */
    uint64_t last_target;
    int host_func_failures; /* core's function has said that it failed */
    uint32_t abi_version;
    int comms, aborted;  /* communicators that are open; that were ended with work in flight */
    int groups, grouped; /* groups enqueued; operations in the latest */
    bool has_comm_id;    /* the id that a communicator was opened with */
    int fail_comms;      /* the next ones fail */
} fake;

extern const sl_backend fake_backend; /* "fake" */

static inline int64_t fake_tick(void) { return fake.now_ns += 1000; }

/* An activity of the operation: with a symbol a kernel, otherwise a memset. */
void fake_deliver(const sl_op *op, int64_t start_ns, int64_t end_ns, const char *symbol);

/* The parts last 100, 200, ... ns, 10 ns apart. */
void fake_time_later(sl_op *op);

/* Completes the next `n` operations in issue order; they can be reaped then. */
void fake_complete(int n);

/* The device is lost, and with it what it has in flight: handed over one stream after
 * the other, the latest stream first. */
void fake_fault(sl_device *device, const char *cause);

/* ---- what tests share ------------------------------------------------------- */

TAP_UNUSED static sl_device *fake_open(void)
{
    sl_device *device = NULL;
    if (sl_device_open("fake", 0, NULL, 0, &device, NULL)) abort();
    return device;
}

/* Ends a test: the device goes, and with it everything that was ever opened. */
TAP_UNUSED static void fake_close(sl_device *device)
{
    sl_device_drain(device);
    sl_device_release(device);
    is_int(fake.devices + fake.streams + fake.events + fake.buffers, 0,
           "nothing is left open at the end");
}

TAP_UNUSED static sl_tensor *fake_tensor_2d(sl_device *device, sl_dtype dtype, sl_place place,
                                            int64_t rows, int64_t columns)
{
    sl_tensor_spec spec = { .dtype = dtype, .place = place, .ndim = 2, .dim = { rows, columns } };
    sl_tensor *tensor = NULL;
    if (sl_tensor_create(device, &spec, sl_device_default_stream(device), &tensor, NULL)) abort();
    return tensor;
}

TAP_UNUSED static sl_tensor *fake_matrix(sl_device *device, int64_t rows, int64_t columns)
{
    return fake_tensor_2d(device, SL_FLOAT32, SL_ON_DEVICE, rows, columns);
}

TAP_UNUSED static sl_device_stats fake_stats(sl_device *device)
{
    sl_device_stats stats;
    sl_device_get_stats(device, &stats);
    return stats;
}

TAP_UNUSED static sl_status fake_spin(sl_stream *stream, sl_error *err)
{
    const sl_spin_options options = { .duration_ns = 1000 };
    return sl_spin(&options, stream, err);
}

/* One check: the call failed with this status and sentence, and no advice or this. */
#define fails_with(call, want_status, ...) \
    fails_advising(call, want_status, SL_ADVICE_NONE, __VA_ARGS__)
#define fails_advising(call, want_status, want_advice, want_msg, ...)                             \
    do {                                                                                          \
        sl_error failure = { .msg = "" };                                                         \
        sl_error *err = &failure;                                                                 \
        sl_status got = (call);                                                                   \
        if (got != (want_status)) diag("got %s, expected %s", sl_status_name(got), #want_status); \
        if (failure.advice != (want_advice))                                                      \
            snprintf(failure.msg, sizeof failure.msg, "advice %d", (int)failure.advice);          \
        is_str(got == (want_status) ? failure.msg : sl_status_name(got), want_msg, __VA_ARGS__);  \
    } while (0)

#endif
