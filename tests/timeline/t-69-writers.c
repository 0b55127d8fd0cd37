/* t-69-writers.c - files of other programs: what can be read is, and what cannot is named. */
#include "foreign.h"

/* A text of `n` bytes of a file of that name is refused with both parts. */
static void refused(const char *text, size_t n, const char *name, const char *part,
                    const char *other, const char *what)
{
    sl_error err = { 0 };
    sl_timeline *tl = NULL;
    rest left = { text, n };
    sl__parts parts = { .read = read_rest, .ud = &left, .name = name };
    sl_status status = sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, &err);
    ok(status == SL_EINVAL && strstr(err.msg, part) && strstr(err.msg, other), "%s: %s", what,
       err.msg);
    sl_timeline_release(tl);
}

#define REFUSED(text, name, part, other, what) \
    refused(text, sizeof(text) - 1, name, part, other, what)

static void test_starts(void)
{
    REFUSED("\1\2\3 binary", "run.nsys-rep", "report of nsys", "nsys export --type sqlite",
            "a report of nsys is no JSON, and named so");
    REFUSED("\1\2\3 binary", "run.qdrep", "report of nsys", "", "also as it was called before");
    REFUSED("\1\2\3 binary", "run.ncu-rep", "report of ncu", "single kernels",
            "one of ncu is another");
    REFUSED("\1\2\3 binary", NULL, "it is no JSON trace", "", "other bytes are no trace");
    REFUSED("\n\5\x42\1 binary", "run.pftrace", "Perfetto in protobuf",
            "rocprofv3 --runtime-trace --output-format json", "Perfetto's own form is not read");
    REFUSED("\n\5\x42\1 binary", "host.xplane.pb", "XLA's profiler", ".trace.json.gz",
            "of XLA's two files the other one is");
    REFUSED("==7== NVPROF is profiling process 7, command: ./a\n", "a.csv", "nvprof",
            "nsys profile --trace=cuda", "what nvprof prints is sums");
    REFUSED("==PROF== Connected to process 7\n", NULL, "Nsight Compute", "nsys profile",
            "what ncu prints is about single kernels");
    REFUSED("\"ID\",\"Process ID\",\"Kernel Name\",\"Context\"\n", "a.csv", "table of ncu",
            "nsys profile", "so are its tables");
    REFUSED("Time (%),Total Time (ns),Instances\n", "a.csv", "nsys stats", "nsys export",
            "a table of nsys stats comes of a report");
    REFUSED("\"Kind\",\"Agent_Id\",\"Start_Timestamp\"\n", "a.csv", "rocprofv3",
            "--output-format json", "one of rocprofv3 has another form, too");
    REFUSED("version https://git-lfs.github.com/spec/v1\n", "t.json", "Git LFS", "git lfs pull",
            "a file that is not here is to be fetched");
    REFUSED("<!DOCTYPE html>", "t.json", "HTML", "", "a page is none");
    REFUSED("\xFF\xFE{", "t.json", "UTF-16", "UTF-8", "nor is other text than UTF-8");
    REFUSED("PK\3\4 etc", "t.json.zip", "a zip archive", "unpack it",
            "an archive is to be unpacked");
    REFUSED("\x28\xB5\x2F\xFD etc", "t.json.zst", "zstd", "unpack it", "so is what zstd made");
}

static void test_names_alone(void)
{
    sl_error err;
    sl_timeline *tl = NULL;
    static const char text[] = "[{" K7 "\"ts\":1,\"dur\":1}]";
    rest left = { text, sizeof text - 1 };
    sl__parts parts = { .read = read_rest, .ud = &left, .name = "run.nsys-rep" };
    is_int(sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, &err), SL_OK,
           "a trace is read whatever its name says");
    sl_timeline_release(tl);
}

static void test_events(void)
{
    REFUSED("{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":"
            "{\"name\":\"/device:GPU:0\"}},{\"ph\":\"X\",\"pid\":1,\"tid\":14,\"ts\":1,\"dur\":2,"
            "\"name\":\"fusion\"}]}",
            "t", "JAX and TensorFlow", "without rows of a GPU's streams",
            "a trace of JAX without a GPU is known by its processes");
    REFUSED("{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":"
            "{\"name\":\"/job:localhost/replica:0/task:0/device:GPU:0/stream:all Compute\"}}]}",
            "t", "timeline of TensorFlow 1", "streamlab record", "one of TensorFlow 1 is another");
    REFUSED("[{\"name\":\"gemm\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":7,"
            "\"pid\":\"CUDA functions\",\"args\":{}}]",
            "t", "PyTorch's old profiler", "ProfilerActivity.CUDA",
            "one of PyTorch's old profiler by its rows");
    REFUSED("{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":"
            "{\"name\":\"/host:CPU\"}},{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":"
            "{\"name\":\"/device:TPU:0\"}}]}",
            "t", "trace of a TPU", "no streams", "one of a TPU is no GPU's");
    REFUSED(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"gpu_op\",\"name\":\"gemm\",\"pid\":2,\"tid\":1,"
        "\"ts\":1,\"dur\":2}]}",
        "t", "unitrace", "ProfilerActivity.XPU", "unitrace's has categories of its own");
    REFUSED(
        "{\"traceEvents\":[{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"thread_name\",\"pid\":1,"
        "\"tid\":1,\"ts\":0,\"args\":{\"name\":\"CrBrowserMain\"}},{\"ph\":\"X\",\"cat\":"
        "\"toplevel\",\"name\":\"Run\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}",
        "t", "of Chrome itself", "a browser", "one of a browser is named");
    REFUSED("{\"schema\":\"1.1.1-chakra.0.0.4\",\"pid\":1,\"nodes\":[]}", "t", "execution trace",
            "torch.profiler", "PyTorch's other trace has no times");
    REFUSED("{\"nodes\":[],\"samples\":[],\"timeDeltas\":[]}", "t", "JavaScript", "",
            "a profile of JavaScript has nodes, too");
    REFUSED("{\"a\":1}", "t", "it has no \"traceEvents\"", "", "any other object is no trace");
    REFUSED("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"ts\":1,\"dur\":2}]", "t",
            "no GPU events", "ProfilerActivity.CUDA", "one without a GPU has no other name");
}

/* ---- what is read ------------------------------------------------------------------------ */

static void test_other_gpus(void)
{
    sl_timeline *tl = events(
        "[{\"ph\":\"X\",\"cat\":\"xpu_runtime\",\"pid\":9,\"tid\":9,\"name\":"
        "\"urEnqueueKernelLaunch\",\"ts\":0,\"dur\":4,\"args\":{\"correlation\":5}},"
        "{" K7 "\"name\":\"k\",\"ts\":10,\"dur\":20,\"args\":{\"correlation\":5}}]");
    is_str(sl_timeline_notice(tl), "", "a launch on Intel's GPU is one");
    is_int(span_at(tl, 0)->host_end_ns, 4000, "with its times");
    sl_timeline_release(tl);
}

/* The keys that kineto's writer for Intel has (XpuptiActivityHandlers.cpp, 2026). */
#define UR(name, ts, dur, id)                                                      \
    "{\"ph\":\"X\",\"cat\":\"xpu_runtime\",\"pid\":77,\"tid\":77,\"name\":\"" name \
    "\",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":" #id "}}"
#define SYCL(cat, name, ts, dur, args)                                                        \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"pid\":0,\"tid\":1,\"name\":\"" name "\",\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{\"device\":0,\"context\":\"0x0a\",\"sycl queue\":1," args "}}"

/* clang-format off */
static const char intel[] = "["
    UR("urEnqueueUSMMemcpy", 10, 5, 20) ","
    SYCL("gpu_memcpy", "Memcpy M2D (MEMORY(Unknown) -> DEVICE)", 11, 3,
         "\"bytes\":4096,\"correlation\":20") ","
    UR("urEnqueueKernelLaunchWithArgsExp", 20, 5, 21) ","
    SYCL("kernel", "gemm", 40, 100, "\"correlation\":21") ","
    UR("urEnqueueKernelLaunch", 30, 5, 22) ","
    UR("urQueueFinish", 36, 105, 23) ","
    SYCL("gpu_memcpy", "Memcpy D2H (DEVICE -> HOST)", 150, 2, "\"bytes\":64") "]";
/* clang-format on */

static void test_intel(void)
{
    sl_timeline *tl = events(intel);
    is_int(span_at(tl, 0)->kind, SL_SPAN_MEMCPY_H2D, "a copy from ordinary memory to Intel's GPU");
    is_int(span_at(tl, 0)->flags & SL_SPAN_SRC_PAGEABLE, SL_SPAN_SRC_PAGEABLE, "is from such");
    is_int((int64_t)span_at(tl, 0)->bytes, 4096, "and has its bytes");
    is_int(span_at(tl, 1)->host_start_ns, 10000, "a kernel's launch is the call");
    is_int(span_at(tl, 2)->kind, SL_SPAN_MEMCPY_D2H, "one back is one back");
    is_int(span_at(tl, 2)->flags & SL_SPAN_DST_PINNED, SL_SPAN_DST_PINNED, "into pinned memory");
    is_str(doubt_sentence(tl, SL_DOUBT_NO_OPERATION),
           "Of 2 launches of kernels, one has no operation in the trace: the GPU may have worked "
           "where it seems idle.",
           "a launch without its kernel is missed");
    is_int(call_at(tl, 1)->kind, SL_CALL_STREAM_SYNC, "and a queue that is finished is waited for");
    sl_timeline_release(tl);
}

/* The keys of ROCm 6.2: what is launched has its size and grid at the call. */
static void test_amd(void)
{
    sl_timeline *tl = events(
        "[{" CALL
        "\"name\":\"hipMemcpyWithStream\",\"ts\":0,\"dur\":60,\"args\":{\"stream\":\"0x0\","
        "\"cid\":153,\"correlation\":117,\"src\":\"0x55\",\"dst\":\"0x7f\",\"size\":\"2560\","
        "\"kind\":\"1\"}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Host -> Device)\",\"pid\":2,"
        "\"tid\":0,\"ts\":2,\"dur\":5,\"args\":{\"device\":2,\"stream\":0,\"correlation\":117,"
        "\"kind\":\"HtoD\"}},"
        "{" CALL "\"name\":\"hipLaunchKernel\",\"ts\":70,\"dur\":4,\"args\":{\"correlation\":118,"
        "\"grid\":[3,2,1],\"block\":[128,1,1],\"shared memory\":0}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":0,\"ts\":80,\"dur\":9,\"args\":"
        "{\"device\":2,\"stream\":0,\"correlation\":118,\"kind\":\"Dispatch Kernel\"}}]");
    is_int((int64_t)span_at(tl, 0)->bytes, 2560, "a copy's size is that of its call");
    is_int(span_at(tl, 0)->flags & SL_SPAN_HOST_WAITED, SL_SPAN_HOST_WAITED,
           "which waits, also long after the copy");
    is_int(span_at(tl, 1)->blocks, 6, "so is a kernel's grid");
    is_int(span_at(tl, 1)->threads, 128, "and block");
    is_int((int64_t)span_at(tl, 1)->bytes, 0, "a kernel has no size");
    sl_timeline_release(tl);
}

static void test_copies_within_the_host(void)
{
    sl_timeline *tl = events(
        "[{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":9,"
        "\"name\":\"Memcpy HtoH (Pageable -> Pinned)\",\"args\":{\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":9,"
        "\"name\":\"CopyHostToHost\",\"args\":{\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":9,"
        "\"name\":\"Memcpy DtoD (Device -> Device)\",\"args\":{\"stream\":7}}]");
    is_int(span_at(tl, 0)->engine, SL_ENGINE_HOST, "a copy within the host is the host's work");
    is_int(span_at(tl, 0)->kind, SL_SPAN_HOST_FUNC, "as a host function is");
    is_int(span_at(tl, 1)->engine, SL_ENGINE_HOST, "also in AMD's words");
    is_int(span_at(tl, 2)->kind, SL_SPAN_MEMCPY_D2D, "one within the device is not");
    sl_timeline_release(tl);
}

/* XLA's file with `left` further events of a host, written while it is read. */
typedef struct many {
    const char *begin;
    size_t n, left;
} many;

static sl_status read_many(void *ud, char *to, size_t room, size_t *n, sl_error *err)
{
    static const char event[] =
        ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":9,\"dur\":1,\"name\":\"\"}";
    many *m = ud;
    (void)err;
    *n = m->n < room ? m->n : room;
    if (*n > 0) memcpy(to, m->begin, *n);
    if (*n > 0) m->begin += *n;
    m->n -= *n;
    for (; m->n == 0 && m->left > 0 && *n + sizeof event <= room; m->left--, *n += sizeof event - 1)
        memcpy(to + *n, event, sizeof event - 1);
    if (m->n == 0 && m->left == 0 && *n == 0 && m->begin) {
        memcpy(to, ",{}]}", *n = 5);
        m->begin = NULL;
    }
    return SL_OK;
}

static void test_most_events(void)
{
    static const char begin[] =
        "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"/device:GPU:0\"}},{\"ph\":\"M\",\"pid\":1,\"tid\":14,\"name\":\"thread_name\",\"args\":"
        "{\"name\":\"Stream #14(Compute)\"}},{\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\","
        "\"args\":{\"name\":\"/host:CPU\"}},{\"ph\":\"X\",\"pid\":1,\"tid\":14,\"ts\":9,\"dur\":1,"
        "\"name\":\"k\"}";
    for (size_t n = (size_t)sized(1000000, 999999); n <= 1000000; n++) {
        sl_error err;
        sl_timeline *tl = NULL;
        many m = { begin, sizeof begin - 1, n - 1 };
        sl__parts parts = { .read = read_many, .ud = &m };
        must(sl__kineto_parse_parts(parts, SL_BUSIEST_DEVICE, &tl, &err), &err);
        is_str(doubt_sentence(tl, SL_DOUBT_ENDS_EARLY),
               n < 1000000 ? ""
                           : "The recording ends early: XLA's profiler puts no more than 1000000 "
                             "events into such a file.",
               n < 1000000 ? "a trace of XLA is whole" : "unless it has as many events as fit");
        sl_timeline_release(tl);
    }
}

int main(void)
{
    plan(0);
    test_starts();
    test_names_alone();
    test_events();
    test_other_gpus();
    test_intel();
    test_amd();
    test_copies_within_the_host();
    test_most_events();
    return done_testing();
}
