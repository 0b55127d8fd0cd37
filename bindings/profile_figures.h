/* profile_figures.h - the figures of the profiles that are built in (scripts/profiles/), as the
 * simulator takes them. Their definition is generated at build time
 * (bindings/generate/figures.lua); the program that does so has none (figures_none.c). An entry
 * without a profile ends it. */
#ifndef LSL_PROFILE_FIGURES_H
#define LSL_PROFILE_FIGURES_H

#include "../core/streamlab.h"

typedef struct lsl_figures {
    const char *profile;
    const sl_setting *settings;
    size_t n;
} lsl_figures;

extern const lsl_figures lsl_built_in_figures[];

#endif
