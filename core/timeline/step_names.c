/* step_names.c - which ranges of the host are steps of a training, by their names. */
#include "step_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

#define MOST_DIGITS 18
#define NAME_BYTES 256 /* what lies behind that is not compared */

/* Where the digits at the end of a name begin; NULL: there are none, or too many. */
static const char *digits_of(const char *name)
{
    const char *end = name + strlen(name), *at = end;
    while (at > name && isdigit((unsigned char)at[-1]))
        at--;
    return at == end || end - at > MOST_DIGITS ? NULL : at;
}

/* Of "step 3 (2)" without what tells it from another step of that name. */
static size_t own_length(const char *name)
{
    const size_t n = strlen(name);
    size_t at = n > 0 && name[n - 1] == ')' ? n - 1 : 0;
    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    return at > 1 && at < n - 1 && name[at - 1] == '(' && name[at - 2] == ' ' ? at - 2 : n;
}

bool sl_step_number(const char *name, int64_t *number)
{
    char own[NAME_BYTES];
    const size_t n = own_length(name);
    const char *digits = n < sizeof own ? own : name;
    if (n < sizeof own) {
        memcpy(own, name, n);
        own[n] = '\0';
    }
    const char *begin = digits;
    digits = digits_of(begin);
    *number = digits && digits > begin ? strtoll(digits, NULL, 10) : 0;
    return digits && digits > begin;
}

static bool is_between(char c) { return c != '\0' && strchr(" _-#:", c) != NULL; }

/* Moves *at behind a word, in either case; false: another text is there. */
static bool skip_word(const char **at, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)(*at)[i]) != word[i]) return false;
    *at += n;
    return true;
}

static void skip_between(const char **at)
{
    while (is_between(**at))
        ++*at;
}

/* One of the words alone, "training" before it, and its number. */
static bool is_called_step(const char *name)
{
    static const char *const words[] = { "profilerstep", "iteration", "iter", "step" };
    const char *digits = digits_of(name);
    if (!digits) return false;
    if (skip_word(&name, "train")) {
        skip_word(&name, "ing");
        skip_between(&name);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = name;
        if (!skip_word(&at, words[i])) continue;
        skip_between(&at);
        if (at == digits) return true;
    }
    return false;
}

/* By text id, what was found out of a name. */
enum { UNKNOWN, NO, YES };

static bool counts_as_step(const sl_timeline *timeline, uint8_t *answers,
                           const sl_host_range *range)
{
    uint8_t *answer = &answers[range->name];
    if (range->kind != SL_HOST_RANGE_NVTX && range->kind != SL_HOST_RANGE_ANNOTATION) return false;
    if (*answer == UNKNOWN)
        *answer = is_called_step(sl_timeline_text(timeline, range->name)) ? YES : NO;
    return *answer == YES;
}

static bool has_steps(const sl_timeline *timeline, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sl_timeline_host_range(timeline, i).kind == SL_HOST_RANGE_STEP) return true;
    return false;
}

sl_status sl__timeline_add_steps(sl_timeline *timeline, sl_error *err)
{
    const size_t n = sl_timeline_host_range_count(timeline);
    if (n == 0 || has_steps(timeline, n)) return SL_OK;
    uint8_t *answers = calloc(sl_timeline_text_count(timeline) + 1, 1);
    sl_status status = answers ? SL_OK : sl__no_memory(err, "the names of a timeline");
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sl_host_range range = sl_timeline_host_range(timeline, i);
        if (!counts_as_step(timeline, answers, &range)) continue;
        range.kind = SL_HOST_RANGE_STEP;
        status = sl_timeline_add_host_range(timeline, &range, err);
    }
    free(answers);
    return status;
}

void sl__timeline_tell_steps_apart(sl_timeline *timeline)
{
    size_t n, first = sl_timeline_host_ranges_of(timeline, SL_HOST_RANGE_STEP, &n);
    uint32_t *seen = n < 2 ? NULL : calloc(sl_timeline_text_count(timeline) + 1, sizeof *seen);
    for (size_t i = first; seen && i < first + n; i++) {
        const uint32_t name = sl_timeline_host_range(timeline, i).name;
        char own[NAME_BYTES + 16];
        uint32_t id;
        if (++seen[name] == 1 || strlen(sl_timeline_text(timeline, name)) >= NAME_BYTES) continue;
        snprintf(own, sizeof own, "%s (%" PRIu32 ")", sl_timeline_text(timeline, name), seen[name]);
        if (sl_timeline_intern(timeline, own, &id, NULL) != SL_OK) break;
        sl__host_ranges_rename(&timeline->host_ranges, i, id);
    }
    free(seen);
}
