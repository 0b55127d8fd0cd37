/* cause_records.h - which findings of an explanation have the same cause.
 *
 * An engine that was idle is a finding of its own, so that one call of the host may be behind
 * several of them. They are shown together. */
#ifndef SL_TIMELINE_CAUSE_RECORDS_H
#define SL_TIMELINE_CAUSE_RECORDS_H

#include "operations.h"

#define SL__GROUPED_FINDINGS 64 /* the first of them; each of the others stays alone */

/* Sets same_as of all findings, which are in their final order. */
void sl__causes_group(const sl__operations *ops, sl_explanation *explanation);

#endif
