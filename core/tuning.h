/* tuning.h - by which plan the products of a shape are computed: as the backend has measured, or
 * found in the user's cache. */
#ifndef SL_TUNING_H
#define SL_TUNING_H

#include "backend.h"

/* What sl_tune does. The product's operands have been checked. */
sl_status sl__tuning_find(const sl_product *product, bool again, sl_tuning *tuning, sl_error *err);

/* Before the product is enqueued on a device that tunes. Not being able to is no failure: it ends
 * the device's tuning with a notice. SL_EINTERRUPT, SL_EFAULT. */
sl_status sl__tuning_before(const sl_product *product, sl_error *err);

#endif
