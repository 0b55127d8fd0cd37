/* selections.c - which steps of a program a change is about: a pattern for names of operations and
 * calls, or for what they belong to. */
#include "edits.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timeline/step_names.h"

typedef struct selecting {
    const sl__program *p;
    sl_by by;
    char *patterns; /* one behind the other, each with its end */
    size_t n_patterns;
    int64_t first_step, last_step; /* where the pattern is a number, or two */
    bool is_number;
    uint32_t *ids;    /* by span: what it belongs to; NULL: by name */
    uint8_t *answers; /* by text id: UNKNOWN, NO, YES */
} selecting;

enum { UNKNOWN, NO, YES };

static const char *text_of(const selecting *s, uint32_t id)
{
    return sl_timeline_text(s->p->ops->timeline, id);
}

static bool matches(const selecting *s, const char *name)
{
    int64_t number;
    if (s->is_number)
        return sl_step_number(name, &number) && number >= s->first_step && number <= s->last_step;
    const char *pattern = s->patterns;
    for (size_t k = 0; k < s->n_patterns; k++, pattern += strlen(pattern) + 1)
        if (fnmatch(pattern, name, 0) == 0) return true;
    return false;
}

/* Kernels have a short name as well, which charts show. */
static bool matches_text(selecting *s, uint32_t id)
{
    uint8_t *answer = &s->answers[id];
    if (*answer != UNKNOWN) return *answer == YES;
    char label[SL__KERNEL_BYTES];
    *answer = matches(s, text_of(s, id)) ? YES : NO;
    if (s->by == SL_BY_KERNEL
        && matches(s, sl_timeline_kernel_label(s->p->ops->timeline, id, label)))
        *answer = YES;
    return *answer == YES;
}

static bool matches_stream(const selecting *s, uint32_t id)
{
    char buffer[SL_STREAM_NAME_BYTES];
    return matches(s, sl_timeline_stream_name(s->p->ops->timeline, id, buffer));
}

static bool is_chosen(selecting *s, size_t i)
{
    const sl__item *item = &s->p->ops->items[i];
    const sl_call *call = sl__item_call(s->p->ops, i);
    if (s->by == SL_BY_STREAM) return matches_stream(s, sl__item_stream(s->p->ops, i));
    if (call && s->by == SL_BY_KERNEL) return matches(s, sl_call_name(s->p->ops->timeline, call));
    if (call) return s->by == SL_BY_LINE && call->where != 0 && matches_text(s, call->where);
    const uint32_t id = s->ids ? s->ids[item->index] : s->p->ops->spans[item->index].name;
    if (s->by == SL_BY_PHASE) return matches(s, sl_phase_name((sl_phase)id));
    return id != 0 && matches_text(s, id);
}

/* What stands behind "KEY=", if there is such a key; else all is a pattern for names. NULL: there
 * is no such key. */
static const char *read_key(selecting *s, const char *selection)
{
    char key[16];
    const char *equals = strchr(selection, '=');
    const size_t n = equals ? (size_t)(equals - selection) : 0;
    s->by = SL_BY_KERNEL;
    if (n == 0 || n >= sizeof key) return selection;
    memcpy(key, selection, n);
    key[n] = '\0';
    if (sl_by_parse(key, &s->by)) return equals + 1;
    return strspn(key, "abcdefghijklmnopqrstuvwxyz") != n ? selection : NULL;
}

static void read_number(selecting *s, const char *pattern)
{
    long long first, last;
    char rest;
    const int read = sscanf(pattern, "%lld..%lld%c", &first, &last, &rest);
    s->is_number = s->by == SL_BY_STEP
                   && (read == 2 || sscanf(pattern, "%lld%c", &first, &rest) == 1);
    s->first_step = s->is_number ? first : 0;
    s->last_step = read == 2 ? last : s->first_step;
}

/* "A|B": either. False: out of memory. */
static bool split(selecting *s, const char *pattern)
{
    s->patterns = strdup(pattern);
    s->n_patterns = 1;
    for (char *at = s->patterns; at && (at = strchr(at, '|')); s->n_patterns++)
        *at++ = '\0';
    return s->patterns != NULL;
}

sl_status sl__select(const sl__program *p, const char *selection, bool *chosen, sl_error *err)
{
    selecting s = { .p = p };
    sl_status status = SL_OK;
    const char *pattern = read_key(&s, selection);
    if (!pattern)
        return sl_fail(err, SL_EINVAL,
                       "'%.40s' has no key: kernel, operator, module, line, phase, step or stream "
                       "may stand before =",
                       selection);
    read_number(&s, pattern);
    s.answers = calloc(sl_timeline_text_count(p->ops->timeline) + 1, sizeof *s.answers);
    if (!s.answers || !split(&s, pattern))
        status = sl__no_memory(err, "a selection of %zu steps", p->n);
    if (status == SL_OK && s.by != SL_BY_KERNEL && s.by != SL_BY_STREAM)
        status = sl_timeline_keys(p->ops->timeline, s.by, &s.ids, err);
    for (size_t i = 0; status == SL_OK && i < p->n && !sl__stops_at(i); i++)
        chosen[i] = is_chosen(&s, i);
    free(s.ids);
    free(s.answers);
    free(s.patterns);
    return status == SL_OK ? sl_interrupt_check(err) : status;
}
