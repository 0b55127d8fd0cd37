/* sort.h - puts times in order, which often are so already: those of a stream, of a thread, of a
 * buffer. For the readers of timelines and for those of traces.
 */
#ifndef SL_TIMELINE_SORT_H
#define SL_TIMELINE_SORT_H

#include <stddef.h>

/* qsort, but linear where the elements are in order already or in the opposite order, or of a few
 * rows in order that take turns, and faster the fewer runs of these there are: n elements of `size`
 * bytes, of which `compare` gets two. Equal ones stay in their order where there is memory for
 * that: as much as the elements take and a byte each, or 17 bytes for each large one. */
void sl__sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
