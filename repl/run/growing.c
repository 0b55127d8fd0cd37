/* growing.c - arrays that grow. */
#include "growing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

/* `array` points to a pointer of any type, so it is copied, not read as a void pointer. */
bool grow(void *array, size_t *room, size_t n, size_t element_bytes)
{
    size_t wanted = *room ? *room : FIRST_ROOM;
    while (wanted < n && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    if (wanted < n || wanted > SIZE_MAX / element_bytes) return false;
    char *larger;
    memcpy(&larger, array, sizeof larger);
    larger = realloc(larger, wanted * element_bytes);
    if (!larger) return false;
    memcpy(array, &larger, sizeof larger);
    *room = wanted;
    return true;
}
