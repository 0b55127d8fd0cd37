/* report_head.c - the page's title and its colours. */
#include "report_head.h"

#include <string.h>

#include "../text/json.h"
#include "../text/xml.h"
#include "looks.h"

/* ---- title ------------------------------------------------------------------------ */

/* The first position of a script, or "". */
static const char *first_where(const sl_timeline *timeline)
{
    const size_t n_spans = sl_timeline_span_count(timeline);
    const size_t n_calls = sl_timeline_call_count(timeline);
    uint32_t where = 0;
    for (size_t i = 0; i < n_spans && !where; i++)
        where = sl_timeline_span(timeline, i).where;
    for (size_t i = 0; i < n_calls && !where; i++)
        where = sl_timeline_call(timeline, i).where;
    return sl_timeline_text(timeline, where);
}

void sl__head_name(const sl_timeline *timeline, char name[SL__HEAD_NAME_BYTES])
{
    const char *file = sl_timeline_name(timeline), *where = first_where(timeline);
    const char *line = strrchr(where, ':'); /* "lab.lua:12" */
    size_t n = *file ? strlen(file) : line ? (size_t)(line - where) : strlen(where);
    if (n >= SL__HEAD_NAME_BYTES) n = SL__HEAD_NAME_BYTES - 1;
    memcpy(name, *file ? file : where, n);
    name[n] = '\0';
}

sl_status sl__head_put_title(sl__outfile *file, const sl_timeline *timeline, sl_error *err)
{
    char name[SL__HEAD_NAME_BYTES], buffer[SL_DEVICE_NAME_BYTES];
    const char *device = sl_timeline_device_name(timeline, buffer);
    sl_text title = { 0 };
    sl__head_name(timeline, name);
    sl__xml_add(&title, name, 0);
    sl_text_add(&title, "%s", *name && *device ? " – " : "");
    sl__xml_add(&title, device, 0);
    sl_text_add(&title, "%s%s", *name || *device ? "" : "Timeline",
                sl_timeline_device(timeline)->simulated ? " (simulated)" : "");
    if (!title.failed) sl__json_raw(file, title.data);
    sl_status status = title.failed ? sl_fail(err, SL_ENOMEM, "no memory for a title") : SL_OK;
    sl_text_free(&title);
    return status;
}

/* ---- colours ---------------------------------------------------------------------- */

static void put_look(sl__outfile *file, const sl__look *look, bool dark)
{
    const sl__paint *paint = dark ? &look->dark : &look->light;
    const char *const parts[] = {
        "\n    --", look->name, ": ", paint->fill, "; --on-", look->name, ": ", paint->ink, ";",
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        sl__json_raw(file, parts[k]);
}

static void put_paints(sl__outfile *file, const char *selector, bool dark)
{
    sl__json_raw(file, selector);
    sl__json_raw(file, " {");
    for (int i = 0; i < SL_SPAN_KINDS; i++)
        put_look(file, &sl__looks[i], dark);
    for (int i = 0; i < SL__HOST_LOOKS; i++)
        put_look(file, &sl__host_looks[i], dark);
    sl__json_raw(file, "\n}\n");
}

void sl__head_put_palette(sl__outfile *file)
{
    put_paints(file, ":root", false);
    put_paints(file, ":root[data-theme=\"dark\"]", true);
}
