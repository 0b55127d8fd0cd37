/* sha256.c - SHA-256 as FIPS 180-4 has it: section 4.1.2 the functions, 4.2.2 the constants, 5.1.1
 * the padding, 6.2.2 the rounds.
 */
#include "bytes.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 64, LENGTH_BYTES = 8, WORDS = 8, ROUNDS = 64 };

static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t word_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void spread_block(const unsigned char *block, uint32_t w[ROUNDS])
{
    for (int i = 0; i < 16; i++)
        w[i] = word_at(block + 4 * i);
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

/* s[0] to s[7] are FIPS's a to h. */
static void add_block(uint32_t hash[WORDS], const unsigned char *block)
{
    uint32_t w[ROUNDS], s[WORDS];
    spread_block(block, w);
    memcpy(s, hash, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t sum1 = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t t1 = s[7] + sum1 + choice + constants[i] + w[i];
        uint32_t sum0 = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < WORDS; i++)
        hash[i] += s[i];
}

/* The rest of the bytes, less than a block, then a one bit, zeros, and the length in bits. */
static void add_end(uint32_t hash[WORDS], const unsigned char *rest, size_t n_rest, uint64_t n)
{
    unsigned char end[2 * BLOCK_BYTES] = { 0 };
    size_t n_end = n_rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    if (n_rest > 0) memcpy(end, rest, n_rest);
    end[n_rest] = 0x80;
    for (int i = 0; i < LENGTH_BYTES; i++)
        end[n_end - 1 - (size_t)i] = (unsigned char)(n * 8 >> 8 * i);
    for (size_t at = 0; at < n_end; at += BLOCK_BYTES)
        add_block(hash, end + at);
}

void sl_sha256(const void *bytes, size_t n, char text[SL_SHA256_CHARS])
{
    uint32_t hash[WORDS] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    const unsigned char *from = bytes;
    size_t whole = n - n % BLOCK_BYTES;
    for (size_t at = 0; at < whole; at += BLOCK_BYTES)
        add_block(hash, from + at);
    add_end(hash, n > whole ? from + whole : NULL, n - whole, n);
    for (int i = 0; i < WORDS; i++)
        snprintf(text + 8 * i, 9, "%08x", (unsigned)hash[i]);
}
