/* data_needs.h - which operations need what others did, as far as it is known: they read what
 * those have written. Work of the host needs also that what it overwrites is not read any more.
 *
 * Known are the operands of our own recordings (sl_touch_note). Two operations that had an order as
 * recorded, and have none in the changed program, are what an edit has broken. */
#ifndef SL_WHATIF_DATA_NEEDS_H
#define SL_WHATIF_DATA_NEEDS_H

#include "program.h"

/* SL_EINVAL: `changed` has lost the order of two such operations, which the sentence names after
 * `edit`; SL_ENOMEM, SL_EINTERRUPT. Where a search takes long, an order is taken to be there. */
sl_status sl__needs_check(const sl__program *recorded, const sl__program *changed, const char *edit,
                          sl_error *err);

#endif
