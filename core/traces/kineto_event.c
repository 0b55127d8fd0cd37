/* kineto_event.c - one event of a trace, as far as a timeline can use it.
 *
 * The members of an event come in any order, so that "args" is looked into only when it is
 * known to be needed: most events of a PyTorch trace are cpu_ops whose args hold shapes.
 */
#include "kineto_event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../timeline/store.h"

#define US_IN_NS 3              /* decimal places */

static const struct { const char *key; uint8_t n; } arg_keys[SL__ARG_COUNT] = {
#define X(id, key) { key, sizeof key - 1 },
    SL__ARGS(X)
#undef X
};

sl_status sl__event_fail(const sl__event *event, sl_error *err, const char *fmt, ...)
{
    char shown[SL__JSON_SHOWN], sentence[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    bool named = event->name.type == SL__JSON_TEXT;
    return sl_fail(err, SL_EINVAL, "event %" PRIu64 "%s%s%s: %s", event->number,
                   named ? " (" : "", named ? sl__json_show(&event->name, shown) : "",
                   named ? ")" : "", sentence);
}

/* ---- reading ----------------------------------------------------------------- */

static sl_status take(const sl__event *event, sl__json_value *place, const sl__json_value *key,
                      const sl__json_value *value, sl_error *err)
{
    char shown[SL__JSON_SHOWN];
    if (place->type != SL__JSON_MISSING)
        return sl__event_fail(event, err, "it has %s twice", sl__json_show(key, shown));
    *place = *value;
    return SL_OK;
}

static sl__json_value *member_place(sl__event *event, const sl__json_value *key)
{
    const char *text = key->text + 1;
    switch (key->n - 2) {
    case 2:
        return memcmp(text, "ph", 2) == 0 ? &event->ph : memcmp(text, "ts", 2) == 0 ? &event->ts
                                                                                     : NULL;
    case 3:
        return memcmp(text, "cat", 3) == 0   ? &event->cat
               : memcmp(text, "pid", 3) == 0 ? &event->pid
               : memcmp(text, "tid", 3) == 0 ? &event->tid
               : memcmp(text, "dur", 3) == 0 ? &event->dur
                                             : NULL;
    case 4:
        return memcmp(text, "name", 4) == 0 ? &event->name : memcmp(text, "args", 4) == 0
                                                                 ? &event->args
                                                                 : NULL;
    default: return NULL;
    }
}

static sl__json_value *arg_place(sl__event *event, const sl__json_value *key)
{
    size_t n = key->n - 2;
    for (int i = 0; i < SL__ARG_COUNT; i++) {
        if (n == arg_keys[i].n && memcmp(key->text + 1, arg_keys[i].key, n) == 0)
            return &event->arg[i];
    }
    return NULL;
}

static sl_status read_members(sl__scan *scan, sl__event *event, bool args, sl_error *err)
{
    bool first = true, more;
    sl_status status = sl__scan_enter(scan, '{', err);
    while (status == SL_OK && (status = sl__scan_next(scan, '}', &first, &more, err)) == SL_OK &&
           more) {
        sl__json_value key, value;
        status = sl__scan_key(scan, &key, err);
        if (status == SL_OK)
            status = sl__scan_value(scan, &value, err);
        if (status != SL_OK)
            break;
        sl__json_value *place = args ? arg_place(event, &key) : member_place(event, &key);
        if (place)
            status = take(event, place, &key, &value, err);
    }
    return status;
}

static bool is_one_of(const sl__json_value *value, const char *const *names)
{
    for (; *names; names++) {
        if (sl__json_is(value, *names))
            return true;
    }
    return false;
}

static sl__category categorise(const sl__event *event)
{
    static const char *const kernels[] = { "kernel", "Kernel", NULL };
    static const char *const copies[] = { "gpu_memcpy", "Memcpy", NULL };
    static const char *const sets[] = { "gpu_memset", "Memset", NULL };
    static const char *const calls[] = { "cuda_runtime", "cuda_driver", "Runtime", NULL };
    static const char *const own[] = { "Trace", "overhead", NULL };
    if (sl__json_is(&event->ph, "M"))
        return sl__json_is(&event->name, "thread_name") ? SL__CAT_THREAD_NAME : SL__CAT_NONE;
    if (!sl__json_is(&event->ph, "X") && event->ph.type != SL__JSON_MISSING)
        return SL__CAT_NONE;
    if (sl__json_is(&event->cat, "cpu_op"))
        return SL__CAT_CPU_OP;
    if (is_one_of(&event->cat, calls))
        return SL__CAT_CALL;
    if (is_one_of(&event->cat, kernels))
        return SL__CAT_KERNEL;
    if (is_one_of(&event->cat, copies))
        return SL__CAT_MEMCPY;
    if (is_one_of(&event->cat, sets))
        return SL__CAT_MEMSET;
    if (sl__json_is(&event->cat, "cuda_sync"))
        return SL__CAT_SYNC;
    return is_one_of(&event->cat, own) ? SL__CAT_NONE : SL__CAT_OTHER;
}

sl_status sl__event_read(sl__scan *scan, uint64_t number, sl__event *event, sl_error *err)
{
    memset(event, 0, sizeof *event);
    event->number = number;
    sl_status status = read_members(scan, event, false, err);
    if (status != SL_OK)
        return status;
    event->category = categorise(event);
    return SL_OK;
}

sl_status sl__event_read_args(const sl__scan *scan, sl__event *event, sl_error *err)
{
    if (event->args.type == SL__JSON_MISSING)
        return SL_OK;
    if (event->args.type != SL__JSON_OBJECT)
        return sl__event_fail(event, err, "its \"args\" are no object");
    sl__scan inner;
    sl__scan_into(&inner, scan, &event->args);
    return read_members(&inner, event, true, err);
}

/* ---- what members hold ---------------------------------------------------------- */

static sl_status fail_number(const sl__event *event, const char *key, const sl__json_value *value,
                             const char *wanted, sl_error *err)
{
    char shown[SL__JSON_SHOWN];
    const char *what = value->type == SL__JSON_TEXT ? "the text " : "";
    return sl__event_fail(event, err, "its \"%s\" is %s%s, not %s", key, what,
                          sl__json_show(value, shown), wanted);
}

sl_status sl__event_whole(const sl__event *event, sl__arg arg, int64_t *number, sl_error *err)
{
    const sl__json_value *value = &event->arg[arg];
    if (value->type == SL__JSON_MISSING || sl__json_whole(value, number))
        return SL_OK;
    return fail_number(event, arg_keys[arg].key, value, "a whole number of 64 bits", err);
}

sl_status sl__event_count(const sl__event *event, sl__arg arg, uint64_t *number, sl_error *err)
{
    int64_t whole = 0;
    if (event->arg[arg].type == SL__JSON_MISSING)
        return SL_OK;
    sl_status status = sl__event_whole(event, arg, &whole, err);
    if (status == SL_OK && whole < 0)
        return fail_number(event, arg_keys[arg].key, &event->arg[arg], "0 or more", err);
    if (status == SL_OK)
        *number = (uint64_t)whole;
    return status;
}

static sl_status read_time(const sl__event *event, const char *key, const sl__json_value *value,
                           int64_t *ns, sl_error *err)
{
    if (value->type == SL__JSON_MISSING)
        return sl__event_fail(event, err, "it has no \"%s\"", key);
    if (!sl__json_scaled(value, US_IN_NS, ns))
        return fail_number(event, key, value, "a time in microseconds below 2^61 ns", err);
    if (*ns >= SL__TIME_LIMIT_NS || *ns <= -SL__TIME_LIMIT_NS)
        return fail_number(event, key, value, "a time in microseconds below 2^61 ns", err);
    return SL_OK;
}

sl_status sl__event_time(const sl__event *event, sl__arg arg, int64_t *ns, sl_error *err)
{
    if (event->arg[arg].type == SL__JSON_MISSING)
        return SL_OK;
    return read_time(event, arg_keys[arg].key, &event->arg[arg], ns, err);
}

sl_status sl__event_interval(const sl__event *event, int64_t *start_ns, int64_t *end_ns,
                             sl_error *err)
{
    bool own = event->arg[SL__ARG_OWN_START].type != SL__JSON_MISSING;
    const sl__json_value *dur = own ? &event->arg[SL__ARG_OWN_DURATION] : &event->dur;
    int64_t duration_ns;
    sl_status status = own ? sl__event_time(event, SL__ARG_OWN_START, start_ns, err)
                           : read_time(event, "ts", &event->ts, start_ns, err);
    if (status == SL_OK)
        status = read_time(event, own ? "own dur" : "dur", dur, &duration_ns, err);
    if (status != SL_OK)
        return status;
    if (duration_ns < 0)
        return fail_number(event, own ? "own dur" : "dur", dur, "0 or more", err);
    *end_ns = *start_ns + duration_ns;
    return SL_OK;
}

typedef struct product { uint64_t value, limit; bool fits; } product;

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

sl_status sl__event_product(const sl__event *event, sl__arg arg, uint64_t limit,
                            uint64_t *result, sl_error *err)
{
    const sl__json_value *list = &event->arg[arg];
    if (list->type == SL__JSON_MISSING) {
        *result = 0;
        return SL_OK;
    }
    product p = { 1, limit, list->type == SL__JSON_ARRAY };
    sl__scan scan;
    sl__scan_open(&scan, list->text, list->n);
    if (sl__json_each(&scan, list, multiply, &p, NULL) != SL_OK || !p.fits)
        return fail_number(event, arg_keys[arg].key, list, "a list of whole numbers", err);
    *result = p.value;
    return SL_OK;
}

bool sl__event_flag(const sl__event *event, sl__arg arg)
{
    const sl__json_value *value = &event->arg[arg];
    return value->type == SL__JSON_WORD && value->n == 4 && memcmp(value->text, "true", 4) == 0;
}
