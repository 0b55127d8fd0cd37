/* looks.h - labels and colours of the kinds of work and of the host's calls, in every picture. */
#ifndef SL_PICTURES_LOOKS_H
#define SL_PICTURES_LOOKS_H

#include "../timeline/timeline.h"

/* "#rrggbb" for bars of a kind, their outlines, and text on them. Fills and outlines stand out from
 * the page by a contrast of 3 at least. Any two fills of the kinds and of the host's calls differ
 * for people who are colour-blind (protan, deutan, tritan); those of the kinds also in lightness,
 * so that they differ in a picture printed in grey. */
typedef struct sl__paint {
    const char *fill, *edge, *ink;
} sl__paint;
typedef struct sl__look {
    const char *name;      /* in style sheets: "memcpy_d2h" */
    const char *label;     /* in a legend: "copy D2H" */
    sl__paint light, dark; /* on a white page, on a black one */
} sl__look;
extern const sl__look sl__looks[SL_SPAN_KINDS];

/* Of the host's calls. Those that wait are hatched: no fill, and the page's ink. */
typedef enum sl__host_look {
    SL__HOST_CALLS,
    SL__HOST_WAITS,
    SL__HOST_HELD_UP,
    SL__HOST_WORKS,
    SL__HOST_LOOKS
} sl__host_look;
extern const sl__look sl__host_looks[SL__HOST_LOOKS];
/* The label without the word "copy": "D2H". */
const char *sl__brief_label(sl_span_kind kind);

#endif
