/* doubts.c - what is in doubt about a timeline, one of each kind. */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

const char *sl_doubt_name(sl_doubt_kind kind)
{
    static const char *const names[SL_DOUBTS] = {
#define X(id, name) [SL_DOUBT_##id] = name,
        SL_DOUBT_MAP(X)
#undef X
    };
    return names[kind];
}

static sl_status no_memory(sl_error *err)
{
    return sl__no_memory(err, "what is in doubt about a timeline");
}

/* Where it goes among those that are there. */
static size_t place_of(const sl__doubts *doubts, sl_doubt_kind kind)
{
    size_t at = 0;
    while (at < doubts->n && doubts->all[at].kind < kind)
        at++;
    return at;
}

static bool join(sl__doubts *doubts)
{
    doubts->notice.len = 0;
    for (size_t i = 0; i < doubts->n; i++)
        sl_text_add(&doubts->notice, "%s%s", i > 0 ? "\n" : "", doubts->all[i].sentence);
    return !doubts->notice.failed;
}

sl_status sl_timeline_add_doubt(sl_timeline *timeline, const sl_doubt *doubt, sl_error *err)
{
    sl__doubts *doubts = &timeline->doubts;
    sl_doubt copy = *doubt;
    size_t at = place_of(doubts, copy.kind);
    bool again = at < doubts->n && doubts->all[at].kind == copy.kind;
    copy.sentence = strdup(doubt->sentence);
    if (!copy.sentence) return no_memory(err);
    if (again) {
        free((char *)doubts->all[at].sentence);
    } else {
        memmove(doubts->all + at + 1, doubts->all + at, (doubts->n - at) * sizeof copy);
        doubts->n++;
    }
    doubts->all[at] = copy;
    return join(doubts) ? SL_OK : no_memory(err);
}

const sl_doubt *sl_timeline_doubts(const sl_timeline *timeline, size_t *n)
{
    const sl__doubts *doubts = &timeline->doubts;
    *n = doubts->n;
    return doubts->all;
}

const char *sl_timeline_notice(const sl_timeline *timeline)
{
    const sl__doubts *doubts = &timeline->doubts;
    return doubts->n > 0 && doubts->notice.data ? doubts->notice.data : "";
}

void sl__doubts_free(sl__doubts *doubts)
{
    for (size_t i = 0; i < doubts->n; i++)
        free((char *)doubts->all[i].sentence);
    sl_text_free(&doubts->notice);
}
