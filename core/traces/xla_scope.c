/* xla_scope.c - the module that an operation of JAX or TensorFlow is part of, by its name.
 *
 * A name is a path: scopes, and at the end the operation. JAX's scopes are functions that it traces
 * ("jit(step)"), modules of Flax and others ("Dense_0"), and control flow; around a scope stands
 * what transforms it. transpose(jvp(...)) is the backward pass. TensorFlow has modules alone, and
 * "gradient_tape" before those of the backward pass; behind a colon stands the operation's type.
 */
#include "xla.h"

#include <string.h>

typedef struct part {
    const char *text;
    size_t n;
} part;

static bool begins(part p, const char *start)
{
    const size_t n = strlen(start);
    return p.n >= n && strncmp(p.text, start, n) == 0;
}

/* Takes away "jvp(" and the like, with their brackets. */
static part unwrap(part p, bool *is_backward)
{
    static const char *const wrappers[] = { "transpose(", "jvp(", "vmap(", "remat(",
                                            "checkpoint(" };
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        const size_t n = strlen(wrappers[i]);
        if (!begins(p, wrappers[i]) || p.text[p.n - 1] != ')') continue;
        *is_backward |= i == 0;
        p = (part){ p.text + n, p.n - n - 1 };
        i = (size_t)-1; /* from the first one again */
    }
    return p;
}

static bool is_module(part p, bool *is_backward)
{
    static const char *const others[] = { "while",
                                          "body",
                                          "cond",
                                          "closed_call",
                                          "checkpoint",
                                          "rematted_computation",
                                          "custom_jvp_call",
                                          "custom_vjp_call",
                                          "shard_map",
                                          "pallas_call" };
    if (p.n == 0 || begins(p, "jit(") || begins(p, "pjit(") || begins(p, "branch_")) return false;
    if (begins(p, "gradient_tape") || (p.n == 9 && begins(p, "gradients"))) {
        *is_backward = true;
        return false;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (p.n == strlen(others[i]) && begins(p, others[i])) return false;
    return true;
}

/* Where a scope ends: at a slash outside of brackets; NULL: it is the last part. */
static const char *end_of(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        if (*text == '(') depth++;
        if (*text == ')') depth--;
        if (*text == '/' && depth <= 0) return text;
    }
    return NULL;
}

void sl__xla_scope(const char *name, sl_text *module, bool *is_backward)
{
    *is_backward = false;
    for (const char *end; (end = end_of(name)) != NULL; name = end + 1) {
        const part p = unwrap((part){ name, (size_t)(end - name) }, is_backward);
        if (!is_module(p, is_backward)) continue;
        sl_text_add(module, "%s%.*s", module->len > 0 ? "/" : "", (int)p.n, p.text);
    }
}
