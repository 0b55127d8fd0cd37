/* causes_json.c - the verdict and the causes as JSON, in the order in which tl:causes() has
 * them. A gain that nobody looked at is null, and so is an operand that is not known.
 */
#include "causes_json.h"

#include <inttypes.h>

#include "../text/json.h"
#include "../text/units.h"

static void put_string(sl_text *out, const char *key, const char *text)
{
    sl_text_add(out, "\"%s\": ", key);
    if (*text)
        sl_json_add_string(out, text);
    else
        sl_text_add(out, "null");
}

static void put_us(sl_text *out, const char *key, int64_t ns)
{
    sl_text_add(out, "\"%s\": ", key);
    sl_json_add_milli(out, ns);
}

static void put_stream(const sl_timeline *timeline, uint32_t stream, sl_text *out)
{
    char buffer[SL_STREAM_NAME_BYTES];
    put_string(out, "stream", sl_timeline_stream_name(timeline, stream, buffer));
}

/* {"name", "stream", "where", "correlation"} of an operation or a call. */
static void put_operand(const sl_timeline *timeline, const char *key, uint64_t correlation,
                        sl_text *out)
{
    const sl_span *span = correlation ? sl_timeline_find_span(timeline, correlation) : NULL;
    const sl_call *call = correlation && !span ? sl_timeline_find_call(timeline, correlation)
                                               : NULL;
    sl_text_add(out, "\"%s\": ", key);
    if (!span && !call) {
        sl_text_add(out, "null");
        return;
    }
    sl_text_add(out, "{");
    put_string(out, "name", span ? sl_timeline_text(timeline, span->name)
                                 : sl_call_name(timeline, call));
    sl_text_add(out, ", ");
    if (span)
        put_stream(timeline, span->stream, out);
    else
        sl_text_add(out, "\"stream\": null");
    sl_text_add(out, ", ");
    put_string(out, "where", sl_timeline_text(timeline, span ? span->where : call->where));
    sl_text_add(out, ", \"correlation\": %" PRIu64 "}", correlation);
}

static void put_told(const sl_timeline *timeline, const sl_finding *f, sl_text *out)
{
    sl_text sentence = { 0 }, remedy = { 0 };
    sl_finding_tell(timeline, f, &sentence, &remedy);
    put_string(out, "sentence", sentence.data ? sentence.data : "");
    sl_text_add(out, ", ");
    put_string(out, "remedy", remedy.data ? remedy.data : "");
    out->failed |= sentence.failed || remedy.failed;
    sl_text_free(&sentence);
    sl_text_free(&remedy);
}

static void put_cause(const sl_timeline *timeline, const sl_finding *f, sl_text *out)
{
    sl_text_add(out, "{");
    put_string(out, "code", sl_cause_name(f->cause));
    sl_text_add(out, ", ");
    put_string(out, "engine", sl_engine_name(f->engine));
    sl_text_add(out, ", \"idle\": %s, \"guess\": %s, ", f->idle ? "true" : "false",
                sl_finding_is_guess(timeline, f) ? "true" : "false");
    put_us(out, "lost_us", f->lost_ns);
    sl_text_add(out, ", ");
    if (f->gain_ns >= 0)
        put_us(out, "gain_us", f->gain_ns);
    else
        sl_text_add(out, "\"gain_us\": null");
    sl_text_add(out, ", \"count\": %zu,\n     \"operands\": {", f->n_waits);
    put_operand(timeline, "waiter", f->waiter, out);
    sl_text_add(out, ",\n       ");
    put_operand(timeline, "by", f->by, out);
    sl_text_add(out, "},\n     ");
    put_told(timeline, f, out);
    sl_text_add(out, "}");
}

static void put_verdict(const sl_timeline *timeline, const sl_explanation *e, sl_text *out)
{
    sl_verdict v = sl_explanation_judge(timeline, e);
    sl_text sentence = { 0 };
    int64_t left_ns = v.makespan_ns - v.gain_ns;
    sl_verdict_tell(timeline, e, &v, &sentence);
    sl_text_add(out, "  \"verdict\": {\"good\": %s, \"joint\": %s, ", v.good ? "true" : "false",
                v.joint ? "true" : "false");
    put_us(out, "gain_us", v.gain_ns);
    sl_text_add(out, ", \"ratio\": ");
    if (left_ns > 0)
        sl_text_add(out, "%.4f", (double)v.makespan_ns / (double)left_ns);
    else
        sl_text_add(out, "null");
    sl_text_add(out, ", ");
    put_string(out, "code", v.gain_ns > 0 ? sl_cause_name(v.cause) : "");
    sl_text_add(out, ",\n    ");
    put_string(out, "sentence", sentence.data ? sentence.data : "");
    sl_text_add(out, "},\n");
    out->failed |= sentence.failed;
    sl_text_free(&sentence);
}

void sl__causes_put_json(const sl_timeline *timeline, const sl_explanation *explanation,
                         sl_text *out)
{
    put_verdict(timeline, explanation, out);
    sl_text_add(out, "  \"causes\": [");
    for (size_t i = 0; i < explanation->n_findings; i++) {
        sl_text_add(out, i > 0 ? ",\n    " : "\n    ");
        put_cause(timeline, &explanation->findings[i], out);
    }
    sl_text_add(out, explanation->n_findings > 0 ? "\n  ]" : "]");
}
