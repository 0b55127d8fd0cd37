/* sentences.c - what an error of a capture says: the call, why it is forbidden, what to do instead,
 * CUDA's error. The same on all backends: from CUDA's number and the name of the call.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../device.h"
#include "capture.h"

typedef struct failing { /* what a sentence is about */
    const char *call;
    const sl_stream *stream;    /* that the call names, or NULL */
    const sl__capture *capture; /* or NULL */
    const char *captured;       /* the name of the stream where that began, or "" */
    const char *mode;
} failing;

/* The sentence in err->msg, without what comes before it and behind it. */
__attribute__((format(printf, 2, 3))) static void say(sl_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
}

static bool is_call(const failing *f, const char *call) { return !strcmp(f->call, call); }

static bool begins(const failing *f, const char *prefix)
{
    return !strncmp(f->call, prefix, strlen(prefix));
}

/* ---- 900 ---- */

static const char *instead_of(const failing *f)
{
    if (begins(f, "cudaMalloc") && !begins(f, "cudaMallocHost"))
        return "call it before the capture, or make a tensor, which is permitted";
    if (begins(f, "cudaStream") || begins(f, "cudaEvent")) return "do it after the capture";
    return "call it before the capture or after it";
}

static void say_unsafe(const failing *f, sl_error *err)
{
    const char *blas = is_call(f, "cublasCreate")
                           ? ", so that cuBLAS answers CUBLAS_STATUS_NOT_INITIALIZED"
                           : "";
    bool others = f->capture && sl__capture_is_others(f->capture);

    say(err,
        "%s may wait for other work, which mode \"%s\" forbids %swhile stream \"%s\" is "
        "captured%s: %s, or capture in mode \"%s\"",
        f->call, f->mode, others ? "in all threads " : "", f->captured, blas, instead_of(f),
        others ? "thread_local" : "relaxed");
}

static void say_unsupported(const failing *f, sl_error *err)
{
    bool of_captured = f->stream && f->stream->branch;
    if (is_call(f, "cudaStreamBeginCapture"))
        say(err, "%s: the NULL stream cannot be captured: make a stream, and capture that",
            f->call);
    else if (is_call(f, "cudaGraphLaunch"))
        say(err,
            "%s: stream \"%s\" is captured, and a graph cannot become part of another one: launch "
            "it before the capture or after it",
            f->call, sl__stream_name(f->stream));
    else if (of_captured)
        say(err,
            "%s: stream \"%s\" is captured, and its work runs only when the graph is launched: end "
            "the capture and launch the graph, then wait or read values%s",
            f->call, sl__stream_name(f->stream),
            is_call(f, "cudaStreamSynchronize") ? "; copies that do not block are permitted" : "");
    else if (is_call(f, "cudaDeviceSynchronize"))
        say(err,
            "%s waits for all streams, and \"%s\" is captured: end the capture and launch the "
            "graph, then synchronize",
            f->call, f->captured);
    else
        say_unsafe(f, err);
}

/* ---- the others ---- */

static void say_invalidated(const failing *f, sl_error *err)
{
    const sl__capture *capture = f->capture;
    const sl_device *device = capture->origin->device;
    const char *where = sl__strings_text(&device->core->strings, capture->spoiled_where);
    const char *by = capture->spoiled_by ? capture->spoiled_by : "a call";
    const char *name = sl_capture_error_name(capture->spoiled_code);
    char number[64] = "";
    if (name) snprintf(number, sizeof number, " (%s)", name);
    say(err,
        "%s: %s%s%.80s has spoiled the capture of stream \"%s\"%s: end it, and capture again "
        "without that call",
        f->call, by, *where ? " at " : "", where, f->captured, number);
}

static void say_unjoined(const failing *f, sl_error *err)
{
    const sl__strings *strings = &f->capture->origin->device->core->strings;
    const sl_op *work;
    if (sl__capture_unjoined(f->capture, &work, NULL) != SL_OK || !work) {
        say(err, "%s: a stream of the capture has work that stream \"%s\" does not wait for",
            f->call, f->captured);
        return;
    }
    const char *name = sl__stream_name(work->stream);
    const char *where = sl__strings_text(strings, work->where);
    say(err,
        "%s: stream \"%s\" has captured work%s%.80s that stream \"%s\" does not wait for: let it "
        "wait_stream for \"%s\" before the capture ends",
        f->call, name, *where ? " at " : "", where, f->captured, name);
}

static void say_implicit(const failing *f, sl_error *err)
{
    if (f->capture && f->capture->origin->non_blocking)
        say(err, "%s: the NULL stream cannot take part in a capture: use another stream", f->call);
    else
        say(err,
            "%s in the NULL stream would wait for stream \"%s\", which is captured and blocking: "
            "capture a non-blocking stream, or use another one here",
            f->call, f->captured);
}

static void say_captured(const failing *f, sl_error *err)
{
    const sl__capture *capture = f->stream->branch->capture;
    const sl__strings *strings = &f->stream->device->core->strings;
    const char *where = sl__strings_text(strings, capture->where);
    say(err, "%s: stream \"%s\" is captured already%s%.80s: end that capture first", f->call,
        sl__stream_name(f->stream), *where ? ", since " : "", where);
}

static void say_state(const failing *f, sl_error *err)
{
    if (f->stream && f->stream->branch && is_call(f, "cudaStreamBeginCapture"))
        say_captured(f, err);
    else
        say(err, "%s: stream \"%s\" is in no capture: a capture ends in the stream where it began",
            f->call, f->stream ? sl__stream_name(f->stream) : "");
}

static void say_why(const failing *f, sl_error *err)
{
    switch ((sl_capture_error)err->backend_code) {
    case SL_CAPTURE_UNSUPPORTED: say_unsupported(f, err); break;
    case SL_CAPTURE_INVALIDATED:
        if (f->capture) say_invalidated(f, err);
        break;
    case SL_CAPTURE_MERGE:
        say(err,
            "%s: the event was recorded in another capture, and two captures cannot become one "
            "graph: end one before the other begins",
            f->call);
        break;
    case SL_CAPTURE_UNMATCHED:
        say(err, "%s: the capture began in stream \"%s\", and has to end there; now it is spoiled",
            f->call, f->captured);
        break;
    case SL_CAPTURE_UNJOINED:
        if (f->capture) say_unjoined(f, err);
        break;
    case SL_CAPTURE_ISOLATION:
        say(err,
            "%s: stream \"%s\" is captured, and what it waits for was recorded outside of the "
            "capture: wait before the capture begins, or in the stream of the launch",
            f->call, f->stream ? sl__stream_name(f->stream) : f->captured);
        break;
    case SL_CAPTURE_IMPLICIT: say_implicit(f, err); break;
    case SL_CAPTURE_CAPTURED_EVENT:
        say(err,
            "%s: the event was recorded in the capture of stream \"%s\", and happens only in the "
            "graph: ask for an event that is recorded behind the launch",
            f->call, f->captured);
        break;
    case SL_CAPTURE_WRONG_THREAD:
        say(err,
            "%s: the capture of stream \"%s\" in mode \"%s\" has to end in the thread that began "
            "it: end it there, or capture in mode \"relaxed\"",
            f->call, f->captured, f->mode);
        break;
    case SL_CAPTURE_ILLEGAL_STATE: say_state(f, err); break;
    case SL_CAPTURE_NO_ERROR: break;
    }
}

void sl__capture_explain(sl_device *device, const sl__capture *capture, sl_error *err)
{
    const char *call = device->core->latest_call.call ? device->core->latest_call.call
                                                      : err->operand;
    const failing f = {
        .call = call ? call : "a call",
        .stream = device->core->latest_call.stream,
        .capture = capture,
        .captured = capture ? sl__stream_name(capture->origin) : "",
        .mode = sl_capture_mode_name(capture ? capture->mode : SL_CAPTURE_GLOBAL),
    };
    const char *name = sl_capture_error_name(err->backend_code);
    say_why(&f, err);
    err->operand = f.call;
    size_t n = strlen(err->msg);
    if (name) snprintf(err->msg + n, sizeof err->msg - n, " (%s, %d)", name, err->backend_code);
}
