/* gains.h - how much time removing each cause of waiting would gain: what was found gets its gains,
 * and their order. */
#ifndef SL_WHATIF_GAINS_H
#define SL_WHATIF_GAINS_H

#include "../timeline/findings.h"

/* Sets gain_ns of the findings, and sorts them by it: `waits`, which are theirs, then are in the
 * new order, and the explanation's own are not there yet. Their same_as is set (advice.h). Plays
 * the recording again for each cause: some tenths of a second for each million operations.
 * SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__gains_find(const sl__operations *ops, sl__waits *waits, sl_explanation *explanation,
                         sl_error *err);

#endif
