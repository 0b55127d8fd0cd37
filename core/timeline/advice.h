/* advice.h - which findings one piece of advice ends, and which advice is a word in the program.
 *
 * Waits of one call or line come in several findings: of each engine that stood still, of each name
 * that waited. What one change of the program ends is one cause: its findings are shown together,
 * and have one gain, that of ending all of them. */
#ifndef SL_TIMELINE_ADVICE_H
#define SL_TIMELINE_ADVICE_H

#include "operations.h"

#define SL__GROUPED_FINDINGS 64 /* the first of them; each of the others stays alone */

/* A launch whose call is long because it is the first one of its kind: it loads code, or makes a
 * handle, or uploads the graph. Whatever it launches, one run before the part that counts ends
 * it. */
typedef enum sl__first { SL__NOT_FIRST, SL__FIRST_KERNEL, SL__FIRST_GRAPH } sl__first;
sl__first sl__first_launch(const sl__operations *ops, size_t item);

/* The copy right before this synchronisation, of the same stream and line, for which it waits; or
 * SL__NO_ITEM. A copy that blocks the host is two calls of CUDA in PyTorch, and here. */
size_t sl__copy_before_sync(const sl__operations *ops, size_t item);

/* Fewer launches end it, as a graph has: no other stream's work was issued meanwhile. */
bool sl__is_of_launches(const sl__operations *ops, const sl_finding *f);

/* A word ends it: pinned memory, or a copy that does not block the host. */
bool sl__is_one_word(const sl__operations *ops, const sl_finding *f);

/* Sets same_as of all findings: the first that the same advice ends, or itself. */
void sl__causes_group(const sl__operations *ops, sl_explanation *explanation);

#endif
