/* kineto_event.c - one event of a trace, as far as a timeline can use it.
 *
 * The members of an event come in any order, so that "args" is looked into only when it is
 * known to be needed: most events of a PyTorch trace are cpu_ops whose args hold shapes.
 */
#include "kineto_event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../timeline/store.h"
#include "kineto.h"

#define US_IN_NS 3 /* decimal places */
#define A_TIME "a time in microseconds below 2^61 ns"

/* Where the value of a key goes in an event. */
typedef struct place {
    const char *key;
    size_t n, at;
} place;

static const place args[SL__ARG_COUNT + 1] = {
#define X(id, key) { key, sizeof key - 1, offsetof(sl__event, arg[SL__ARG_##id]) },
    SL__ARGS(X)
#undef X
};

void sl__event_describe(const sl__event *event, const char *text, char sentence[SL__EVENT_SENTENCE])
{
    char shown[SL__JSON_SHOWN];
    bool named = event->name.type == SL__JSON_TEXT;
    snprintf(sentence, SL__EVENT_SENTENCE, "event %" PRIu64 "%s%s%s: %s", event->number,
             named ? " (" : "", named ? sl__json_show(&event->name, shown) : "", named ? ")" : "",
             text);
}

void sl__event_fail(sl__event *event, const char *fmt, ...)
{
    char text[SL__SENTENCE], sentence[SL__EVENT_SENTENCE];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    sl__event_describe(event, text, sentence);
    event->status = sl_fail(event->err, SL_EINVAL, "%s", sentence);
}

bool sl__event_decode(sl__event *event, const sl__json_value *value, sl_text *text)
{
    if (event->status != SL_OK || value->type != SL__JSON_TEXT) return false;
    text->len = 0;
    event->status = sl__json_decode(value, text, event->err);
    return event->status == SL_OK;
}

/* ---- reading ----------------------------------------------------------------- */

/* Puts a value where its key says; the places end with one without a key. */
static sl_status take(sl__event *event, const place *p, const sl__json_value *key,
                      const sl__json_value *value)
{
    const char *text = key->text + 1;
    size_t n = key->n - 2;
    while (p->key && (n != p->n || text[0] != p->key[0] || memcmp(text, p->key, n) != 0))
        p++;
    if (!p->key) return SL_OK;
    sl__json_value *to = (sl__json_value *)((char *)event + p->at);
    if (to->type != SL__JSON_MISSING && !event->twice[0]) sl__json_show(key, event->twice);
    *to = *value;
    return SL_OK;
}

static void say(const char *key, const sl__json_value *value, const char *wanted,
                char sentence[SL__SENTENCE])
{
    char shown[SL__JSON_SHOWN];
    const char *what = value->type == SL__JSON_TEXT ? "the text " : "";
    snprintf(sentence, SL__SENTENCE, "its \"%s\" is %s%s, not %s", key, what,
             sl__json_show(value, shown), wanted);
}

static void fail_number(sl__event *event, const char *key, const sl__json_value *value,
                        const char *wanted)
{
    char sentence[SL__SENTENCE];
    say(key, value, wanted, sentence);
    sl__event_fail(event, "%s", sentence);
}

/* A member that the event can do without. */
static void leave_out(sl__event *event, const char *key, sl__json_value *value, const char *wanted)
{
    if (event->status != SL_OK) return;
    if (!event->lenient) {
        fail_number(event, key, value, wanted);
        return;
    }
    if (!event->bad[0]) say(key, value, wanted, event->bad);
    *value = (sl__json_value){ 0 };
}

static sl_status take_member(void *ud, const sl__json_value *key, const sl__json_value *value,
                             sl_error *err)
{
    static const place members[] = {
#define X(member) { #member, sizeof #member - 1, offsetof(sl__event, member) },
        X(ph) X(cat) X(name) X(pid) X(tid) X(ts) X(dur) X(args)
#undef X
            { NULL, 0, 0 },
    };
    (void)err;
    return take(ud, members, key, value);
}

static sl_status take_arg(void *ud, const sl__json_value *key, const sl__json_value *value,
                          sl_error *err)
{
    (void)err;
    return take(ud, args, key, value);
}

static sl__category categorise(const sl__event *event)
{
    static const struct {
        const char *cat;
        sl__category category;
    } known[] = {
        { "cpu_op", SL__CAT_CPU_OP },
        { "cuda_runtime", SL__CAT_CALL },
        { "cuda_driver", SL__CAT_CALL },
        { "Runtime", SL__CAT_CALL },
        { "xpu_runtime", SL__CAT_CALL },
        { "xpu_driver", SL__CAT_CALL },
        { "mtia_runtime", SL__CAT_CALL },
        { "privateuse1_runtime", SL__CAT_CALL },
        { "privateuse1_driver", SL__CAT_CALL },
        { "kernel", SL__CAT_KERNEL },
        { "Kernel", SL__CAT_KERNEL },
        { "gpu_memcpy", SL__CAT_MEMCPY },
        { "Memcpy", SL__CAT_MEMCPY },
        { "gpu_memset", SL__CAT_MEMSET },
        { "Memset", SL__CAT_MEMSET },
        { "cuda_sync", SL__CAT_SYNC },
        { "Trace", SL__CAT_NONE },
        { "overhead", SL__CAT_OVERHEAD },
        { "python_function", SL__CAT_PYTHON },
        { "user_annotation", SL__CAT_ANNOTATION },
    };
    if (sl__json_is(&event->ph, "M"))
        return sl__json_is(&event->name, "thread_name") ? SL__CAT_THREAD_NAME : SL__CAT_NONE;
    if (sl__json_is(&event->ph, "i") && sl__json_is(&event->cat, SL__EDGE)) return SL__CAT_EDGE;
    if (sl__json_is(&event->ph, "i") && sl__json_is(&event->name, SL__SAMPLE))
        return SL__CAT_MEMORY;
    if (!sl__json_is(&event->ph, "X") && event->ph.type != SL__JSON_MISSING) return SL__CAT_NONE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (sl__json_is(&event->cat, known[i].cat)) return known[i].category;
    }
    return SL__CAT_OTHER;
}

sl_status sl__event_read(sl__scan *scan, uint64_t number, sl__event *event, sl_error *err)
{
    memset(event, 0, sizeof *event);
    event->number = number;
    event->err = err;
    event->status = sl__scan_each(scan, '{', take_member, event, err);
    event->category = categorise(event);
    return event->status;
}

void sl__event_read_args(const sl__scan *scan, sl__event *event)
{
    if (event->args.type == SL__JSON_OBJECT)
        event->status = sl__json_each(scan, &event->args, take_arg, event, event->err);
    else if (event->args.type != SL__JSON_MISSING)
        leave_out(event, "args", &event->args, "an object");
}

/* Whether to read it: it is there, and nothing has failed so far. */
static bool is_given(const sl__event *event, sl__arg arg)
{
    return event->status == SL_OK && event->arg[arg].type != SL__JSON_MISSING;
}

void sl__event_reject(sl__event *event, sl__arg arg, const char *wanted)
{
    if (is_given(event, arg)) leave_out(event, args[arg].key, &event->arg[arg], wanted);
}

void sl__event_check_name(sl__event *event)
{
    if (event->name.type != SL__JSON_MISSING && event->name.type != SL__JSON_TEXT)
        leave_out(event, "name", &event->name, "a text");
}

void sl__event_whole(sl__event *event, sl__arg arg, int64_t *number)
{
    if (is_given(event, arg) && !sl__json_whole(&event->arg[arg], number))
        sl__event_reject(event, arg, "a whole number of 64 bits");
}

void sl__event_count(sl__event *event, sl__arg arg, uint64_t *number)
{
    int64_t whole = 0;
    if (!is_given(event, arg)) return;
    sl__event_whole(event, arg, &whole);
    if (whole < 0) sl__event_reject(event, arg, "0 or more");
    if (is_given(event, arg)) *number = (uint64_t)whole;
}

/* Within what a timeline can hold. */
static bool is_time(const sl__json_value *value, int64_t *ns)
{
    return sl__json_scaled(value, US_IN_NS, ns)
           && *ns<SL__TIME_LIMIT_NS && * ns> - SL__TIME_LIMIT_NS;
}

static void read_time(sl__event *event, const char *key, const sl__json_value *value, int64_t *ns)
{
    if (event->status != SL_OK) return;
    if (value->type == SL__JSON_MISSING)
        sl__event_fail(event, "it has no \"%s\"", key);
    else if (!is_time(value, ns))
        fail_number(event, key, value, A_TIME);
}

void sl__event_time(sl__event *event, sl__arg arg, int64_t *ns)
{
    int64_t time_ns = 0;
    if (!is_given(event, arg)) return;
    if (is_time(&event->arg[arg], &time_ns))
        *ns = time_ns;
    else
        sl__event_reject(event, arg, A_TIME);
}

sl_status sl__event_interval(sl__event *event, int64_t *start_ns, int64_t *end_ns)
{
    bool own = event->arg[SL__ARG_OWN_START].type != SL__JSON_MISSING;
    const sl__json_value *start = own ? &event->arg[SL__ARG_OWN_START] : &event->ts;
    const sl__json_value *dur = own ? &event->arg[SL__ARG_OWN_DURATION] : &event->dur;
    int64_t duration_ns = 0;
    read_time(event, own ? "own ts" : "ts", start, start_ns);
    read_time(event, own ? "own dur" : "dur", dur, &duration_ns);
    if (event->status == SL_OK && duration_ns < 0)
        fail_number(event, own ? "own dur" : "dur", dur, "0 or more");
    if (event->status == SL_OK) *end_ns = *start_ns + duration_ns;
    return event->status;
}

sl_status sl__event_instant(sl__event *event, int64_t *ns)
{
    read_time(event, "ts", &event->ts, ns);
    return event->status;
}

typedef struct product {
    uint64_t value, limit;
    bool fits;
} product;

static sl_status multiply(void *ud, const sl__json_value *key, const sl__json_value *value,
                          sl_error *err)
{
    product *p = ud;
    int64_t whole;
    (void)key;
    (void)err;
    if (!sl__json_whole(value, &whole) || whole < 0)
        p->fits = false;
    else if (whole == 0)
        p->value = 0;
    else
        p->value = p->value > p->limit / (uint64_t)whole ? p->limit : p->value * (uint64_t)whole;
    return SL_OK;
}

void sl__event_product(sl__event *event, sl__arg arg, uint64_t limit, uint64_t *result)
{
    const sl__json_value list = sl__json_unquoted(&event->arg[arg]);
    product p = { 1, limit, list.type == SL__JSON_ARRAY };
    sl__scan scan;
    if (!is_given(event, arg)) return;
    sl__scan_open(&scan, list.text, list.n);
    if (sl__json_each(&scan, &list, multiply, &p, NULL) != SL_OK || !p.fits)
        sl__event_reject(event, arg, "a list of whole numbers");
    else
        *result = p.value;
}

bool sl__event_flag(const sl__event *event, sl__arg arg) { return sl__json_true(&event->arg[arg]); }
