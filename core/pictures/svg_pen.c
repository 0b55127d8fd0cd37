/* svg_pen.c - shapes and colours as SVG. */
#include "svg_pen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../text/xml.h"

static const struct {
    const char *name, *property, *light, *dark;
} roles[SL__ROLES] = {
    [SL__PAGE] = { "page", "fill", "#ffffff", "#16191d" },
    [SL__INK] = { "ink", "fill", "#1d2329", "#e8eaed" },
    [SL__DIM] = { "dim", "fill", "#5c6670", "#9aa4af" },
    [SL__TRACK] = { "track", "fill", "#f4f5f7", "#1e2227" },
    [SL__GRID] = { "grid", "stroke", "#dde1e6", "#2e343c" },
    [SL__FRAME] = { "frame", "stroke", "#8a939d", "#6b7580" },
    [SL__HELD] = { "held", "fill", "#e9ebee", "#2f363e" },
    [SL__HATCH] = { "hatch", "stroke", "#aab2bb", "#5d6873" },
    [SL__ARROW_INK] = { "arrow", "stroke", "#1d2329", "#eceef0" },
};

static bool is_dark(const sl__pen *pen) { return pen->theme == SL_THEME_DARK; }

/* "12", "12.5", "-0.25" */
static const char *format(char text[32], int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int n = snprintf(text, 32, "%s%" PRIu64 ".%02d", value < 0 ? "-" : "", size / SL__PX,
                     (int)(size % SL__PX));
    while (text[n - 1] == '0')
        n--;
    text[text[n - 1] == '.' ? n - 1 : n] = '\0';
    return text;
}

void sl__pen_attribute(const sl__pen *pen, const char *name, int64_t value)
{
    char text[32];
    sl_text_add(pen->out, " %s=\"%s\"", name, format(text, value));
}

void sl__pen_number(const sl__pen *pen, const char *before, int64_t value)
{
    char text[32];
    sl_text_add(pen->out, "%s%s", before, format(text, value));
}

/* A class is there for the style sheet alone. The picture may become a part of a page,
 * whose classes are not ours. */
static void put_class(const sl__pen *pen, const char *what, const char *name)
{
    if (pen->theme == SL_THEME_AUTO) sl_text_add(pen->out, " class=\"sl-%s%s\"", what, name);
}

const char *sl__pen_colour(sl__role role, bool dark)
{
    return dark ? roles[role].dark : roles[role].light;
}

void sl__pen_role(const sl__pen *pen, sl__role role)
{
    put_class(pen, "", roles[role].name);
    sl_text_add(pen->out, " %s=\"%s\"", roles[role].property, sl__pen_colour(role, is_dark(pen)));
}

static const sl__paint *paint_of(const sl__pen *pen, const sl__look *look)
{
    return is_dark(pen) ? &look->dark : &look->light;
}

static void put_edge(const sl__pen *pen, const sl__look *look)
{
    sl_text_add(pen->out, " stroke=\"%s\"", paint_of(pen, look)->edge);
    sl__pen_attribute(pen, "stroke-width", SL__EDGE);
}

void sl__pen_fill(const sl__pen *pen, const sl__look *look, bool edge)
{
    char edged[64];
    snprintf(edged, sizeof edged, "%s sl-edge-", look->name);
    put_class(pen, edge ? edged : "", look->name);
    sl_text_add(pen->out, " fill=\"%s\"", paint_of(pen, look)->fill);
    if (edge) put_edge(pen, look);
}

void sl__pen_hatched(const sl__pen *pen)
{
    const sl__look *look = &sl__host_looks[SL__HOST_WAITS];
    put_class(pen, "edge-", look->name);
    sl__pen_put(pen, " fill=\"url(#streamlab-held)\"");
    put_edge(pen, look);
}

void sl__pen_ink(const sl__pen *pen, const sl__look *look)
{
    put_class(pen, "on-", look->name);
    sl_text_add(pen->out, " fill=\"%s\"", paint_of(pen, look)->ink);
}

static void put_look(const sl__pen *pen, const sl__look *look)
{
    const sl__paint *paint = &look->dark;
    sl_text_add(pen->out, ".sl-%s{fill:%s} .sl-edge-%s{stroke:%s} .sl-on-%s{fill:%s}\n", look->name,
                paint->fill, look->name, paint->edge, look->name, paint->ink);
}

static void put_style(const sl__pen *pen)
{
    sl_text_add(pen->out, "<style>\n@media (prefers-color-scheme: dark) {\n");
    for (int i = 0; i < SL__ROLES; i++)
        sl_text_add(pen->out, ".sl-%s{%s:%s}\n", roles[i].name, roles[i].property, roles[i].dark);
    for (int i = 0; i < SL_SPAN_KINDS; i++)
        put_look(pen, &sl__looks[i]);
    for (int i = 0; i < SL__HOST_LOOKS; i++)
        put_look(pen, &sl__host_looks[i]);
    sl_text_add(pen->out, "}\n</style>\n");
}

/* The pattern for a host that waits: neither busy nor free. */
void sl__pen_define(const sl__pen *pen)
{
    if (pen->theme == SL_THEME_AUTO) put_style(pen);
    sl_text_add(pen->out, "<defs><pattern id=\"streamlab-held\" width=\"5\" height=\"5\" "
                          "patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\"");
    sl__pen_role(pen, SL__HELD);
    sl_text_add(pen->out, "/><path d=\"M-1 1L1 -1M0 5L5 0M4 6L6 4\" stroke-width=\"1\"");
    sl__pen_role(pen, SL__HATCH);
    sl_text_add(pen->out, "/></pattern></defs>\n");
}

void sl__pen_put(const sl__pen *pen, const char *text) { sl_text_add(pen->out, "%s", text); }

void sl__pen_texts(const sl__pen *pen, sl__role role, int size)
{
    sl_text_add(pen->out, "<g font-size=\"%d\"", size);
    sl__pen_role(pen, role);
    sl__pen_put(pen, ">\n");
}

void sl__pen_end(const sl__pen *pen) { sl__pen_put(pen, "</g>\n"); }

void sl__pen_rect(const sl__pen *pen, int64_t x, int64_t y, int64_t width, int64_t height)
{
    sl_text_add(pen->out, "<rect");
    sl__pen_attribute(pen, "x", x);
    sl__pen_attribute(pen, "y", y);
    sl__pen_attribute(pen, "width", width);
    sl__pen_attribute(pen, "height", height);
}

void sl__pen_text(const sl__pen *pen, int64_t x, int64_t y, const char *anchor, const char *text)
{
    sl_text_add(pen->out, "<text");
    sl__pen_attribute(pen, "x", x);
    sl__pen_attribute(pen, "y", y);
    if (strcmp(anchor, "start") != 0) sl_text_add(pen->out, " text-anchor=\"%s\"", anchor);
    sl_text_add(pen->out, ">");
    sl__xml_add(pen->out, text, 0);
    sl_text_add(pen->out, "</text>\n");
}
