/* needs.h - which operation an operation needs: the ones before it that touched the same bytes,
 * one of the two writing. Kept while somebody has asked for it (sl_race_keep_needs). */
#ifndef SL_RACE_NEEDS_H
#define SL_RACE_NEEDS_H

#include "accesses.h"

extern bool sl__needs_kept;

/* The later access needs the earlier one's operation. Without memory nothing more is kept. */
void sl__needs_add(const sl__access *later, const sl__access *earlier);

#endif
