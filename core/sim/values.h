/* values.h - what simulated memory holds: values on demand.
 *
 * A sim_value is the immutable content of a whole buffer at one moment: bytes
 * that have been read or written, or a recipe (kernel and input values) that is
 * computed on the CPU when it is read. Values are reference-counted; a
 * buffer holds one, an operation holds those that it captured at its virtual
 * start. Nothing here knows time, streams or tensors.
 *
 * Chains are bounded: the same kernel applied in place over and over is one
 * recipe with a repeat count; a chain deeper than SIM_VALUE_MAX_DEPTH is computed
 * by sim_value_apply when that is cheap (a tenth of a second). A costly one stays
 * lazy, at about 130 bytes an operation, since the script may never read it: computing
 * a million products of 1024 x 1024 for nothing would take hours. It is computed in any
 * case at SIM_VALUE_HARD_DEPTH, before it fills the host's memory. Neither
 * computing nor freeing recurses on the C stack.
 */
#ifndef SIM_VALUES_H
#define SIM_VALUES_H

#include "../backend.h"

typedef struct sim_value sim_value;

enum { SIM_VALUE_MAX_DEPTH = 4096, SIM_VALUE_HARD_DEPTH = 10000000 };

/* All bytes `byte`; costs no memory however large. NULL: out of memory. */
sim_value *sim_value_bytes_set(size_t bytes, uint8_t byte);

sim_value *sim_value_retain(sim_value *value);
void sim_value_release(sim_value *value);           /* NULL is fine */

/* The value of running `work` (a KERNEL other than SPIN) on in0, in1 (NULL where
 * unused), giving `bytes` bytes. `replaces` is what the output buffer holds now
 * (borrowed): if it is in0 or in1, nobody else holds it, and it was made by the
 * same work on the same other input, the repeat count goes up and the same
 * object comes back retained. The caller holds one reference to in0 and in1
 * (the capture; two if they are the same value) and the buffer one to
 * `replaces`. The result must replace it before anybody looks at the buffer
 * again, since merging changes what the old object stands for. FILL, RAND,
 * RANDN have no inputs. NULL: out of memory (also of a forced computation). */
sim_value *sim_value_apply(const sl_work *work, size_t bytes, sim_value *in0, sim_value *in1,
                           sim_value *replaces);

/* `base` with bytes [dst_offset, dst_offset + bytes) taken from `src` at
 * src_offset. The whole of an equally large src gives src itself, retained. */
sim_value *sim_value_splice(sim_value *base, size_t dst_offset, sim_value *src, size_t src_offset,
                            size_t bytes);

/* `base` with some bytes set (a partial memset). */
sim_value *sim_value_memset(sim_value *base, size_t offset, size_t bytes, uint8_t byte);

/* A kernel whose operands are parts of buffers, as `work` says: in0 and in1 are what their
 * buffers hold in whole, `holds` what the output's does, and so is the result. No chain is
 * merged. NULL: out of memory. */
sim_value *sim_value_apply_part(const sl_work *work, sim_value *holds, sim_value *in0,
                                sim_value *in1);

/* Of a part that was put into `value` last: forgets older ones that it hides, as far down as
 * nobody else can see them. The value stays the same. For a buffer whose parts are written
 * over and over, which would keep all that they ever held. */
void sim_value_drop_hidden(sim_value *value);

/* A new value: `base` with `data` written at `offset`. Consumes the caller's
 * reference to base on success, and reuses its memory when it was the last one. */
sim_value *sim_value_write(sim_value *base, size_t offset, size_t bytes, const void *data,
                           sl_error *err);

/* Computes the value if need be and copies bytes out. SL_ENOMEM names the bytes
 * needed; SL_EUNSUPPORTED if BLAS is needed and missing is never returned: a
 * plain loop stands in, slower. */
sl_status sim_value_read(sim_value *value, size_t offset, size_t bytes, void *data, sl_error *err);

/* About how long reading some of it would compute on the CPU, in seconds; something above
 * `limit_s` if it is more than that. */
double sim_value_pending_s(sim_value *value, double limit_s);

/* True once the bytes are there (for tests). */
bool sim_value_is_computed(const sim_value *value);

#endif
