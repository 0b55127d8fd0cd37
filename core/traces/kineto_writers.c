/* kineto_writers.c - files of other programs that users take for traces, and what they are.
 *
 * Each is known by what is in it: the first bytes, or an event. NVIDIA documents no first bytes of
 * a report of nsys, so it is known by its name where it is no JSON. Each sentence says what the
 * file is, and the way to what can be read, if there is one.
 */
#include "kineto_read.h"

#include <string.h>

#define RECORD_WITH_TORCH                                                       \
    "a PyTorch program can be recorded with torch.profiler.profile(activities=" \
    "[ProfilerActivity.CPU, ProfilerActivity.CUDA]) and its export_chrome_trace, which can be read"
#define EXPORT_REPORT                                                                     \
    "it is a report of nsys (Nsight Systems), which only nsys reads; nsys export --type " \
    "sqlite REPORT makes a database of it, which can be read"
#define UNPACK "unpack it, and give the trace that is in it"
#define RECORD_WITH_NSYS                                                              \
    "nsys profile --trace=cuda COMMAND records when everything ran, and nsys export " \
    "--type sqlite makes a database of its report, which can be read"
#define RECORD_WITH_ROCPROF                                                             \
    "rocprofv3 --runtime-trace --output-format json -- COMMAND writes a file that can " \
    "be read"

/* How a file begins: with these bytes; NULL: with any. */
typedef struct start {
    const char *bytes;
    size_t n;
    const char *holds, *ends; /* also: what is somewhere in the first part, how its name ends */
    const char *sentence;
} start;

#define BYTES(text) text, sizeof(text) - 1
#define ENDS(text) NULL, 0, NULL, text
#define HOLDS(text) NULL, 0, text, NULL

static const start starts[] = {
    { ENDS(".nsys-rep"), EXPORT_REPORT },
    { ENDS(".qdrep"), EXPORT_REPORT },
    { ENDS(".ncu-rep"),
      "it is a report of ncu (Nsight Compute) about single kernels; " RECORD_WITH_NSYS },
    { ENDS(".pftrace"),
      "it is a trace of Perfetto in protobuf, as rocprofv3 writes it, too; " RECORD_WITH_ROCPROF },
    { ENDS(".perfetto-trace"), "it is a trace of Perfetto in protobuf, which is not read" },
    { ENDS(".xplane.pb"), "it is what XLA's profiler has recorded, in protobuf; the .trace.json.gz "
                          "in the same folder can be read" },
    { ENDS(".et"), "it is an execution trace of Chakra, for simulators: it lacks the times at "
                   "which a GPU did its work" },
    { BYTES("PK\3\4"), NULL, NULL, "it is a zip archive: " UNPACK },
    { BYTES("\x28\xB5\x2F\xFD"), NULL, NULL, "it is compressed by zstd: " UNPACK },
    { BYTES("\xFD"
            "7zXZ"),
      NULL, NULL, "it is compressed by xz: " UNPACK },
    { BYTES("BZh"), NULL, NULL, "it is compressed by bzip2: " UNPACK },
    { BYTES("\xFF\xFE"), NULL, NULL, "it is text in UTF-16: write it in UTF-8" },
    { BYTES("\x80"), NULL, NULL,
      "it is a pickle of Python, as PyTorch's snapshots of memory are: it has no timeline" },
    { BYTES("version https://git-lfs"), NULL, NULL,
      "it only stands for a file that Git LFS has: git lfs pull fetches that" },
    { BYTES("<"), NULL, NULL, "it is a page in HTML or XML, and no trace" },
    { HOLDS("NVPROF is profiling"),
      "it is what nvprof has printed, which is a table of sums; " RECORD_WITH_NSYS },
    { HOLDS("==PROF=="), "it is what ncu (Nsight Compute) has printed, which is about single "
                         "kernels; " RECORD_WITH_NSYS },
    { HOLDS("\"Kernel Name\",\"Context\""), "it is a table of ncu (Nsight Compute), which is about "
                                            "single kernels; " RECORD_WITH_NSYS },
    { HOLDS("Total Time (ns)"), "it is a table of nsys stats, which has sums alone; nsys export "
                                "--type sqlite REPORT makes a database of the report itself, which "
                                "can be read" },
    { HOLDS("\"Start_Timestamp\""), "it is a table of rocprofv3; " RECORD_WITH_ROCPROF },
    { HOLDS("\"KernelName\""), "it is a table of rocprof; " RECORD_WITH_ROCPROF },
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
    n = sl__min(n, SL__START_BYTES);
    while ((is->bytes && (n < is->n || memcmp(text, is->bytes, is->n) != 0))
           || (is->holds && !holds(text, n, is->holds)) || (is->ends && !ends(name, is->ends)))
        is++;
    return sl_fail(err, SL_EINVAL, "%s", is->sentence);
}

/* XLA's profiler names its processes "/device:GPU:0" and "/host:CPU"; TensorFlow 1 names them
 * "/job:localhost/replica:0/task:0/device:GPU:0/...". */
static sl__writer by_process(const sl__json_value *args)
{
    if (args->type != SL__JSON_OBJECT) return SL__WRITER_UNKNOWN;
    if (holds(args->text, args->n, "\"/device:TPU:")) return SL__WRITER_TPU;
    if (holds(args->text, args->n, "\"/device:") || holds(args->text, args->n, "\"/host:"))
        return SL__WRITER_XLA;
    return holds(args->text, args->n, "/device:") ? SL__WRITER_TF1 : SL__WRITER_UNKNOWN;
}

/* Of a host's rows alone nothing follows: those of a TPU come behind them. */
void sl__writer_note(sl__reader *r)
{
    static const struct {
        const char *category;
        sl__writer writer;
    } known[] = {
        { "gpu_op", SL__WRITER_UNITRACE },
        { "__metadata", SL__WRITER_CHROME },
        { "devtools.timeline", SL__WRITER_CHROME },
        { "toplevel", SL__WRITER_CHROME },
    };
    const sl__event *event = &r->event;
    if (r->writer != SL__WRITER_UNKNOWN && r->writer != SL__WRITER_XLA) return;
    if (sl__json_is(&event->name, "process_name")) {
        const sl__writer writer = by_process(&event->args);
        if (writer != SL__WRITER_UNKNOWN) r->writer = writer;
    }
    if (r->writer != SL__WRITER_UNKNOWN) return;
    if (sl__json_is(&event->pid, "CUDA functions") || sl__json_is(&event->pid, "CPU functions"))
        r->writer = SL__WRITER_LEGACY;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sl__json_is(&event->cat, known[i].category)) r->writer = known[i].writer;
}

/* Files of JSON without events, by their members. */
static const struct {
    const char *key, *sentence;
} objects[] = {
    { "timeDeltas", "it is a profile of JavaScript (.cpuprofile), and no trace" },
    { "nodes", "it is an execution trace of PyTorch (ExecutionTraceObserver, Chakra), which lacks "
               "the times at which the GPU did its work; the trace that torch.profiler's "
               "export_chrome_trace wrote beside it can be read" },
    { "profiles", "it is a profile of speedscope, and no trace of a GPU" },
    { "segments", "it is a snapshot of PyTorch's memory, and has no timeline" },
};

void sl__writer_note_member(sl__reader *r)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (sl__json_is(&r->key, objects[i].key) && (r->object == 0 || r->object > i + 1))
            r->object = i + 1;
}

sl_status sl__writer_refuse_object(const sl__reader *r, sl_error *err)
{
    return sl_fail(err, SL_EINVAL, "%s",
                   r->object ? objects[r->object - 1].sentence
                             : "it has no \"traceEvents\", so that it is no trace");
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
        [SL__WRITER_TPU] = "it is a trace of a TPU, which has no streams; GPUs' traces are read",
        [SL__WRITER_UNITRACE] =
            "it is a trace of Intel's unitrace, whose form is not read; a PyTorch program can be "
            "recorded with torch.profiler.profile(activities=[ProfilerActivity.CPU, "
            "ProfilerActivity.XPU]) and its export_chrome_trace, which can be read",
        [SL__WRITER_CHROME] = "it is a trace of Chrome itself: of a browser, without work of CUDA",
        [SL__WRITER_ROC] =
            "it is of rocprofv3, without kernels and copies: rocprofv3 --runtime-trace "
            "--output-format json -- COMMAND records them, and the host's calls",
        [SL__WRITER_LEGACY] =
            "it is a trace of PyTorch's old profiler (torch.autograd.profiler without kineto), "
            "which lacks categories, streams and launches; " RECORD_WITH_TORCH,
    };
    return sl_fail(err, SL_EINVAL, "%s", sentences[writer]);
}
