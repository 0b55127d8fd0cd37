/* args.c - what is declared of a custom kernel's arguments: "f32", "inout f32*". */
#include <string.h>

#include "../streamlab.h"

static const char *const names[] = {
#define X(id, name, type, bytes) name,
    SL_ARG_TYPES(X)
#undef X
};

const char *sl_arg_type_name(sl_arg_type type)
{
    return (unsigned)type < SL_ARG_TYPE_COUNT ? names[type] : "unknown";
}

static bool is_space(char c) { return c == ' ' || c == '\t'; }

/* The next word, or "*"; its length. */
static size_t next_word(const char **text)
{
    size_t n = 0;
    while (is_space(**text))
        ++*text;
    if (**text == '*') return 1;
    while ((*text)[n] && !is_space((*text)[n]) && (*text)[n] != '*')
        n++;
    return n;
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

static uint8_t access_of(const char *text, size_t n)
{
    if (is_word(text, n, "in")) return SL_READS;
    if (is_word(text, n, "out")) return SL_WRITES;
    return is_word(text, n, "inout") ? SL_READS | SL_WRITES : 0;
}

static bool find_type(const char *text, size_t n, uint8_t *type)
{
    for (uint8_t i = 0; i < SL_ARG_TYPE_COUNT; i++) {
        if (!is_word(text, n, names[i])) continue;
        *type = i;
        return true;
    }
    return false;
}

/* Ours for a type of C, or NULL. */
static const char *name_of_c(const char *text, size_t n)
{
    static const char *const types[][2] = {
        { "float", "f32" },   { "double", "f64" },   { "half", "f16" },     { "__half", "f16" },
        { "int", "i32" },     { "int32_t", "i32" },  { "unsigned", "u32" }, { "uint32_t", "u32" },
        { "int64_t", "i64" }, { "uint64_t", "u64" }, { "uint8_t", "u8" },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_word(text, n, types[i][0])) return types[i][1];
    return NULL;
}

static bool is_number_type(uint8_t type) { return type <= SL_ARG_U64; }

static bool is_element_type(uint8_t type)
{
    return type != SL_ARG_U32 && type != SL_ARG_I64 && type != SL_ARG_U64;
}

static sl_status refuse(const char *text, const char *why, sl_error *err)
{
    return sl_fail(err, SL_EINVAL, "\"%.60s\" %s", text, why);
}

sl_status sl_arg_parse(const char *text, sl_arg *arg, sl_error *err)
{
    const char *at = text;
    size_t n = next_word(&at);
    *arg = (sl_arg){ .access = access_of(at, n) };
    if (arg->access) {
        at += n;
        n = next_word(&at);
    }
    if (!find_type(at, n, &arg->type) && name_of_c(at, n))
        return sl_fail(err, SL_EINVAL, "\"%.60s\" has C's name of a type: write \"%.*s%s%s\"", text,
                       (int)(at - text), text, name_of_c(at, n), strchr(at, '*') ? "*" : "");
    if (!find_type(at, n, &arg->type))
        return refuse(
            text,
            "is no type of an argument: a number is \"f32\", f64, i32, u32, i64 or u64, a "
            "tensor \"in f32*\", \"out f32*\" or \"inout f32*\" (f32, f64, f16, bf16, "
            "i32, u8)",
            err);
    at += n;
    n = next_word(&at);
    bool is_tensor = is_word(at, n, "*");
    if (is_tensor) {
        at += n;
        n = next_word(&at);
    }
    if (n > 0) return refuse(text, "has something behind the type", err);
    if (is_tensor && !arg->access)
        return refuse(text,
                      "does not say whether the kernel reads or writes it: put in, out or "
                      "inout before it",
                      err);
    if (!is_tensor && arg->access)
        return refuse(text, "is a tensor without its *, or a number, which is only read", err);
    if (is_tensor ? !is_element_type(arg->type) : !is_number_type(arg->type))
        return refuse(text,
                      is_tensor ? "is no tensor: elements are f32, f64, f16, bf16, i32 or u8"
                                : "is no number: those are f32, f64, i32, u32, i64 and u64",
                      err);
    return SL_OK;
}
