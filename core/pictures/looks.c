/* looks.c - labels and colours of the kinds of work and of the host's calls. */
#include "pictures.h"

#include <string.h>

/* Lightness (CIE L*) on white: 14 copy P2P, 21, 29, 38, 45 kernel, 52, 58 memset; on black 46
 * copy P2P, 53, 61, 70 kernel, 77, 87, 95. Found by a search for the greatest least difference
 * (CIEDE2000) under the three simulations, t-77-colours.c; edges are darker shades of the fills
 * on white, lighter ones on black. */
const sl_look sl_looks[SL_SPAN_KINDS] = {
    [SL_SPAN_KERNEL] = { "kernel", "kernel",
        { "#277849", "#1d5936", "#ffffff" }, { "#6abb99", "#a6d6c2", "#111418" }, },
    [SL_SPAN_COLLECTIVE] = { "collective", "collective",
        { "#180e15", "#120a10", "#ffffff" }, { "#8f7fae", "#bcb2ce", "#111418" }, },
    [SL_SPAN_MEMCPY_H2D] = { "memcpy_h2d", "copy H2D",
        { "#0084bb", "#00628a", "#000000" }, { "#b6e1ff", "#d3edff", "#111418" }, },
    [SL_SPAN_MEMCPY_D2H] = { "memcpy_d2h", "copy D2H",
        { "#5e1ba1", "#461477", "#ffffff" }, { "#8089f7", "#b3b8fa", "#111418" }, },
    [SL_SPAN_MEMCPY_D2D] = { "memcpy_d2d", "copy D2D",
        { "#7f4f05", "#5e3a04", "#ffffff" }, { "#f8ad5e", "#fbce9e", "#111418" }, },
    [SL_SPAN_MEMCPY_P2P] = { "memcpy_p2p", "copy P2P",
        { "#44004b", "#320038", "#ffffff" }, { "#9045d6", "#bc8fe6", "#ffffff" }, },
    [SL_SPAN_MEMSET] = { "memset", "memset",
        { "#a9892f", "#7d6523", "#111418" }, { "#fff727", "#fffa7d", "#111418" }, },
    [SL_SPAN_HOST_FUNC] = { "host_func", "host function",
        { "#5d1f00", "#451700", "#ffffff" }, { "#8a7669", "#b9ada5", "#000000" }, },
};

const sl_look sl_host_looks[SL_HOST_LOOKS] = {
    [SL_HOST_CALLS] = { "issue", "host call",
        { "#898c93", "#65686d", "#111418" }, { "#6b6c77", "#a6a7ad", "#ffffff" }, },
    [SL_HOST_WAITS] = { "wait", "host waits",
        { "#543b39", "#543b39", "#1d2329" }, { "#fcd5d8", "#fcd5d8", "#e8eaed" }, },
    [SL_HOST_HELD_UP] = { "cost", "host held up",
        { "#ce5166", "#983c4b", "#000000" }, { "#e86144", "#f1a08f", "#111418" }, },
    [SL_HOST_WORKS] = { "work", "host’s own work",
        { "#515a75", "#3c4357", "#ffffff" }, { "#a2a7b5", "#c7cad3", "#111418" }, },
};

const char *sl_brief_label(sl_span_kind kind)
{
    const char *label = sl_looks[kind].label;
    return strncmp(label, "copy ", 5) == 0 ? label + 5 : label;
}
