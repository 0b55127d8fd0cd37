/* gains.h - how much time removing each cause of waiting would gain. */
#ifndef SL_WHATIF_GAINS_H
#define SL_WHATIF_GAINS_H

#include "../timeline/findings.h"

/* Sets gain_ns of the findings, and sorts findings and waits by it. Their same_as is set
 * (advice.h). SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__gains_find(const sl__operations *ops, sl__waits *waits, sl_explanation *explanation,
                         sl_error *err);

#endif
