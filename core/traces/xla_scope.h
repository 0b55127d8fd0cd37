/* xla_scope.h - the module that an operation of JAX or TensorFlow is part of, by its name. */
#ifndef SL_TRACES_XLA_SCOPE_H
#define SL_TRACES_XLA_SCOPE_H

#include "../text/text.h"

/* Adds it to *module: "jit(step)/transpose(jvp(Net))/Dense_0/dot_general" is part of "Net/Dense_0",
 * and *is_backward. Nothing is added where the name has no scopes. */
void sl__xla_scope(const char *name, sl_text *module, bool *is_backward);

#endif
