/* describe.c - a launch of a custom kernel in words: "saxpy(2, in f32*[1024], inout
 * f32*[32,32])". */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "custom_kernel.h"

typedef struct words {
    char *text;
    size_t n, cap;
} words;

static void add(words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->n, w->cap - w->n, format, args);
    va_end(args);
    w->n += n < 0 ? 0 : (size_t)n < w->cap - w->n ? (size_t)n : w->cap - w->n - 1;
}

static size_t element_bytes(const sl_arg *arg)
{
    static const uint8_t bytes_of[] = {
#define X(id, name, type, bytes) bytes,
        SL_ARG_TYPES(X)
#undef X
    };
    return bytes_of[arg->type];
}

/* The shape of the tensor that the memory was made for, if the launch uses all of it; else how many
 * elements it uses. */
static void add_shape(words *w, const sl_arg *arg, const sl_operand *operand)
{
    const sl_tensor_spec *spec = &operand->buffer->made_as;
    const int64_t elems = (int64_t)(operand->bytes / element_bytes(arg));
    int64_t whole = spec->ndim > 0;
    for (int i = 0; i < spec->ndim; i++)
        whole *= spec->dim[i];
    add(w, "[");
    if (whole != elems || operand->offset > 0 || spec->ndim == 0) add(w, "%lld", (long long)elems);
    for (int i = 0; whole == elems && operand->offset == 0 && i < spec->ndim; i++)
        add(w, "%s%lld", i ? "," : "", (long long)spec->dim[i]);
    add(w, "]");
}

static void add_number(words *w, const sl_arg *arg, uint64_t bits)
{
    float f32;
    double f64;
    int32_t i32;
    memcpy(&f32, &bits, sizeof f32);
    memcpy(&f64, &bits, sizeof f64);
    memcpy(&i32, &bits, sizeof i32);
    switch (arg->type) {
    case SL_ARG_F32: add(w, "%g", (double)f32); break;
    case SL_ARG_F64: add(w, "%g", f64); break;
    case SL_ARG_I32: add(w, "%ld", (long)i32); break;
    case SL_ARG_I64: add(w, "%lld", (long long)bits); break;
    default: add(w, "%llu", (unsigned long long)bits); break;
    }
}

static void add_arg(words *w, const sl_arg *arg, const sl_operand *operand)
{
    if (!arg->access) {
        add_number(w, arg, operand->bits);
        return;
    }
    add(w, "%s %s*", sl__arg_access(arg), sl_arg_type_name((sl_arg_type)arg->type));
    add_shape(w, arg, operand);
}

void sl__custom_describe(const sl_custom_call *call, char *text, size_t text_bytes)
{
    words w = { text, 0, text_bytes };
    add(&w, "%s(", call->kernel->name);
    for (uint32_t i = 0; i < call->n; i++) {
        add(&w, "%s", i ? ", " : "");
        add_arg(&w, &call->kernel->args[i], &call->arg[i]);
    }
    add(&w, ")");
    if (w.n + 1 == text_bytes) snprintf(text + text_bytes - 5, 5, "...)");
}
