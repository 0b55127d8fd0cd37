/* unit.c - the text that is compiled: CUDA for the host, the user's source, and what calls it. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../custom/source_check.h"
#include "device_text.h"
#include "fences.h"

static const char *const type_names[] = {
#define X(id, name, type, bytes) type,
    SL_ARG_TYPES(X)
#undef X
};

const char *emu_unit_file(const sl_custom *kernel)
{
    const bool has_own = kernel->file && !emu_fences() && sl_source_file_is_plain(kernel->file);
    return has_own ? kernel->file : SL_SOURCE_FILE;
}

static void add_device_file(emu_text *unit, const char *name)
{
    for (const emu_device_file *file = emu_device_files; file->name; file++) {
        const char *slash = strrchr(file->name, '/');
        if (strcmp(slash + 1, name) != 0) continue;
        emu_text_printf(unit, "#line 1 \"<streamlab>/%s\"\n", name);
        emu_text_add(unit, file->data, file->len);
    }
}

static void add_line(emu_text *unit, const sl_custom *kernel, int line)
{
    emu_text_printf(unit, "#line %d \"%s\"\n", line, emu_unit_file(kernel));
}

/* "const float *" or "float": what the wrapper passes. */
static void add_type(emu_text *unit, const sl_arg *arg)
{
    emu_text_printf(unit, "%s%s", type_names[arg->type], arg->access ? " *" : "");
}

static void add_wrapper(emu_text *unit, const sl_custom *kernel)
{
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        emu_text_puts(unit, "EMU_STATE static ");
        add_type(unit, &kernel->args[i]);
        emu_text_printf(unit, " emu_arg%u;\n", i);
    }
    emu_text_puts(
        unit,
        "EMU_UNCHECKED static void emu_set_args(const void *const *args)\n{\n    (void)args;\n");
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        emu_text_printf(unit, "    emu_arg%u = *(", i);
        add_type(unit, &kernel->args[i]);
        emu_text_printf(unit, " const *)args[%u];\n", i);
    }
    emu_text_puts(unit, "}\nEMU_UNCHECKED static inline auto emu_bind_kernel()\n{\n    return [");
    for (uint32_t i = 0; i < kernel->n_args; i++)
        emu_text_printf(unit, "%sa%u = emu_arg%u", i ? ", " : "", i, i);
    emu_text_puts(unit, "]() EMU_UNCHECKED __attribute__((__always_inline__)) { emu_call_kernel(");
    for (uint32_t i = 0; i < kernel->n_args; i++)
        emu_text_printf(unit, "%sa%u", i ? ", " : "", i);
    emu_text_puts(unit, "); };\n}\n");
}

/* The kernel's name may be a template's with arguments, a macro, any untrusted words: they
 * are in this function alone, which is checked like the kernel. Its own words are no macros. */
static void add_call(emu_text *unit, const sl_custom *kernel)
{
    emu_text head = { 0 };
    emu_text_puts(&head, "static inline void emu_call_kernel(");
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        emu_text_puts(&head, i ? ", " : "");
        add_type(&head, &kernel->args[i]);
        emu_text_printf(&head, " emu_a%u", i);
    }
    emu_text_puts(unit,
                  "__asm__(\"\");\n#undef __noinline__\n"); /* ends what has no end; macros.h */
    if (head.data) emu_source_undefine(head.data, unit);
    add_line(unit, kernel, kernel->line > 0 ? kernel->line : 1);
    emu_text_printf(unit, "EMU_CALLS_KERNEL %s) { %s(", head.data ? head.data : "", kernel->name);
    for (uint32_t i = 0; i < kernel->n_args; i++)
        emu_text_printf(unit, "%semu_a%u", i ? ", " : "", i);
    emu_text_puts(unit, "); }\n");
    unit->failed |= head.failed;
    emu_text_free(&head);
}

/* -DNAME, -DNAME=VALUE, -UNAME, also in two options. As the compiler's own they would change our
 * text in front of the source. */
static void add_definitions(emu_text *unit, const sl_custom *kernel)
{
    emu_text_puts(unit, "#line 1 \"<options>\"\n");
    for (size_t i = 0; i < kernel->n_options; i++) {
        const char *option = kernel->options[i], *text = option + 2;
        if (strncmp(option, "-D", 2) != 0 && strncmp(option, "-U", 2) != 0) continue;
        if (!*text && ++i == kernel->n_options) return;
        if (!*text) text = kernel->options[i];
        const size_t line = strcspn(text, "\n"), name = strcspn(text, "=\n");
        const char *value = text[name] == '=' ? text + name + 1 : "1";
        emu_text_printf(unit, option[1] == 'U' ? "#undef %.*s" : "#define %.*s ", (int)name, text);
        if (option[1] == 'D')
            emu_text_printf(unit, "%.*s", text[name] == '=' ? (int)(line - name - 1) : 1, value);
        emu_text_puts(unit, "\n\n"); /* one for a backslash at its end */
    }
}

/* As much as any GPU has, and no byte of it in the file. */
static void add_dynamic_shared(emu_text *unit, const emu_text *names)
{
    if (!names->data) return;
    emu_text_puts(unit,
                  "__asm__(\".pushsection emu_dynamic,\\\"aw\\\",@nobits\\n.balign 128\\n\"\n");
    emu_text_puts(unit, names->data);
    emu_text_puts(unit, "\".zero 262144\\n.popsection\");\n");
}

/* No macro of the source changes it. */
static void add_end(emu_text *unit, const sl_custom *kernel)
{
    emu_text end = { 0 };
    add_wrapper(&end, kernel);
    add_device_file(&end, "blocks.h");
    add_call(unit, kernel);
    if (end.data) emu_source_undefine(end.data, unit);
    add_line(unit, kernel, kernel->line > 0 ? kernel->line : 1);
    if (end.data) emu_text_puts(unit, end.data);
    unit->failed |= end.failed;
    emu_text_free(&end);
}

sl_status emu_unit_write(const sl_custom *kernel, emu_text *unit, int *line, sl_error *err)
{
    emu_text shared = { 0 };
    char *source;
    sl_status status = sl_source_plain(kernel->source, &source, line, err);
    if (status) return status;
    add_device_file(unit, "abi.h");
    add_device_file(unit, "language.h");
    add_device_file(unit, "macros.h");
    add_device_file(unit, "vectors.h");
    add_device_file(unit, "math.h");
    add_device_file(unit, "rounding.h");
    add_device_file(unit, "convert.h");
    add_device_file(unit, "integers.h");
    add_device_file(unit, "atomics.h");
    add_device_file(unit, "memory.h");
    add_device_file(unit, "warp.h");
    add_definitions(unit, kernel);
    add_line(unit, kernel, kernel->line > 0 ? kernel->line : 1);
    emu_source_add(source, unit, &shared);
    free(source);
    emu_text_puts(unit, "\n");
    add_dynamic_shared(unit, &shared);
    add_end(unit, kernel);
    unit->failed |= shared.failed;
    emu_text_free(&shared);
    return unit->failed ? sl__no_memory(err, "a kernel's source") : SL_OK;
}
