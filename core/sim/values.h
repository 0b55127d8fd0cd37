/* values.h - the contents of simulated memory, computed when they are read.
 *
 * A sim_value is the immutable content of a whole buffer at one moment: bytes that have been read
 * or written, or a recipe (kernel and input values) that the CPU computes when it is read. Values
 * are reference-counted: a buffer holds one, an operation holds those that it captured at its
 * start. Nothing here knows time, streams or tensors.
 *
 * Chains are bounded. A loop that applies the same elementwise kernel to a tensor in place is one
 * recipe. sim_value_apply computes a chain deeper than SIM_VALUE_MAX_DEPTH if that takes at most a
 * tenth of a second. A costly chain stays lazy, at about 130 bytes per operation, since the script
 * may never read it: a million products of 1024 x 1024 would take hours. At SIM_VALUE_HARD_DEPTH it
 * is computed in any case, before it fills the host's memory. Neither computing nor freeing
 * recurses on the C stack.
 */
#ifndef SIM_VALUES_H
#define SIM_VALUES_H

#include "../backend.h"

typedef struct sim_value sim_value;

enum { SIM_VALUE_MAX_DEPTH = 4096, SIM_VALUE_HARD_DEPTH = 10000000 };

/* All bytes `byte`; costs no memory however large. NULL: out of memory. */
sim_value *sim_value_bytes_set(size_t bytes, uint8_t byte);

sim_value *sim_value_retain(sim_value *value);
void sim_value_release(sim_value *value); /* NULL is fine */
/* Frees what released values have left for new ones. */
void sim_value_free_spare(void);

/* The inputs of sim_value_apply: SIM_VALUES(a, b). */
#define SIM_VALUES(...) ((sim_value *const[SL_INPUTS]){ __VA_ARGS__ })

/* The result of `work` (a KERNEL other than SPIN) on `in` (NULL where unused), of `bytes` bytes.
 * `replaces` (borrowed, or NULL) is what the output buffer holds and will let go: if it is in[0]
 * and nobody but that buffer and the caller's capture holds it, the same elementwise work over and
 * over becomes one node. FILL, RAND, RANDN have no inputs. NULL: out of memory, also in a forced
 * computation. */
sim_value *sim_value_apply(const sl_work *work, size_t bytes, sim_value *const in[SL_INPUTS],
                           sim_value *replaces);

/* `base` with bytes [dst_offset, dst_offset + bytes) taken from `src` at
 * src_offset. The whole of an equally large src gives src itself, retained. */
sim_value *sim_value_splice(sim_value *base, size_t dst_offset, sim_value *src, size_t src_offset,
                            size_t bytes);

/* `base` with some bytes set (a partial memset). */
sim_value *sim_value_memset(sim_value *base, size_t offset, size_t bytes, uint8_t byte);

/* The same for a kernel whose operands are parts of buffers, as `side` says. `in`, `holds` (the
 * output's) and the result are values of whole buffers. Merges no chains. NULL: out of memory. */
sim_value *sim_value_apply_part(const sl_work *work, const sl_operand *side, sim_value *holds,
                                sim_value *const in[SL_INPUTS]);

/* `n` values of the same size, elements of `dtype`, reduced element by element in the order given:
 * in float32 (float64 in itself, whole numbers in their own size), and rounded once. NULL: out of
 * memory. */
sim_value *sim_value_reduce(sl_reduction reduction, sl_dtype dtype, sim_value *const *in, int n);

/* A range of `value` as a new value. NULL: out of memory. */
sim_value *sim_value_slice(sim_value *value, size_t offset, size_t bytes);

/* Drops older splices that the latest splice of `value` hides, if nobody else holds them. The value
 * stays the same. Without this a buffer whose parts are overwritten again and again would keep all
 * their old contents. */
void sim_value_drop_hidden(sim_value *value);

/* A new value: `base` with `data` written at `offset`. Consumes the caller's
 * reference to base on success, and reuses its memory when it was the last one. */
sim_value *sim_value_write(sim_value *base, size_t offset, size_t bytes, const void *data,
                           sl_error *err);

/* Computes the value if it is not computed yet, and copies bytes out. SL_ENOMEM: the message has
 * the number of bytes that are needed. SL_EINTERRUPT: the user interrupted it. */
sl_status sim_value_read(sim_value *value, size_t offset, size_t bytes, void *data, sl_error *err);

/* An estimate of the seconds that the CPU would compute if the value were read; any number above
 * `limit_s` if it is more than that. */
double sim_value_pending_s(sim_value *value, double limit_s);

/* True once the bytes are there. */
bool sim_value_is_computed(const sim_value *value);

#endif
