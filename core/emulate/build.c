/* build.c - from a kernel's source to its image: both builds, at the same time. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base.h"
#include "../text/temporary_folder.h"
#include "compiler.h"
#include "device_text.h"
#include "emulate.h"
#include "fences.h"
#include "image.h"
#include "remote.h"
#include "sections.h"
#include "unit.h"

enum { MOST_OPTIONS = 96, FLAG_BYTES = 4096 };

/* ---- flags ---- */

/* In both builds. Results are as close to the GPU's as they can be: NVRTC contracts a * b + c to
 * one operation, and neither sets errno. */
static const char *const common_flags[] = {
    "-x",
    "c++",
    "-fPIC",
    "-shared",
    "-w",
    "-march=native",
#ifdef __aarch64__
    "-mno-outline-atomics", /* libgcc's functions for them ask the C library for the processor */
#endif
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-strict-aliasing",
    "-fvisibility=hidden",
    "-fno-stack-protector",
    "-fdiagnostics-color=never",
    "-g1",
    "-gdwarf-4", /* binutils misread what clang writes as 5 */
    "-nodefaultlibs",
    "-nostartfiles",
    "-Wl,-z,defs",
};
enum { MOST_BUILD_FLAGS = 16 };
/* Functions over bytes are called, not expanded to code that nobody checks. */
static const char *const build_flags[EMU_BUILDS][MOST_BUILD_FLAGS] = {
    [EMU_FAST] = { "-O3",
#ifdef __x86_64__
                   "-mprefer-vector-width=512", /* a condition costs as much for a short vector */
#endif
    },
    [EMU_CHECKED] = { "-O1", "-DEMU_CHECKED=1", "-fsanitize=thread,alignment", "-fno-builtin-bcmp",
                      "-fno-builtin-memcmp", "-fno-builtin-memcpy", "-fno-builtin-memmove",
                      "-fno-builtin-memset", "-fno-builtin-strlen" },
};

/* ---- the key ---- */

static uint64_t hash_text(uint64_t sum, const char *text)
{
    return sl__hash(sum, text, strlen(text));
}

/* Of what the processor can do: code is made for it alone. */
static uint64_t hash_processor(uint64_t sum)
{
    char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file) && line[0] != '\n')
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "model", 5) == 0
            || strncmp(line, "Features", 8) == 0)
            sum = hash_text(sum, line);
    if (file) fclose(file);
    return sum;
}

static uint64_t hash_flags(uint64_t sum)
{
    for (size_t i = 0; i < sizeof common_flags / sizeof *common_flags; i++)
        sum = hash_text(sum, common_flags[i]);
    for (int build = 0; build < EMU_BUILDS; build++)
        for (size_t i = 0; i < MOST_BUILD_FLAGS && build_flags[build][i]; i++)
            sum = hash_text(sum, build_flags[build][i]);
    return sum;
}

sl_status sl_emulate_key(const sl_custom *kernel, char *key, size_t key_bytes, sl_error *err)
{
    char path[EMU_PATH_BYTES];
    struct stat info = { 0 };
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    if (emu_is_remote()) { /* which has a compiler: sl_custom_use_server asked */
        snprintf(key, key_bytes, "server");
        return SL_OK;
    }
    sl_status status = emu_compiler_find(path, err);
    if (status) return status;
    sum = hash_text(sum, path);
    if (stat(path, &info) == 0) {
        sum = sl__hash(sum, &info.st_size, sizeof info.st_size);
        sum = sl__hash(sum, &info.st_mtime, sizeof info.st_mtime);
        sum = sl__hash(sum, &info.st_ino, sizeof info.st_ino);
    }
    sum = hash_flags(hash_processor(sum));
    if (kernel) { /* reports name lines, which are in the objects */
        sum = hash_text(sum, emu_unit_file(kernel));
        sum = sl__hash(sum, &kernel->line, sizeof kernel->line);
    }
    for (const emu_device_file *file = emu_device_files; file->name; file++)
        sum = sl__hash(sum, file->data, file->len);
    sum = sl__hash(sum, emu_compiler_calls, emu_compiler_calls_bytes);
    snprintf(key, key_bytes, "host-%d-%016llx", EMU_ABI, (unsigned long long)sum);
    return SL_OK;
}

/* ---- options ---- */

typedef struct options {
    const char *argv[MOST_OPTIONS + 1];
    int n;
} options;

static void add_option(options *all, const char *option)
{
    if (all->n < MOST_OPTIONS) all->argv[all->n++] = option;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* NVRTC's options that a compiler for the host is given; the others are about the GPU's code, and
 * definitions are in the text (unit.c). */
static void add_user_options(options *all, const sl_custom *kernel)
{
    const char *standard = "-std=c++17";
    for (size_t i = 0; i < kernel->n_options; i++) {
        const char *option = kernel->options[i];
        if (begins(option, "--std=")) option++;
        if (begins(option, "-std=")) standard = option;
        if (begins(option, "-I")) {
            add_option(all, option);
            if (!option[2] && i + 1 < kernel->n_options) add_option(all, kernel->options[++i]);
        }
    }
    add_option(all, standard);
}

/* So that the checked build tells volatile accesses from others. g++ has it since version 11. */
static const char volatile_option[] = "tsan-distinguish-volatile=1";

static void add_volatile_option(options *all, const char *compiler)
{
    char *real = realpath(compiler, NULL); /* c++ may be either */
    const bool is_clang = strstr(real ? real : compiler, "clang") != NULL;
    add_option(all, is_clang ? "-mllvm" : "--param");
    add_option(all, is_clang ? "-tsan-distinguish-volatile=1" : volatile_option);
    free(real);
}

/* `calls`: the object of compiler_calls.c, for the checked build. */
static void fill_options(options *all, const sl_custom *kernel, emu_build build, const char *folder,
                         const char *calls, const char *output)
{
    for (size_t i = 0; i < sizeof common_flags / sizeof *common_flags; i++)
        add_option(all, common_flags[i]);
    for (size_t i = 0; i < MOST_BUILD_FLAGS && build_flags[build][i]; i++)
        add_option(all, build_flags[build][i]);
    add_option(all, "-I");
    add_option(all, folder);
    add_user_options(all, kernel);
    add_option(all, "-o");
    add_option(all, output);
    add_option(all, "-");
    if (build == EMU_CHECKED) {
        add_option(all, "-x");
        add_option(all, "none");
        add_option(all, calls);
    }
    add_option(all, "-lm");
    add_option(all, "-lc");
    add_option(all, "-lgcc");
    all->argv[all->n] = NULL;
}

/* ---- messages ---- */

static bool is_message(const char *line, size_t n)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)n, line);
    return strstr(text, " error: ") || strstr(text, " note: ");
}

/* "<mma.h>:1:2: error: TEXT", of a header that is refused (headers.c): the place is that of its
 * #include, "lab.lua:12", which the compiler names in a line before. */
static void add_message(emu_text *kept, const char *line, size_t n, const char *place)
{
    static const char why[] = "> is for ";
    const size_t file = strcspn(line, ":");
    if (*place && line[0] == '<' && file + 3 < n && memmem(line, n, why, sizeof why - 1))
        emu_text_printf(kept, "%s:%.*s\n", place, (int)(n - file - 3), line + file + 3);
    else
        emu_text_printf(kept, "%.*s\n", (int)n, line);
}

/* Only "FILE:LINE:COL: error: TEXT", not the lines that the compiler repeats; all of them if none
 * is like that. */
static void keep_messages(sl_custom *kernel, const emu_text *messages)
{
    static const char included[] = "In file included from ";
    emu_text kept = { 0 };
    const char *at = messages->data;
    char place[EMU_PATH_BYTES] = "";
    while (at && *at) {
        size_t n = strcspn(at, "\n");
        if (begins(at, included))
            snprintf(place, sizeof place, "%.*s", (int)(n - sizeof included),
                     at + sizeof included - 1);
        if (is_message(at, n)) add_message(&kept, at, n, place);
        at += n + (at[n] == '\n');
    }
    if (!kept.n && messages->data) emu_text_puts(&kept, messages->data);
    free(kernel->log);
    kernel->log = kept.data;
}

/* ---- the build ---- */

/* The line of the script in which the source first has the name; the first one if it has not. */
static int line_of(const sl_custom *kernel, const char *name)
{
    const char *found = strstr(kernel->source, name);
    int line = kernel->line;
    for (const char *at = kernel->source; found && at < found; at++)
        line += *at == '\n';
    return line;
}

/* As if the compiler had found it. */
static sl_status refuse(sl_custom *kernel, int line, const char *why, sl_error *err)
{
    emu_text message = { 0 };
    emu_text_printf(&message, "%s:%d:1: error: %s\n", emu_unit_file(kernel), line, why);
    free(kernel->log);
    kernel->log = message.data;
    return sl_fail(err, SL_ECOMPILE, "kernel %.100s does not compile", kernel->name);
}

/* What CUDA allows without asking for more. */
enum { MOST_STATIC_SHARED = 48 << 10 };

static sl_status check_variables(sl_custom *kernel, const emu_object *object, sl_error *err)
{
    char why[300] = "";
    emu_sections sections;
    sl_status status = emu_sections_read(object->data, object->bytes, NULL, &sections, err);
    if (status) return status;
    if (*sections.changed)
        snprintf(why, sizeof why,
                 "variable %s lies in the GPU's memory and can be changed: a simulated GPU has no "
                 "such variables. Pass a tensor; what is constant is const or __constant__",
                 sections.changed);
    else if (sections.shared_bytes > MOST_STATIC_SHARED)
        snprintf(why, sizeof why,
                 "%zu bytes of __shared__ variables: a kernel can have %d; more only as extern "
                 "__shared__, with shared = at the launch",
                 sections.shared_bytes, (int)MOST_STATIC_SHARED);
    if (*why)
        return refuse(kernel, line_of(kernel, *sections.changed ? sections.changed : "__shared__"),
                      why, err);
    return SL_OK;
}

static bool read_object(const char *path, emu_object *object)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    bool whole = false;
    if (!file) return false;
    if (fstat(fileno(file), &info) == 0 && info.st_size > 0) {
        object->bytes = (size_t)info.st_size;
        object->data = malloc(object->bytes);
        whole = object->data && fread(object->data, 1, object->bytes, file) == object->bytes;
    }
    fclose(file);
    return whole;
}

static sl_status read_objects(sl_custom *kernel, char paths[EMU_BUILDS][EMU_PATH_BYTES],
                              sl_image *image, sl_error *err)
{
    emu_object objects[EMU_BUILDS] = { 0 };
    sl_status status = SL_OK;
    for (int i = 0; i < EMU_BUILDS && !status; i++)
        if (!read_object(paths[i], &objects[i]))
            status = sl_fail(err, SL_EIO, "the compiler's file %.200s cannot be read", paths[i]);
    if (!status) status = check_variables(kernel, &objects[EMU_FAST], err);
    if (!status) status = emu_image_pack(objects, image, err);
    for (int i = 0; i < EMU_BUILDS; i++)
        free(objects[i].data);
    return status;
}

/* Where a limit of the fence has stopped the compiler, the limit is named: the messages have
 * numbers and paths that differ each time. NULL: none has. */
static const char *limit_in(const char *messages)
{
    static const struct {
        const char *words, *why;
    } limits[] = {
        { "out of memory", "the compiler ran out of the memory that it may have" },
        { "memory exhausted", "the compiler ran out of the memory that it may have" },
        { "Cannot allocate memory", "the compiler ran out of the memory that it may have" },
        { "File too large", "the compiler's file is larger than it may be" },
    };
    for (size_t i = 0; emu_fences() && messages && i < sizeof limits / sizeof *limits; i++)
        if (strstr(messages, limits[i].words)) return limits[i].why;
    return NULL;
}

/* The linker's message names its own files, and no line. False: nothing is missing. */
static bool report_missing(sl_custom *kernel, const char *messages, sl_error *err)
{
    static const char words[] = "undefined reference to `";
    const char *name = messages ? strstr(messages, words) : NULL;
    char why[200], own[100];
    if (!name) return false;
    name += sizeof words - 1;
    snprintf(own, sizeof own, "%.*s", (int)strcspn(name, "(<'"), name);
    snprintf(why, sizeof why, "%.*s is declared, and defined nowhere", (int)strcspn(name, "'\n"),
             name);
    refuse(kernel, line_of(kernel, own), why, err);
    return true;
}

/* Of the first build that failed. */
static sl_status report_failure(sl_custom *kernel, const emu_compile *runs, sl_error *err)
{
    const char *why = NULL;
    for (int i = 0; i < EMU_BUILDS && !why; i++)
        why = limit_in(runs[i].messages.data);
    if (why) return refuse(kernel, kernel->line, why, err);
    if (report_missing(kernel, runs[runs[0].succeeded].messages.data, err)) return SL_ECOMPILE;
    keep_messages(kernel, &runs[runs[0].succeeded].messages);
    return sl_fail(err, SL_ECOMPILE, "kernel %.100s does not compile", kernel->name);
}

static sl_status write_calls(const char *folder, char path[EMU_PATH_BYTES], sl_error *err)
{
    snprintf(path, EMU_PATH_BYTES, "%s/compiler_calls.o", folder);
    FILE *file = fopen(path, "wb");
    bool whole = file
                 && fwrite(emu_compiler_calls, 1, emu_compiler_calls_bytes, file)
                        == emu_compiler_calls_bytes;
    if (file) whole = fclose(file) == 0 && whole;
    if (whole) return SL_OK;
    return sl_fail(err, SL_EIO, "%.200s cannot be written for the compiler: %s", path,
                   strerror(errno));
}

static sl_status compile(sl_custom *kernel, const char *compiler, bool with_volatile,
                         const char *folder, const emu_text *unit,
                         char paths[EMU_BUILDS][EMU_PATH_BYTES], sl_error *err)
{
    options all[EMU_BUILDS] = { 0 };
    emu_compile runs[EMU_BUILDS];
    char calls[EMU_PATH_BYTES];
    sl_status status = write_calls(folder, calls, err);
    if (status) return status;
    for (int i = 0; i < EMU_BUILDS; i++) {
        add_option(&all[i], compiler);
        if (with_volatile && i == EMU_CHECKED) add_volatile_option(&all[i], compiler);
        fill_options(&all[i], kernel, (emu_build)i, folder, calls, paths[i]);
        runs[i] = (emu_compile){ .argv = all[i].argv, .source = unit };
    }
    status = emu_compiler_run(runs, EMU_BUILDS, kernel->device->interrupted, err);
    if (!status && !(runs[EMU_FAST].succeeded && runs[EMU_CHECKED].succeeded))
        status = report_failure(kernel, runs, err);
    for (int i = 0; i < EMU_BUILDS; i++)
        emu_text_free(&runs[i].messages);
    return status;
}

static sl_status build_in(const char *folder, sl_custom *kernel, const char *compiler,
                          sl_image *image, sl_error *err)
{
    static const char *const names[EMU_BUILDS] = { "fast.so", "checked.so" };
    char paths[EMU_BUILDS][EMU_PATH_BYTES];
    emu_text unit = { 0 };
    int line;
    sl_status status = emu_unit_write(kernel, &unit, &line, err);
    if (status == SL_ECOMPILE) return refuse(kernel, kernel->line + line - 1, err->msg, err);
    for (int i = 0; i < EMU_BUILDS; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    if (!status) status = emu_headers_write(folder, err);
    if (!status) status = compile(kernel, compiler, true, folder, &unit, paths, err);
    if (status == SL_ECOMPILE && kernel->log && strstr(kernel->log, "tsan-distinguish"))
        status = compile(kernel, compiler, false, folder, &unit, paths, err);
    if (!status) status = read_objects(kernel, paths, image, err);
    emu_text_free(&unit);
    return status;
}

sl_status sl_emulate_build(sl_custom *kernel, sl_image *image, sl_error *err)
{
    char compiler[EMU_PATH_BYTES], folder[SL_TEMPORARY_FOLDER_BYTES];
    sl_status status = emu_is_remote() ? SL_OK : emu_compiler_find(compiler, err);
    if (status) return status;
    if (emu_is_remote()) return emu_remote_build(kernel, image, err);
    const int error = sl_temporary_folder_make(folder);
    if (error)
        return sl_fail(err, SL_EIO, "no temporary folder %.200s: %s", folder, strerror(error));
    status = build_in(folder, kernel, compiler, image, err);
    sl_temporary_folder_remove(folder);
    return status;
}
