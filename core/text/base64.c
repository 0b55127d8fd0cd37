/* base64.c - bytes as letters. */
#include "bytes.h"

void sl__base64_group(uint32_t bits, int n, char digits[4])
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 4; i++)
        digits[i] = i <= n ? all[bits >> (18 - 6 * i) & 63] : '=';
}
