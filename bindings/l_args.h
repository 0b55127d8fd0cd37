/* l_args.h - checks of arguments, and options. `op` is everywhere the name that the user called
 * ("matmul"); it starts the sentence of an error and becomes its field `op`. */
#ifndef L_ARGS_H
#define L_ARGS_H

#include <math.h>

#include "l_box.h"

/* ---- arguments ------------------------------------------------------------ */

/* These raise unless the argument is an open object of the kind. */
int lsl_fail_box(lua_State *L, int arg, lsl_kind kind, const char *name, const char *op) LSL_COLD;
static inline void *lsl_check_box(lua_State *L, int arg, lsl_kind kind, const char *name,
                                  const char *op)
{
    const lsl_box *box = lsl_to(L, arg, kind);
    if (!box || !lsl_is_open(box) || (kind == LSL_TENSOR && sl_tensor_is_freed(box->p)))
        lsl_fail_box(L, arg, kind, name, op);
    return box->p;
}
#define LSL_CHECK(type, kind)                                                          \
    static inline sl_##type *lsl_check_##type(lua_State *L, int arg, const char *name, \
                                              const char *op)                          \
    {                                                                                  \
        return lsl_check_box(L, arg, kind, name, op);                                  \
    }
LSL_CHECK(tensor, LSL_TENSOR)
LSL_CHECK(stream, LSL_STREAM)
LSL_CHECK(event, LSL_EVENT)
LSL_CHECK(graph, LSL_GRAPH)
LSL_CHECK(device, LSL_DEVICE)
#undef LSL_CHECK

/* NULL if the argument is missing or nil. */
sl_stream *lsl_opt_stream(lua_State *L, int arg, const char *name, const char *op);

/* Numbers must be numbers: no text that looks like one, no boolean. */
double lsl_check_odd_number(lua_State *L, int arg, const char *name, const char *op);
static inline double lsl_check_number(lua_State *L, int arg, const char *name, const char *op)
{
    int64_t integer;
    double number;
    if (lsl_read_integer(L, arg, &integer)) return (double)integer;
    return lsl_read_fraction(L, arg, &number) ? number : lsl_check_odd_number(L, arg, name, op);
}
/* A whole number in [least, greatest]; 1024.0 is one, NaN and 1.5 are not. */
int64_t lsl_check_integer(lua_State *L, int arg, const char *name, int64_t least, int64_t greatest,
                          const char *op);
/* A duration from 0 to 1e9 milliseconds, as nanoseconds. */
int64_t lsl_check_ms(lua_State *L, int arg, const char *name, const char *op);
/* Raises if there are more than `n` arguments (self is one) that are not nil. */
void lsl_refuse_more(lua_State *L, int n, const char *op) LSL_COLD;
static inline void lsl_no_more(lua_State *L, int n, const char *op)
{
    if (lsl_top(L) > n) lsl_refuse_more(L, n, op);
}
/* Text without a zero byte. */
const char *lsl_check_text(lua_State *L, int arg, const char *name, const char *op);
void lsl_check_function(lua_State *L, int arg, const char *name, const char *op);
/* Raises "argument 2 (b) must be a tensor, got number". */
int lsl_type_error(lua_State *L, int arg, const char *name, const char *needed,
                   const char *op) LSL_COLD;
/* The number for a message: NaN without a sign, since machines differ in it. */
static inline double lsl_printable(double value) { return value == value ? value : (double)NAN; }
/* Of an element and what it is compared with: the rule of lab.allclose. */
static inline bool lsl_is_close(double got, double want, double rtol, double atol)
{
    return got == want || (isfinite(want) && fabs(got - want) <= atol + rtol * fabs(want));
}
/* What a user calls the type of the value: "nothing", "number", "stream". */
const char *lsl_type_name(lua_State *L, int idx);

enum { LSL_SHAPE_TEXT = SL_MAX_DIMS * 21 + 1 };
/* "2x3", "scalar"; gives `text`, of LSL_SHAPE_TEXT bytes. */
const char *lsl_format_shape(const sl_tensor_spec *spec, char *text);
static inline bool lsl_same_shape(const sl_tensor_spec *a, const sl_tensor_spec *b)
{
    if (a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}
/* Dimension `arg` of a tensor as the core counts, from 0: 1 is the first and -1 the last. */
int lsl_check_dimension(lua_State *L, int arg, const sl_tensor_spec *spec, const char *op);
/* The stream in which a copy runs if none is given: the current one of the device that
 * it comes from, or else goes to. Host memory belongs to no GPU. */
sl_stream *lsl_copy_stream(lua_State *L, sl_tensor *dst, sl_tensor *src);

/* Raises after core.close_files. */
void lsl_check_files(lua_State *L, const char *op);

/* ---- options (l_options.c) ------------------------------------------------ */

typedef enum lsl_option_kind {
    LSL_OPT_BOOL,    /* int *: 0 or 1 */
    LSL_OPT_INTEGER, /* int64_t *: whole and >= 0 */
    LSL_OPT_COUNT,   /* int64_t *: whole and >= 1 */
    LSL_OPT_SEED,    /* lsl_seed *: whole */
    LSL_OPT_NUMBER,  /* double *: not NaN */
    LSL_OPT_TEXT,    /* const char **: without zero bytes; valid while the table is */
    LSL_OPT_STREAM,  /* sl_stream **: borrowed from the table */
    LSL_OPT_OUT,     /* lsl_out *: a tensor, also copied into a stack slot */
    LSL_OPT_DEVICE,  /* sl_device **: a device of lab.open */
    LSL_OPT_ANY      /* int *: the value is copied into this stack slot */
} lsl_option_kind;

typedef struct lsl_out {
    sl_tensor *tensor; /* NULL if the option was not given */
    int slot;          /* an index of the caller's stack; set before */
} lsl_out;

typedef struct lsl_seed {
    int64_t value; /* what it was before if the option was not given */
    bool given;
} lsl_seed;

typedef struct lsl_option {
    const char *name;
    lsl_option_kind kind;
    void *to; /* keeps its value when the option is not given */
} lsl_option;

/* Where a tensor is to be, or a stream. */
typedef struct lsl_home {
    bool host;
    sl_device *device; /* NULL: the host, or the current GPU */
} lsl_home;

/* Reads "cpu", "cuda", "cuda:1" or a device of lab.open from stack index `idx`. False:
 * it is none of these. Opens a device that is not open; see lsl_device_at. */
bool lsl_read_home(lua_State *L, int idx, lsl_home *home, const char *op);
/* Pushes what was given at `idx` instead, for the message. */
const char *lsl_push_given(lua_State *L, int idx);

/* The stream given at `arg`, as a stream or as {stream = s}; NULL for none. */
sl_stream *lsl_stream_option(lua_State *L, int arg, const char *op);

/* Reads the options table at `arg`; nothing and nil are no options. An unknown
 * name or a wrong type raises. Allocates nothing. */
void lsl_options(lua_State *L, int arg, const lsl_option *options, int n, const char *op);

/* An option that is a whole number. */
typedef struct lsl_quick_whole {
    lsl_quick_name name;
    int64_t least;
    int64_t *to;
} lsl_quick_whole;

/* What lsl_quick_options reads. */
typedef struct lsl_quick {
    sl_stream *stream;   /* NULL if it was not given */
    sl_tensor *out;      /* likewise */
    bool takes_out;      /* the call has that option */
    lsl_quick_name flag; /* which option that is true or false the call has, or */
    int flag_value;      /* LSL_QUICK_NAMES for none */
    const lsl_quick_whole *whole;
    int n_whole;
} lsl_quick;

/* Reads the options table at `arg` as lsl_options does, but faster, as long as nothing is wrong,
 * and pushes the tensor `out` if it was given. False: something may be wrong; call lsl_options,
 * which reports it. Raises and allocates nothing. */
bool lsl_quick_options(lua_State *L, int arg, lsl_quick *quick);
/* Makes the names known to the state. */
void lsl_define_options(lua_State *L);

/* *epilogue, with what the options bias and activation gave; NULL if they are NULL. Raises for
 * another name of an activation. */
const sl_epilogue *lsl_epilogue(lua_State *L, sl_tensor *bias, const char *activation,
                                sl_epilogue *epilogue, const char *op);

#endif
