/* t-34-capture-rules.c - what a capture forbids, and what the errors say. */
#include "captures.h"

static void test_blame(void)
{
    sl_error at_end;
    sl_tensor *memory = NULL;
    begin(a, SL_CAPTURE_THREAD_LOCAL);
    fake_spin(a, NULL);
    sl_device_set_where(device, sl_device_intern(device, "lab.lua:2"));
    fails_with(sl_cuda_malloc(device, 8, &memory, err), SL_ECAPTURE,
               "cudaMalloc may wait for other work, which mode \"thread_local\" forbids while "
               "stream \"a\" is captured: call it before the capture, or make a tensor, which is "
               "permitted, or capture in mode \"relaxed\" "
               "(cudaErrorStreamCaptureUnsupported, 900)",
               "the error names the call, the reason and the way out");
    sl_device_set_where(device, sl_device_intern(device, "lab.lua:3"));
    fails_with(
        fake_spin(a, err), SL_ECAPTURE,
        "cudaLaunchKernel: cudaMalloc at lab.lua:2 has spoiled the capture of stream \"a\" "
        "(cudaErrorStreamCaptureUnsupported): end it, and capture again without that call (cudaErrorStreamCaptureInvalidated, 901)",
        "the next one names the call that spoiled the capture, and its line");
    is_int(code_of(sl_device_synchronize(device, &code_error)), 900, "other calls fail as before");
    sl_stream_end_capture(a, &(sl_graph *){ NULL }, &at_end);
    ok(strstr(at_end.msg, "cudaMalloc at lab.lua:2 has spoiled the capture"), "so does the end");
    is_int(at_end.backend_code, 901, "with CUDA's number");
    is_str(at_end.operand, "cudaStreamEndCapture", "and the call");
}

static void test_modes(void)
{
    sl_tensor *memory = NULL;
    begin(a, SL_CAPTURE_RELAXED);
    is_int(sl_cuda_malloc(device, 8, &memory, NULL), SL_OK, "a relaxed capture permits cudaMalloc");
    is_int(sl_stream_synchronize(b, NULL), SL_OK, "and to wait for another stream");
    is_int(end(a), 0, "and goes on");
    begin(a, SL_CAPTURE_RELAXED);
    fails_with(sl_stream_synchronize(a, err), SL_ECAPTURE,
               "cudaStreamSynchronize: stream \"a\" is captured, and its work runs only when the "
               "graph is launched: end the capture and launch the graph, then wait or read values; "
               "copies that do not block are permitted (cudaErrorStreamCaptureUnsupported, 900)",
               "but not to wait for what is captured");
    is_int(end(a), 901, "which spoils it");
    begin(a, SL_CAPTURE_GLOBAL);
    begin(b, SL_CAPTURE_RELAXED);
    is_int(code_of(sl_cuda_free(memory, &code_error)), 900, "beside a strict capture");
    is_int(end(b), 0, "the relaxed one is left alone");
    is_int(end(a), 901, "the strict one is spoiled");
    ok(!sl_tensor_is_freed(memory), "and the memory has not been freed");
    sl_tensor_release(memory);
}

static void test_null_stream(void)
{
    begin(a, SL_CAPTURE_GLOBAL);
    is_int(fake_spin(null_stream, NULL), SL_OK,
           "beside a non-blocking stream the NULL stream can be used");
    is_int(end(a), 0, "outside of the capture");
    begin(blocking, SL_CAPTURE_RELAXED);
    fails_with(fake_spin(null_stream, err), SL_ECAPTURE,
               "cudaLaunchKernel in the NULL stream would wait for stream \"blocking\", which is "
               "captured and blocking: capture a non-blocking stream, or use another one here "
               "(cudaErrorStreamCaptureImplicit, 906)",
               "beside a blocking one it cannot");
    is_int(end(blocking), 901, "in no mode");
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    sl_event_record(event, a, NULL);
    fails_with(sl_stream_wait_event(null_stream, event, err), SL_ECAPTURE,
               "cudaStreamWaitEvent: the NULL stream cannot take part in a capture: use another "
               "stream (cudaErrorStreamCaptureImplicit, 906)",
               "nor can it take part");
    is_int(end(a), 901, "which spoils the capture");
    fails_with(sl_stream_begin_capture(null_stream, SL_CAPTURE_GLOBAL, err), SL_ECAPTURE,
               "cudaStreamBeginCapture: the NULL stream cannot be captured: make a stream, and "
               "capture that (cudaErrorStreamCaptureUnsupported, 900)",
               "it cannot be captured");
    sl_device_synchronize(device, NULL);
}

static void test_begin_and_end(void)
{
    sl_graph *graph = NULL;
    sl_capture_status status;
    fails_with(sl_stream_end_capture(a, &graph, err), SL_ECAPTURE,
               "cudaStreamEndCapture: stream \"a\" is in no capture: a capture ends in the stream "
               "where it began (cudaErrorIllegalState, 401)",
               "what has not begun cannot end");
    begin(a, SL_CAPTURE_GLOBAL);
    fails_with(
        sl_stream_begin_capture(a, SL_CAPTURE_GLOBAL, err), SL_ECAPTURE,
        "cudaStreamBeginCapture: stream \"a\" is captured already, since lab.lua:1: end that "
        "capture first (cudaErrorIllegalState, 401)",
        "a stream is captured once at a time");
    fake_spin(a, NULL);
    wait_for(b, a, NULL);
    fails_with(sl_stream_end_capture(b, &graph, err), SL_ECAPTURE,
               "cudaStreamEndCapture: the capture began in stream \"a\", and has to end there; now "
               "it is spoiled (cudaErrorStreamCaptureUnmatched, 903)",
               "a capture ends where it began");
    sl_stream_capture_status(a, &status, NULL);
    is_str(sl_capture_status_name(status), "invalidated", "that spoils it");
    is_int(end(a), 901, "and it ends all the same");
    begin(blocking, SL_CAPTURE_GLOBAL);
    is_int(code_of(sl_stream_capture_status(null_stream, &status, &code_error)), 906,
           "the NULL stream cannot be asked beside a blocking one");
    is_int(end(blocking), 0, "which spoils nothing");
}

static void test_graph_calls(void)
{
    sl_graph *graph = NULL, *other = NULL;
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    sl_stream_end_capture(a, &graph, NULL);
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    sl_stream_end_capture(a, &other, NULL);
    sl_graph_instantiate(graph, false, NULL);
    begin(a, SL_CAPTURE_GLOBAL);
    fake_spin(a, NULL);
    is_int(sl_graph_launch(graph, b, NULL), SL_OK, "a graph is launched beside a capture");
    is_int(code_of(sl_graph_instantiate(other, false, &code_error)), 900, "but not instantiated");
    is_int(end(a), 901, "which spoils the capture");
    begin(a, SL_CAPTURE_RELAXED);
    is_int(sl_graph_instantiate(other, false, NULL), SL_OK, "unless that is relaxed");
    fails_with(sl_graph_launch(graph, a, err), SL_ECAPTURE,
               "cudaGraphLaunch: stream \"a\" is captured, and a graph cannot become part of "
               "another one: launch it before the capture or after it "
               "(cudaErrorStreamCaptureUnsupported, 900)",
               "nor is one launched in the captured stream");
    is_int(end(a), 901, "in no mode");
    sl_device_synchronize(device, NULL);
    sl_graph_release(graph);
    sl_graph_release(other);
}

static void test_blas(void)
{
    begin(a, SL_CAPTURE_GLOBAL);
    fails_with(sl_cuda_call(device, "cublasCreate", err), SL_ECAPTURE,
               "cublasCreate may wait for other work, which mode \"global\" forbids while stream "
               "\"a\" is captured, so that cuBLAS answers CUBLAS_STATUS_NOT_INITIALIZED: call it "
               "before the capture or after it, or capture in mode \"relaxed\" "
               "(cudaErrorStreamCaptureUnsupported, 900)",
               "cublasCreate allocates memory");
    is_int(end(a), 901, "and spoils the capture");
    begin(a, SL_CAPTURE_RELAXED);
    is_int(sl_cuda_call(device, "cublasCreate", NULL), SL_OK, "a relaxed one permits it");
    sl_device_set_where(device, sl_device_intern(device, "lab.lua:7"));
    is_int(sl_cuda_call(device, "cublasDestroy", NULL), SL_OK, "cublasDestroy succeeds");
    fails_with(fake_spin(a, err), SL_ECAPTURE,
               "cudaLaunchKernel: cublasDestroy at lab.lua:7 has spoiled the capture of stream "
               "\"a\": end it, and capture again without that call "
               "(cudaErrorStreamCaptureInvalidated, 901)",
               "and spoils the capture all the same");
    is_int(end(a), 901, "in every mode");
}

static void test_unsupported(void)
{
    sl_tensor *memory = NULL, *first = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    sl_tensor *second = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 2, 2);
    int calls = fake.plain_calls, computes = fake.computes;
    begin(a, SL_CAPTURE_GLOBAL);
    fails_with(sl_cuda_malloc_async(a, 8, &memory, err), SL_EUNSUPPORTED,
               "cudaMallocAsync in stream \"a\", which is captured, would make a memory node, and "
               "streamlab has none: call it before the capture or after it, or make a tensor, "
               "whose memory is the graph's",
               "memory nodes are refused");
    is_int(fake.plain_calls, calls, "before the backend is asked");
    is_int(sl_cuda_memcpy_async(first, second, 16, a, NULL), SL_EUNSUPPORTED,
           "so are copies between host tensors");
    is_int(fake.computes, computes, "which would happen at once");
    is_int(sl_cuda_memcpy(first, second, 16, NULL), SL_OK, "outside of the capture they may");
    is_int(end(a), 0, "none of this spoils the capture");
    begin(blocking, SL_CAPTURE_GLOBAL);
    is_int(code_of(sl_cuda_memcpy(first, second, 16, &code_error)), 906,
           "beside a blocking stream cudaMemcpy is one more call in the NULL stream");
    is_int(end(blocking), 901, "and spoils the capture");
    sl_tensor_release(first);
    sl_tensor_release(second);
}

static void test_tensors(void)
{
    sl_tensor *x = fake_matrix(device, 2, 2), *made = NULL;
    sl_tensor_spec spec = { .dtype = SL_FLOAT32, .place = SL_PINNED, .ndim = 1, .dim = { 2 } };
    double value;
    bool has_values;
    begin(a, SL_CAPTURE_GLOBAL);
    is_int(sl_tensor_create(device, &spec, a, &made, NULL), SL_OK, "tensors are made");
    is_int(sl_tensor_free(made, NULL), SL_OK, "and freed");
    fails_with(sl_tensor_peek(x, 0, 1, 1, &value, &has_values, a, err), SL_ESTATE,
               "a stream is captured: reading would spoil that", "values are not shown");
    is_int(code_of(sl_tensor_read(x, 0, 1, &value, a, &code_error)), 900,
           "and reading them is a wait");
    is_int(end(a), 901, "which spoils the capture");
    sl_tensor_release(made);
    sl_tensor_release(x);
}

int main(void)
{
    plan(0);
    open_all("fake");
    test_blame();
    test_modes();
    test_null_stream();
    test_begin_and_end();
    test_graph_calls();
    test_blas();
    test_unsupported();
    test_tensors();
    close_all();
    return done_testing();
}
