/* device.h - the core's own part of a device: pools, names, counters, and how calls of the core
 * begin and end: they check the device, reap (retire what has completed) and settle (report errors
 * that are pending).
 *
 * References to a device: the user's, and one for each live user stream, event,
 * buffer and tensor. The NULL stream and the per-thread stream belong to the
 * device and hold no reference to it; who retains one of them retains the
 * device instead. A user stream that is current makes a circle, which
 * sl_device_drain breaks by making the NULL stream current again.
 */
#ifndef SL_DEVICE_H
#define SL_DEVICE_H

#include "activity.h"
#include "backend.h"
#include "base.h"
#include "fault.h"
#include "launch_form.h"
#include "table.h"
#include "text/strings.h"

/* The backends of this build, ended by NULL (core/backends.c). */
extern const sl_backend *const sl__backends[];

/* The backend of the plugin streamlab_<name>.so. It is looked for once: in the file that
 * $STREAMLAB_CUDA_PLUGIN names, if it is set ("" and "none": no plugin), else beside the
 * running program or module, and in ../lib/streamlab from there. A plugin stays loaded,
 * and a refusal stays one: the same sentence every time. SL_ENOTFOUND: there is none;
 * SL_EUNSUPPORTED: it is there and of no use. */
sl_status sl__plugin_backend(const char *name, const sl_backend **backend, sl_error *err);

/* What control groups allow this process: the least of a group that the process is in, or one
 * around it; INFINITY: no limit. `root` stands before all paths, for tests; "" is the system.
 * (core/host_limits.c) */
double sl__group_memory_bytes(const char *root);
double sl__group_processors(const char *root);

struct sl__op_chunk;
struct sl__recording;

/* What the devices of a machine share: a counter, so that a number means one operation, and which
 * devices they are. */
typedef struct sl__numbers {
    uint64_t last_seq;
    int32_t refs;
    sl_device *devices;  /* that are open, by sl__device_core.beside, in order of their index */
    sl_threads *threads; /* of the host; NULL: one so far */
} sl__numbers;

/* What every operation uses comes first: two cache lines. */
typedef struct sl__device_core {
    sl_op *free_ops;                  /* the pool of operations (core/op_pool.c) */
    struct sl__numbers *numbers;      /* of operations and recorded calls; held */
    uint32_t where;                   /* text id */
    uint32_t thread;                  /* number of the host's thread that runs */
    uint64_t drops;                   /* and moves, of tensors' memory (core/launch_form.h) */
    struct sl__capture *captures;     /* that go on (core/graph/capture.h) */
    struct sl__recording *recordings; /* active ones, the latest first (core/record.c) */
    sl_stream *legacy,
        *per_thread;    /* owned; per_thread is that of the thread of the host that runs,
                                       * NULL until it is used */
    sl_stream *current; /* counted when it is a user stream */
    sl_device_stats stats;
    sl_error pending; /* what settle reports next; status 0: nothing */
    int more_pending; /* how many failures after it were not kept */
    bool in_group;    /* scratch of one count of a group's devices */
    bool draining;    /* host functions are skipped */
    sl__fault fault;  /* of a lost device (core/fault.h) */

    sl_stream *per_threads; /* of all threads, by sl_stream.next_own */
    sl_buffer *buffers;     /* all that are live */
    sl_device *beside;      /* the next one of the machine, or NULL */
    struct sl__op_chunk *op_chunks;
    uint64_t last_buffer_id, last_tensor_id;
    uint32_t last_stream_id, last_graph_id;
    sl_graph *graphs; /* all that are live */
    struct {          /* of the latest call that captures may forbid (core/graph/capture_rules.c) */
        const char *call;
        const sl_stream *stream; /* that it names, while it is open, or NULL */
    } latest_call;
    int cublas_handles; /* of cublasCreate, not destroyed yet */
    sl__strings strings;
    sl__table meetings;        /* of communicators whose first rank is here (core/comm/meeting.c) */
    sl__activities activities; /* what the backend delivered while one is active */
    uint32_t span_names[SL_KERNELS][SL_DTYPES + 1]; /* text ids, 0: not interned yet */
    uint32_t copy_names[SL_SPAN_KINDS][3][3];
    uint32_t memset_name;
    sl_pressure_hook pressure_hook;
    void *pressure_ud;
    sl__launch_form forms[SL__LAUNCH_FORMS]; /* by the output's address */
} sl__device_core;

/* Into the pool. */
static inline void sl__op_put_back(sl_device *device, sl_op *op)
{
    op->next = device->core->free_ops;
    device->core->free_ops = op;
}

/* sl_stream_name, for files that core/stream.c depends on. */
static inline const char *sl__stream_name(const sl_stream *stream)
{
    return sl__strings_text(&stream->device->core->strings, stream->name);
}

/* How many host functions are running on this thread, of any device, one inside the other. While
 * there is one, no device may be called: a backend may be in the middle of an operation
 * (core/pending.c). */
extern _Thread_local int sl__host_func_depth;

/* The flag of sl_interrupt and sl_leave, for sl_device.interrupted (core/interrupt.c). */
const volatile sig_atomic_t *sl__interrupt_flag(void);

/* For sl_device.fail_wait (core/endless_wait.c). */
sl_status sl__wait_value_fail(const sl_op *op, uint32_t found, sl_error *err);

/* Frees a device that the backend has closed, or never opened. */
void sl__device_deallocate(sl_device *device);

/* Checks before every call that reaches the backend: the device is open and not lost, and no host
 * function is running. `what` names the call. In line, since nearly always all is well; with
 * threads, others may come first. */
static inline bool sl__device_is_ready(const sl_device *device)
{
    return !sl__host_func_depth && !device->fault.status && !device->threads;
}
sl_status sl__device_enter_slowly(sl_device *device, const char *what, sl_error *err);
static inline sl_status sl__device_enter(sl_device *device, const char *what, sl_error *err)
{
    return device && sl__device_is_ready(device) ? SL_OK
                                                 : sl__device_enter_slowly(device, what, err);
}

/* The same for calls that also work on a lost device: those that release something. */
sl_status sl__device_enter_lost(sl_device *device, const char *what, sl_error *err);

/* Retires whatever has completed. Does nothing inside a host function, where
 * the backend is in the middle of its work. */
void sl__device_reap(sl_device *device);

/* The end of a call that has used the backend: reaps, then reports, once, what went wrong meanwhile
 * (a host function that failed, a recording that ran out of memory, the loss of the device). The
 * call itself has succeeded. */
sl_status sl__device_settle(sl_device *device, sl_error *err);

/* Reaps and returns `status`. After a failure of a lost device `err` says which operations were in
 * flight; after SL_EINTERRUPT the interrupt flag is cleared. For calls that return something: they
 * must not fail with the error of another call. */
sl_status sl__device_leave(sl_device *device, sl_status status, sl_error *err);

/* settle after a success, leave after a failure. */
sl_status sl__device_finish(sl_device *device, sl_status status, sl_error *err);

/* Keeps an error for the next settle to report. Of several the first is kept, the others are
 * counted. */
void sl__device_fail_later(sl_device *device, sl_status status, const char *msg);

/* The error that was kept, which is then no longer pending. There is one. */
sl_status sl__device_take_pending(sl_device *device, sl_error *err);

/* Whether two devices can copy to each other and wait for each other's events. */
bool sl__device_are_peers(const sl_device *a, const sl_device *b);

/* SL_EDEVICE with both devices, unless `device` is `other`. The two nouns are
 * the object of each ("a", "the stream"). */
sl_status sl__device_differs(const sl_device *device, const char *noun, const sl_device *other,
                             const char *other_noun, sl_error *err);
static inline sl_status sl__device_check_same(const sl_device *device, const char *noun,
                                              const sl_device *other, const char *other_noun,
                                              sl_error *err)
{
    return device == other ? SL_OK : sl__device_differs(device, noun, other, other_noun, err);
}

#endif
