/* philox_words.h - the random words of many blocks, computed side by side. */
#ifndef NUMBERS_PHILOX_WORDS_H
#define NUMBERS_PHILOX_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { PHILOX_SIDE_BLOCKS = 8, PHILOX_SIDE_WORDS = 4 * PHILOX_SIDE_BLOCKS };

/* `words` gets PHILOX_SIDE_WORDS for each of n groups of PHILOX_SIDE_BLOCKS blocks, from
 * `block` on: four a block, in order. */
void philox_words(uint64_t seed, uint64_t sequence, uint64_t block, size_t n_groups,
                  uint32_t *words);

/* The same in plain C, whatever the CPU can do. */
void philox_words_plain(uint64_t seed, uint64_t sequence, uint64_t block, size_t n_groups,
                        uint32_t *words);

#endif
