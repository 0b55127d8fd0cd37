/* nvrtc.c - compiling a custom kernel with NVRTC.
 *
 * Behind the user's source stands a check of the kernel's parameters against what was declared: a
 * launch passes bits, which a parameter of another type would read as something else. #line gives
 * each message the line of the user's file.
 */
#define _GNU_SOURCE /* dladdr */
#include "cuda.h"

#include <dlfcn.h>
#include <limits.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
#define RTC_FUNCTIONS(X)                                                      \
    X(GetErrorString) X(Version) X(GetNumSupportedArchs) X(GetSupportedArchs) \
    X(CreateProgram) X(DestroyProgram) X(AddNameExpression) X(CompileProgram) \
    X(GetLoweredName) X(GetProgramLogSize) X(GetProgramLog)                   \
    X(GetCUBINSize) X(GetCUBIN) X(GetPTXSize) X(GetPTX)
/* clang-format on */

typedef struct rtc_functions { /* rtc->Version is nvrtcVersion */
#define X(name) __typeof__(nvrtc##name) *name;
    RTC_FUNCTIONS(X)
#undef X
} rtc_functions;

static const rtc_functions *find_functions(sl_error *err)
{
    static const char *const names[] = {
#define X(name) "nvrtc" #name,
        RTC_FUNCTIONS(X)
#undef X
    };
    static rtc_functions functions;
    if (functions.Version) return &functions;
    sl_status status = cuda_library_functions(CUDA_NVRTC, names, sizeof names / sizeof *names,
                                              &functions, err);
    return status == SL_OK ? &functions : NULL;
}

static sl_status check(const rtc_functions *rtc, nvrtcResult code, const char *call, sl_error *err)
{
    if (code == NVRTC_SUCCESS) return SL_OK;
    if (code == NVRTC_ERROR_OUT_OF_MEMORY)
        return sl_fail(err, SL_ENOMEM, "%s: out of host memory", call);
    sl_fail(err, SL_EBACKEND, "%s: %s", call, rtc->GetErrorString(code));
    if (err) err->backend_code = (int)code;
    return SL_EBACKEND;
}

/* ---- the program's text ---- */

/* In "" and on one line; a file may have any name. */
static void put_line(FILE *out, int line, const char *file)
{
    fprintf(out, "\n#line %d \"", line);
    for (; *file; file++) {
        if (*file == '"' || *file == '\\') fputc('\\', out);
        fputc((unsigned char)*file < ' ' ? '?' : *file, out);
    }
    fputs("\"\n", out);
}

typedef struct arg_type {
    const char *name, *cpp; /* "f32", "float" */
} arg_type;

static const arg_type types[] = {
#define X(id, name, type, bytes) { name, type },
    SL_ARG_TYPES(X)
#undef X
};

/* Without the headers of the standard library, which NVRTC does not have. All names are prefixed:
 * the source may define macros. Types of the same kind and size are one: size_t is unsigned long,
 * u64 is unsigned long long. */
static const char traits[] =
    "struct sl_none {};"
    "template <typename sl_A, typename sl_B> struct sl_same { static const bool sl_is = false; };"
    "template <typename sl_A> struct sl_same<sl_A, sl_A> { static const bool sl_is = true; };"
    "template <typename sl_A> struct sl_plain { typedef sl_A sl_type; };"
    "template <> struct sl_plain<long> { typedef long long sl_type; };"
    "template <> struct sl_plain<unsigned long> { typedef unsigned long long sl_type; };"
    "template <typename sl_P, typename sl_T> struct sl_number {"
    " static const bool sl_is = sl_same<typename sl_plain<sl_P>::sl_type, sl_T>::sl_is; };"
    "template <typename sl_P, typename sl_T> struct sl_out { static const bool sl_is ="
    " sl_same<sl_P, sl_T *>::sl_is || sl_same<sl_P, volatile sl_T *>::sl_is; };"
    "template <typename sl_P, typename sl_T> struct sl_in { static const bool sl_is ="
    " sl_out<sl_P, sl_T>::sl_is || sl_out<sl_P, const sl_T>::sl_is; };"
    "template <unsigned sl_I, typename... sl_P> struct sl_at { typedef sl_none sl_type; };"
    "template <unsigned sl_I, typename sl_H, typename... sl_P> struct sl_at<sl_I, sl_H, sl_P...> {"
    " typedef typename sl_at<sl_I - 1, sl_P...>::sl_type sl_type; };"
    "template <typename sl_H, typename... sl_P> struct sl_at<0, sl_H, sl_P...> {"
    " typedef sl_H sl_type; };"
    "template <typename sl_F> struct sl_of {"
    " static const bool sl_is_kernel = false;"
    " static const unsigned sl_count = 0;"
    " template <unsigned sl_I> struct sl_arg { typedef sl_none sl_type; }; };"
    "template <typename... sl_P> struct sl_of<void (*)(sl_P...)> {"
    " static const bool sl_is_kernel = true; static const unsigned sl_count = sizeof...(sl_P);"
    " template <unsigned sl_I> struct sl_arg {"
    " typedef typename sl_at<sl_I, sl_P...>::sl_type sl_type; }; };";

static const char *access_word(const sl_arg *arg)
{
    switch (arg->access) {
    case 0: return "";
    case SL_READS: return "in ";
    case SL_WRITES: return "out ";
    default: return "inout ";
    }
}

static void put_arg_check(FILE *out, const sl_custom *kernel, uint32_t i)
{
    const sl_arg *arg = &kernel->args[i];
    const arg_type *type = &types[arg->type];
    const char *trait = !arg->access ? "number" : arg->access == SL_READS ? "in" : "out";
    fprintf(out, "static_assert(!sl_kernel::sl_is_kernel || sl_kernel::sl_count != %u || ",
            (unsigned)kernel->n_args);
    fprintf(out, "sl_%s<sl_kernel::sl_arg<%u>::sl_type, %s>::sl_is, ", trait, (unsigned)i,
            type->cpp);
    fprintf(out, "\"argument %u of %s is declared as \\\"%s%s%s\\\": its parameter has to be ",
            (unsigned)i + 1, kernel->name, access_word(arg), type->name, arg->access ? "*" : "");
    if (arg->access == SL_READS)
        fprintf(out, "const %s * (or %s *)\");", type->cpp, type->cpp);
    else
        fprintf(out, "%s%s\");", type->cpp, arg->access ? " *" : "");
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where the source seems to define the kernel: the first place with its name and a parenthesis. */
static int line_of_kernel(const sl_custom *kernel)
{
    const size_t length = strcspn(kernel->name, "< ");
    int line = kernel->line;
    for (const char *at = kernel->source; *at; at++) {
        if (*at == '\n') line++;
        if (strncmp(at, kernel->name, length) != 0) continue;
        if (at > kernel->source && is_word(at[-1])) continue;
        const char *behind = at + length + strspn(at + length, " \t");
        if (*behind == '(') return line;
    }
    return kernel->line;
}

static void put_check(FILE *out, const sl_custom *kernel)
{
    const int line = line_of_kernel(kernel);
    put_line(out, line, kernel->file);
    fputs("struct __half; struct __nv_bfloat16; namespace streamlab_check {", out);
    fputs(traits, out);
    put_line(out, line, kernel->file);
    fprintf(out, "typedef sl_of<decltype(&%s)> sl_kernel;", kernel->name);
    put_line(out, line, kernel->file);
    fprintf(out,
            "static_assert(!sl_kernel::sl_is_kernel || sl_kernel::sl_count == %u, \"%s has not as "
            "many parameters as args, which are %u\");",
            (unsigned)kernel->n_args, kernel->name, (unsigned)kernel->n_args);
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        put_line(out, line, kernel->file);
        put_arg_check(out, kernel, i);
    }
    fputs("\n}\n", out);
}

/* What a kernel for nvcc may use without an #include, and NVRTC lacks. */
static const char prelude[] =
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"
    "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;"
    "typedef signed long long int64_t; typedef unsigned char uint8_t;"
    " typedef unsigned short uint16_t;"
    "typedef unsigned int uint32_t; typedef unsigned long long uint64_t;"
    "typedef int64_t intptr_t; typedef uint64_t uintptr_t;\n";

/* NULL: out of memory. */
static char *program_text(const sl_custom *kernel)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) return NULL;
    fputs(prelude, out);
    put_line(out, kernel->line, kernel->file);
    fputs(kernel->source, out);
    put_check(out, kernel);
    bool failed = ferror(out);
    if (fclose(out) == 0 && !failed) return text;
    free(text);
    return NULL;
}

/* ---- options ---- */

enum { OWN_OPTIONS = 4 };

typedef struct rtc_options {
    char arch[48], include[PATH_MAX + 2];
    char cccl[PATH_MAX + 8]; /* a folder in it, which cooperative_groups.h needs from CUDA 13 on */
    const char **list;       /* ours, then the user's */
    int n;
} rtc_options;

static bool is_given(const sl_custom *kernel, const char *option)
{
    for (size_t i = 0; i < kernel->n_options; i++)
        if (strncmp(kernel->options[i], option, strlen(option)) == 0) return true;
    return false;
}

/* The newest that NVRTC knows and the GPU can run, at most `wanted`; 0: none. */
static int newest_known(const rtc_functions *rtc, int wanted, int *oldest)
{
    int n = 0, newest = 0, *known;
    *oldest = 0;
    if (rtc->GetNumSupportedArchs(&n) != NVRTC_SUCCESS || n <= 0) return 0;
    known = calloc((size_t)n, sizeof *known);
    if (known && rtc->GetSupportedArchs(known) == NVRTC_SUCCESS)
        for (int i = 0; i < n; i++) {
            if (known[i] <= wanted && known[i] > newest) newest = known[i];
            if (*oldest == 0 || known[i] < *oldest) *oldest = known[i];
        }
    free(known);
    return newest;
}

/* Code for the GPU, or PTX, which the driver compiles, for one that is newer than NVRTC. */
static sl_status choose_arch(const rtc_functions *rtc, int wanted, rtc_options *options,
                             sl_error *err)
{
    int major = 0, minor = 0, oldest;
    const int arch = newest_known(rtc, wanted, &oldest);
    if (arch == 0) {
        rtc->Version(&major, &minor);
        return sl_fail(err, SL_EUNSUPPORTED,
                       "NVRTC %d.%d compiles for compute capability %d.%d and later, and the GPU's "
                       "is %d.%d",
                       major, minor, oldest / 10, oldest % 10, wanted / 10, wanted % 10);
    }
    snprintf(options->arch, sizeof options->arch, "--gpu-architecture=%s_%d",
             arch == wanted ? "sm" : "compute", arch);
    return SL_OK;
}

/* The folder of cuda_fp16.h and others: beside the library in a toolkit, a wheel, a
 * distribution. */
static bool find_headers(const rtc_functions *rtc, rtc_options *options)
{
    static const char *const beside[] = { "../include", "../targets/x86_64-linux/include",
                                          "../targets/sbsa-linux/include",
                                          "../../cuda_runtime/include", "../../include" };
    char path[PATH_MAX];
    Dl_info info;
    void *symbol;
    memcpy(&symbol, &rtc->Version, sizeof symbol);
    if (dladdr(symbol, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        const int length = slash ? (int)(slash - info.dli_fname) + 1 : 0;
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(options->include, sizeof options->include, "-I%.*s%s", length, info.dli_fname,
                     beside[i]);
            snprintf(path, sizeof path, "%s/cuda_fp16.h", options->include + 2);
            if (access(path, R_OK) == 0) return true;
        }
    }
    snprintf(options->include, sizeof options->include, "-I/usr/local/cuda/include");
    return access("/usr/local/cuda/include/cuda_fp16.h", R_OK) == 0;
}

static sl_status set_options(const rtc_functions *rtc, const sl_custom *kernel, int arch,
                             rtc_options *options, sl_error *err)
{
    options->n = 0;
    options->list = malloc((kernel->n_options + OWN_OPTIONS) * sizeof *options->list);
    if (!options->list) return sl__no_memory(err, "a kernel");
    if (!is_given(kernel, "--gpu-architecture") && !is_given(kernel, "-arch")) {
        sl_status status = choose_arch(rtc, arch, options, err);
        if (status != SL_OK) return status;
        options->list[options->n++] = options->arch;
    }
    if (!is_given(kernel, "--std") && !is_given(kernel, "-std"))
        options->list[options->n++] = "--std=c++17";
    for (size_t i = 0; i < kernel->n_options; i++)
        options->list[options->n++] = kernel->options[i];
    if (!find_headers(rtc, options)) return SL_OK;
    options->list[options->n++] = options->include;
    snprintf(options->cccl, sizeof options->cccl, "%s/cccl", options->include);
    if (access(options->cccl + 2, R_OK) == 0) options->list[options->n++] = options->cccl;
    return SL_OK;
}

/* ---- the image ---- */

static sl_status make_image(const char *name, size_t code_bytes, sl_image *image, char **code,
                            sl_error *err)
{
    const size_t name_bytes = strlen(name) + 1;
    const size_t code_at = (sizeof(cuda_code) + name_bytes + 63) / 64 * 64;
    cuda_code head = { .magic = CUDA_CODE_MAGIC,
                       .name_bytes = (uint32_t)name_bytes,
                       .code_at = (uint32_t)code_at,
                       .code_bytes = code_bytes };
    char *data = calloc(1, code_at + code_bytes);
    if (!data) return sl__no_memory(err, "a kernel");
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, name, name_bytes);
    *code = data + code_at;
    *image = (sl_image){ data, code_at + code_bytes };
    return SL_OK;
}

static sl_status take_code(const rtc_functions *rtc, nvrtcProgram program, const char *name,
                           sl_image *image, sl_error *err)
{
    const char *lowered;
    size_t cubin = 0, ptx = 0;
    char *code = NULL;
    sl_status status = check(rtc, rtc->GetLoweredName(program, name, &lowered),
                             "nvrtcGetLoweredName", err);
    if (status != SL_OK) return status;
    if (rtc->GetCUBINSize(program, &cubin) != NVRTC_SUCCESS) cubin = 0;
    if (cubin == 0) status = check(rtc, rtc->GetPTXSize(program, &ptx), "nvrtcGetPTXSize", err);
    if (status == SL_OK) status = make_image(lowered, cubin ? cubin : ptx, image, &code, err);
    if (status != SL_OK) return status;
    status = cubin ? check(rtc, rtc->GetCUBIN(program, code), "nvrtcGetCUBIN", err)
                   : check(rtc, rtc->GetPTX(program, code), "nvrtcGetPTX", err);
    if (status == SL_OK) return SL_OK;
    free(image->data);
    *image = (sl_image){ NULL, 0 };
    return status;
}

/* ---- compiling ---- */

/* NULL: there is none. */
static char *take_log(const rtc_functions *rtc, nvrtcProgram program)
{
    size_t n = 0;
    if (rtc->GetProgramLogSize(program, &n) != NVRTC_SUCCESS || n < 2) return NULL;
    char *log = calloc(1, n + 1);
    if (log && rtc->GetProgramLog(program, log) == NVRTC_SUCCESS) return log;
    free(log);
    return NULL;
}

/* NVRTC's "nvrtc: error: unrecognized option --x found" */
static sl_status refuse_options(const char *log, sl_error *err)
{
    static const char prefix[] = "nvrtc: error: ";
    const char *why = log ? log : "NVRTC does not say which";
    why += strspn(why, "\n");
    if (strncmp(why, prefix, sizeof prefix - 1) == 0) why += sizeof prefix - 1;
    return sl_fail(err, SL_EINVAL, "options: %.*s", (int)strcspn(why, "\n"), why);
}

static sl_status compile(const rtc_functions *rtc, nvrtcProgram program, sl_custom *kernel,
                         const rtc_options *options, sl_error *err)
{
    nvrtcResult code = rtc->AddNameExpression(program, kernel->name);
    if (code != NVRTC_SUCCESS) return check(rtc, code, "nvrtcAddNameExpression", err);
    code = rtc->CompileProgram(program, options->n, options->list);
    if (code != NVRTC_ERROR_COMPILATION && code != NVRTC_ERROR_INVALID_OPTION)
        return check(rtc, code, "nvrtcCompileProgram", err);
    char *log = take_log(rtc, program);
    if (code == NVRTC_ERROR_INVALID_OPTION) {
        sl_status status = refuse_options(log, err);
        free(log);
        return status;
    }
    if (log && strstr(log, "non-__global__ function")) {
        free(log);
        return sl_fail(err, SL_EINVAL, "%s is not a __global__ function", kernel->name);
    }
    free(kernel->log);
    kernel->log = log;
    return sl_fail(err, SL_ECOMPILE, "%s does not compile", kernel->name);
}

static sl_status build(const rtc_functions *rtc, sl_custom *kernel, const rtc_options *options,
                       sl_image *image, sl_error *err)
{
    nvrtcProgram program;
    char *text = program_text(kernel);
    if (!text) return sl__no_memory(err, "a kernel");
    sl_status status = check(rtc,
                             rtc->CreateProgram(&program, text, "kernel.cu", CUDA_NVRTC_HEADERS,
                                                cuda_nvrtc_header_texts, cuda_nvrtc_header_names),
                             "nvrtcCreateProgram", err);
    free(text);
    if (status != SL_OK) return status;
    status = compile(rtc, program, kernel, options, err);
    if (status == SL_OK) status = take_code(rtc, program, kernel->name, image, err);
    rtc->DestroyProgram(&program);
    return status;
}

sl_status cuda_nvrtc_build(sl_custom *kernel, int major, int minor, sl_image *image, sl_error *err)
{
    const rtc_functions *rtc = find_functions(err);
    rtc_options options;
    if (!rtc) return SL_EUNSUPPORTED;
    sl_status status = set_options(rtc, kernel, 10 * major + minor, &options, err);
    if (status == SL_OK) status = build(rtc, kernel, &options, image, err);
    free(options.list);
    return status;
}
