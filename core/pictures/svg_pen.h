/* svg_pen.h - what an SVG picture is drawn with: shapes, texts and the colours of a theme.
 *
 * Coordinates are in hundredths of a pixel and printed without a floating-point number. A theme's
 * colours are presentation attributes, which every reader of SVG knows; with the automatic theme
 * these are the light ones, and a style sheet replaces them in the dark, for viewers that know
 * prefers-color-scheme.
 */
#ifndef SL_PICTURES_SVG_PEN_H
#define SL_PICTURES_SVG_PEN_H

#include "looks.h"
#include "svg_bars.h"

#define SL__PX_OF(pixels) ((int64_t)(pixels)*SL__PX)

#define SL__EDGE (SL__PX * 4 / 5) /* around bars */
#define SL__LIGHT 45              /* hundredths: how opaque a bar with gaps is */
#define SL__LIGHTEST 25           /* ... that is busy less than half of the time */
/* Attributes of arrows: of an event for which nothing had to wait; to the host. */
#define SL__NO_WAIT "stroke-dasharray=\"3 2\" opacity=\".6\""
#define SL__HOST_WAIT "stroke-width=\".7\" stroke-dasharray=\"1 2\""

typedef enum sl__role {
    SL__PAGE,
    SL__INK,
    SL__DIM,
    SL__TRACK,
    SL__GRID,
    SL__FRAME,
    SL__HELD,
    SL__HATCH,
    SL__ARROW_INK,
    SL__ROLES
} sl__role;

typedef struct sl__pen {
    sl_text *out;
    sl_theme theme;
} sl__pen;

/* " name=\"12.5\"" of 1250 */
void sl__pen_attribute(const sl__pen *pen, const char *name, int64_t value);
/* "12.5" behind a blank or letter of a path. */
void sl__pen_number(const sl__pen *pen, const char *before, int64_t value);

/* The attributes of a role: its class, and its colour as fill or stroke. */
void sl__pen_role(const sl__pen *pen, sl__role role);
void sl__pen_fill(const sl__pen *pen, const sl__look *look, bool edge); /* of bars */
void sl__pen_hatched(const sl__pen *pen);                               /* of a host that waits */
void sl__pen_ink(const sl__pen *pen, const sl__look *look);             /* of text on bars */
/* "#rrggbb" */
const char *sl__pen_colour(sl__role role, bool dark);
/* The style sheet of the automatic theme, and the patterns. */
void sl__pen_define(const sl__pen *pen);

/* As it is. */
void sl__pen_put(const sl__pen *pen, const char *text);
/* A group of texts of one size and role; its end, or that of another group. */
void sl__pen_texts(const sl__pen *pen, sl__role role, int size);
void sl__pen_end(const sl__pen *pen);

/* <rect .../> without its end: attributes or children may follow. */
void sl__pen_rect(const sl__pen *pen, int64_t x, int64_t y, int64_t width, int64_t height);
/* A text, escaped. `anchor`: "start", "middle", "end". */
void sl__pen_text(const sl__pen *pen, int64_t x, int64_t y, const char *anchor, const char *text);

#endif
