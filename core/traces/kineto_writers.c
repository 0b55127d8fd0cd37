/* kineto_writers.c - files of other programs that users take for traces, and what they are.
 *
 * Each is known by what is in it: the first bytes, or an event. NVIDIA documents no first bytes of
 * a report of nsys, so it is known by its name where it is no JSON. Each sentence says what the
 * file is, and the way to what can be read, if there is one.
 */
#include "kineto_read.h"

#include <stdio.h>
#include <string.h>

#define RECORD_WITH_TORCH                                                       \
    "a PyTorch program can be recorded with torch.profiler.profile(activities=" \
    "[ProfilerActivity.CPU, ProfilerActivity.CUDA]) and its export_chrome_trace, which can be read"
#define EXPORT_REPORT                                                                     \
    "it is a report of nsys (Nsight Systems), which only nsys reads; nsys export --type " \
    "sqlite REPORT makes a database of it, which can be read"
#define UNPACK "unpack it, and give the trace that is in it"

/* How a file begins: with these bytes; NULL: with any. */
typedef struct start {
    const char *bytes;
    size_t n;
    const char *holds, *ends; /* also: what is somewhere in the first part, how its name ends */
    const char *sentence;
} start;

#define BYTES(text) text, sizeof(text) - 1

static const start starts[] = {
    { NULL, 0, NULL, ".nsys-rep", EXPORT_REPORT },
    { NULL, 0, NULL, ".qdrep", EXPORT_REPORT },
    { NULL, 0, NULL, ".ncu-rep",
      "it is a report of ncu (Nsight Compute), which is about single kernels and has no timeline" },
    { BYTES("PK\3\4"), NULL, NULL, "it is a zip archive: " UNPACK },
    { BYTES("\x28\xB5\x2F\xFD"), NULL, NULL, "it is compressed by zstd: " UNPACK },
    { BYTES("\xFD"
            "7zXZ"),
      NULL, NULL, "it is compressed by xz: " UNPACK },
    { BYTES("BZh"), NULL, NULL, "it is compressed by bzip2: " UNPACK },
    { NULL, 0, NULL, NULL, "it is no JSON trace: it does not begin with { or [" },
};

static bool holds(const char *text, size_t n, const char *part)
{
    size_t length = strlen(part);
    for (const char *at = text, *end = text + n; (at = memchr(at, *part, (size_t)(end - at))); at++)
        if ((size_t)(end - at) >= length && memcmp(at, part, length) == 0) return true;
    return false;
}

static bool ends(const char *name, const char *end)
{
    size_t n = name ? strlen(name) : 0, length = strlen(end);
    return n >= length && strcmp(name + n - length, end) == 0;
}

sl_status sl__writer_refuse_start(const char *text, size_t n, const char *name, sl_error *err)
{
    const start *is = starts;
    while ((is->bytes && (n < is->n || memcmp(text, is->bytes, is->n) != 0))
           || (is->holds && !holds(text, n, is->holds)) || (is->ends && !ends(name, is->ends)))
        is++;
    return sl_fail(err, SL_EINVAL, "%s", is->sentence);
}

/* Whether the name among args begins so. */
static bool is_named(const sl__json_value *args, const char *prefix)
{
    char begins[32];
    return snprintf(begins, sizeof begins, "\"%s", prefix) > 0
           && holds(args->text, args->n, begins);
}

/* XLA's profiler names its processes "/device:GPU:0" and "/host:CPU"; TensorFlow 1 names them
 * "/job:localhost/replica:0/task:0/device:GPU:0/...". */
void sl__writer_note(sl__reader *r)
{
    const sl__event *event = &r->event;
    const sl__json_value *args = &event->args;
    if (r->writer != SL__WRITER_UNKNOWN) return;
    if (sl__json_is(&event->pid, "CUDA functions") || sl__json_is(&event->pid, "CPU functions"))
        r->writer = SL__WRITER_LEGACY;
    else if (sl__json_is(&event->name, "process_name") && args->type == SL__JSON_OBJECT
             && (is_named(args, "/device:") || is_named(args, "/host:")))
        r->writer = SL__WRITER_XLA;
    else if (sl__json_is(&event->name, "process_name") && args->type == SL__JSON_OBJECT
             && holds(args->text, args->n, "/device:"))
        r->writer = SL__WRITER_TF1;
}

sl_status sl__writer_refuse(sl__writer writer, sl_error *err)
{
    static const char *const sentences[] = {
        [SL__WRITER_UNKNOWN] =
            "it has no GPU events (cat kernel, gpu_memcpy or gpu_memset); PyTorch's "
            "profiler records them with ProfilerActivity.CUDA",
        [SL__WRITER_XLA] =
            "it is a trace of the profiler of JAX and TensorFlow (XLA) without rows of a GPU's "
            "streams: the program ran on no GPU while it was profiled, or the profiler could not "
            "use CUPTI; streamlab record -- COMMAND records such a program, too",
        [SL__WRITER_TF1] =
            "it is a timeline of TensorFlow 1, which lacks streams and launches; streamlab record "
            "-- COMMAND records such a program",
        [SL__WRITER_ROC] =
            "it is of rocprofv3, without kernels and copies: rocprofv3 --runtime-trace "
            "--output-format json -- COMMAND records them, and the host's calls",
        [SL__WRITER_LEGACY] =
            "it is a trace of PyTorch's old profiler (torch.autograd.profiler without kineto), "
            "which lacks categories, streams and launches; " RECORD_WITH_TORCH,
    };
    return sl_fail(err, SL_EINVAL, "%s", sentences[writer]);
}
