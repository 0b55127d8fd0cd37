/* texts.c - the texts of a timeline: interned ones by id, lines of the script, its name. */
#include "fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"

sl_status sl_timeline_intern(sl_timeline *timeline, const char *text, uint32_t *id, sl_error *err)
{
    *id = text ? sl__strings_find(&timeline->texts, text) : 0;
    if (*id != 0 || !text || !*text) return SL_OK;
    sl_status status = sl__refuse_finished(timeline, err);
    if (status != SL_OK) return status;
    *id = sl__strings_intern(&timeline->texts, text);
    if (*id == 0) return sl__no_memory(err, "a text of %zu bytes", strlen(text) + 1);
    return SL_OK;
}

bool sl__timeline_find_text(const sl_timeline *timeline, const char *text, uint32_t *id)
{
    *id = sl__strings_find(&timeline->texts, text);
    return *id != 0 || !*text;
}

const char *sl_timeline_text(const sl_timeline *timeline, uint32_t id)
{
    return sl__strings_text(&timeline->texts, id);
}

size_t sl_timeline_text_count(const sl_timeline *timeline)
{
    return sl__strings_count(&timeline->texts);
}

sl_status sl__check_texts(const sl_timeline *timeline, uint32_t name, uint32_t where, sl_error *err)
{
    size_t n = sl__strings_count(&timeline->texts);
    if (name < n && where < n) return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "text ids %" PRIu32 " and %" PRIu32
                   " were given, but the timeline has %zu texts",
                   name, where, n);
}

/* Grown to the table's size at once: there are about as many positions as texts. */
static sl_status reserve_sources(sl_timeline *timeline, uint32_t where, sl_error *err)
{
    if (where < timeline->n_sources) return SL_OK;
    size_t n = sl__strings_count(&timeline->texts);
    if (SL__GROW_ZEROED(timeline->sources, timeline->n_sources, n)) return SL_OK;
    return sl__no_memory(err, "the script's lines");
}

sl_status sl_timeline_set_source(sl_timeline *timeline, uint32_t where, const char *line,
                                 sl_error *err)
{
    if (where == 0 || where >= sl__strings_count(&timeline->texts))
        return sl_fail(err, SL_EINVAL,
                       "text id %" PRIu32 " was given for a script's position, but "
                       "the timeline has %zu texts",
                       where, sl__strings_count(&timeline->texts));
    sl_status status = reserve_sources(timeline, where, err);
    char *copy = status == SL_OK ? strdup(line) : NULL;
    if (!copy) return status != SL_OK ? status : sl__no_memory(err, "a line of the script");
    free(timeline->sources[where]);
    timeline->sources[where] = copy;
    return SL_OK;
}

const char *sl_timeline_source(const sl_timeline *timeline, uint32_t where)
{
    return where < timeline->n_sources && timeline->sources[where] ? timeline->sources[where] : "";
}

sl_status sl_timeline_set_name(sl_timeline *timeline, const char *name, sl_error *err)
{
    char *copy = strdup(name);
    if (!copy) return sl__no_memory(err, "a name");
    free(timeline->name);
    timeline->name = copy;
    return SL_OK;
}

const char *sl_timeline_name(const sl_timeline *timeline)
{
    return timeline->name ? timeline->name : "";
}
