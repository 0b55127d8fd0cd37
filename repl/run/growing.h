/* growing.h - arrays that grow, in the program's C files.
 * The core has its own in core/base.h, which nothing above it includes. */
#ifndef REPL_GROWING_H
#define REPL_GROWING_H

#include <stdbool.h>
#include <stddef.h>

/* Room for n elements in `array`, a pointer that has room for `room` of them (size_t; NULL and 0 at
 * first). A larger array is at least twice as large. False: out of memory, and nothing has
 * changed. */
#define GROW(array, room, n) ((n) <= (room) || grow(&(array), &(room), n, sizeof *(array)))
/* What GROW calls: `array` is the address of the pointer. */
bool grow(void *array, size_t *room, size_t n, size_t element_bytes);

#endif
