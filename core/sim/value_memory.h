/* value_memory.h - results that are kept, for runs that compute the same again.
 *
 * While results are kept, each node that is made is signed: with a digest of what it is computed
 * from, which are kernels, their arguments, and bytes that the host has written. Equal digests
 * mean equal bytes, whichever run or device asks, in whichever order. Results of kernels that
 * call functions of the program are not kept. What is computed about as fast as it is copied is
 * not kept either, nor what does not fit into a quarter of the host's memory.
 */
#ifndef SIM_VALUE_MEMORY_H
#define SIM_VALUE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_value sim_value;

typedef struct sim_digest {
    uint64_t a, b;
} sim_digest;

/* From now on; false forgets all. */
void sim_memory_keep(bool keeps);
bool sim_memory_keeps(void);

/* For a new node whose inputs are known. */
void sim_memory_sign(sim_value *value);
/* The host has written into its bytes. */
void sim_memory_unsign(sim_value *value);

/* A copy of its result, of malloc; NULL: it is not known, or there is no memory for it. */
uint8_t *sim_memory_recall(const sim_value *value);
/* Keeps the result of a node that was just computed; `digest` is what sim_memory_digest gave
 * before. */
bool sim_memory_digest(sim_value *value, sim_digest *digest);
void sim_memory_store(const sim_digest *digest, const sim_value *value);

#endif
