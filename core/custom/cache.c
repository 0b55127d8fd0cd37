/* cache.c - compiled kernels in the user's cache folder. */
#include "cache.h"

uint64_t sl__cache_hash(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

bool sl__cache_find(const char *key, size_t key_bytes, sl_image *image)
{
    (void)key, (void)key_bytes, (void)image;
    return false;
}

void sl__cache_keep(const char *key, size_t key_bytes, const sl_image *image)
{
    (void)key, (void)key_bytes, (void)image;
}
