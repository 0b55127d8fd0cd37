/* t-36-source-check.c - which sources of kernels are given to a compiler in a graded lab: those that
 * courses have, and none that names a file, whatever it is spelt like. */
#include "fake_backend.h"

#include "../../core/custom/source_check.h"

#include <stdlib.h>

static sl_error err;
static int line;

/* Whether it is refused in that line with words like these. */
static bool refused(const char *source, int at, const char *words)
{
    sl_status status = sl_source_check(source, &line, &err);
    if (status == SL_ECOMPILE && line == at && strstr(err.msg, words)) return true;
    diag("  %s in line %d, got %d in line %d: %s", words, at, (int)status, line,
         status == SL_OK ? "" : err.msg);
    return false;
}

static bool fine(const char *source)
{
    sl_status status = sl_source_check(source, &line, &err);
    return status == SL_OK || (diag("  line %d: %s", line, err.msg), false);
}

static const char transpose[] =
    "#include <cuda_fp16.h>\n"
    "#include <cooperative_groups.h>\n"
    "#ifndef TILE\n"
    "#define TILE 32 /* a \"comment\" */\n"
    "#endif\n"
    "#define MIN(a, b) ((a) < (b) ? (a) : \\\n"
    "                   (b))\n"
    "#if __CUDA_ARCH__ >= 700 && defined(TILE)\n"
    "#elif 0\n"
    "#error \"a text\"\n"
    "#endif\n"
    "namespace cg = cooperative_groups;\n"
    "template <typename T>\n"
    "__device__ __forceinline__ T twice(T x) { return x * (T)2.5e-3f; }\n"
    "__constant__ float table[4];\n"
    "extern \"C\" __global__ void __launch_bounds__(1024)\n"
    "transpose(const float *__restrict__ in, float *out, int n) // don't worry\n"
    "{\n"
    "    __shared__ float tile[TILE][TILE + 1];\n"
    "    int x = blockIdx.x * TILE + threadIdx.x, c = '\\'' + u8'x' + '\"';\n"
    "    auto block = cg::this_thread_block();\n"
    "#pragma unroll 4\n"
    "    for (int i = 0; i < TILE; i += 8) tile[i][x] = in[i] / 2 + __ldg(&in[x]) * 0x1p-3;\n"
    "    __syncthreads();\n"
    "    float sum = __shfl_down_sync(0xffffffffu, tile[0][0], 1) + __fmaf_rn(1.f, 2.f, 3.f);\n"
    "    out[x] = __half2float(__float2half_rn(sum)) + __int_as_float(n);\n"
    "    if (threadIdx.x == 0) printf(\"%d \\\"quoted\\\"\\n\", n);\n"
    "}\n";

static void test_files(void)
{
    ok(refused("int x;\n#include \"tests/hidden.lua\"\n", 2, "#include of tests/hidden.lua"),
       "a file is not included");
    ok(refused("#include </etc/passwd>\n", 1, "/etc/passwd"), "nor one of the system");
    ok(refused("#define F </etc/passwd>\n#include F\n", 2, "#include of a macro"),
       "nor by way of a macro");
    ok(refused("  # /* x */ inc\\\nlude \"x.h\"\n", 2, "#include of x.h"),
       "nor with blanks, comments, continued lines");
    ok(refused("%: include \"x.h\"\n", 1, "%:"), "nor with a digraph");
    ok(refused("\n?\?=include \"x.h\"\n", 2, "trigraph"), "nor with a trigraph");
    ok(refused("/* ?\?/\n*/\n", 1, "trigraph"), "not even in a comment");
    ok(refused("#include_next <math.h>\n", 1, "#include_next"), "nor with #include_next");
    ok(refused("char c[] = {\n#embed \"x\"\n};\n", 2, "#embed"), "nor with #embed");
    ok(refused("#import \"x\"\n", 1, "#import"), "nor with #import");
    ok(refused("#line 1 \"tests/hidden.lua\"\n", 1, "#line"), "nor quoted, by #line");
    ok(refused("# 1 \"tests/hidden.lua\"\n", 1, "# is refused"), "nor by a bare # 1");
    ok(refused("#pragma GCC dependency \"x\"\n", 1, "#pragma other"),
       "nor looked for by a #pragma");
    ok(refused("#ident \"x\"\n", 1, "#ident"), "nor by #ident");
    ok(refused("#if __has_include(\"x\")\n", 1, "__has_include"), "nor by __has_include");
    ok(refused("_Pragma(\"GCC x\")\n", 1, "_Pragma"), "nor by _Pragma");
    ok(refused("import <x>;\n", 1, "import"), "nor imported");
    ok(refused("\nmodule x;\n", 2, "module"), "nor is a source a module");
    ok(fine("int f(int module) { return module; }\n"), "though a variable may be called so");
}

static void test_assembly(void)
{
    ok(refused("asm(\".incbin \\\"x\\\"\");\n", 1, "asm"), "assembly is refused");
    ok(refused("void f() { __asm__ volatile(\"\"); }\n", 1, "__asm__"), "also as __asm__");
    ok(refused("#define A as\\\nm\n", 2, "asm"), "also across lines");
    ok(refused("#define P(a, b) a##b\n", 1, "##"), "names are not put together");
    ok(refused("#define P(a, b) a #\\\n# b\n", 2, "##"), "not across lines either");
    ok(refused("#define P(a, b) a %:%: b\n", 1, "%:"), "nor with digraphs");
    ok(refused("__attribute__((section(\"x\"))) int a;\n", 1, "__attribute__"),
       "attributes are refused");
    ok(refused("[[gnu::section(\"x\")]] int a;\n", 1, "gnu"), "also C++'s");
    ok(refused("#define always_inline section(\"x\")\n", 1, "section"),
       "and macros that change those of headers");
    ok(refused("int __REDIRECT(f, (), x);\n", 1, "__REDIRECT"), "and macros of the C library");
    ok(refused("auto x = __builtin_constant_p(1);\n", 1, "__builtin"),
       "and what is the compiler's");
}

/* Names of the program that runs kernels on the host (core/emulate/device): however they are put. */
static void test_ours(void)
{
    ok(refused(
           "\n  EMU_UNCHECKED void f();\n", 2,
           "EMU_UNCHECKED is refused here: names that begin with emu_, EMU_ or Emu are reserved"),
       "macros of ours are refused, with the name, the rule and the line");
    ok(refused("auto h = emu_the_host;\n", 1, "emu_the_host"), "variables");
    ok(refused("template <typename EmuValue> void f(EmuValue);\n", 1, "EmuValue"), "parameters");
    ok(refused("using namespace emu;\n", 1, "emu is refused"), "the namespace");
    ok(refused("int n = sizeof(emu_launch);\n", 1, "emu_launch"), "types, in sizeof");
    ok(refused("typedef decltype(emu_entry::abi) t;\n", 1, "emu_entry"), "and decltype");
    ok(refused("#ifdef EMU_CHECKED\n", 1, "EMU_CHECKED"), "in #ifdef");
    ok(refused("#ifndef EMU_CHECKED\n", 1, "EMU_CHECKED"), "in #ifndef");
    ok(refused("#if defined(EMU_CHECKED)\n", 1, "EMU_CHECKED"), "in #if defined");
    ok(refused("#if 0\n#elif defined EMU_CHECKED\n", 2, "EMU_CHECKED"), "in #elif");
    ok(refused("#undef EMU_CHECK\n", 1, "EMU_CHECK"), "in #undef");
    ok(refused("#define EMU_CHECK(a, b, c)\n", 1, "EMU_CHECK"), "in #define");
    ok(refused("#define MINE EMU_UNCHECKED\n", 1, "EMU_UNCHECKED"), "in what a macro stands for");
    ok(refused("EMU_\\\nUNCHECKED void f();\n", 2, "EMU_UNCHECKED"), "across two lines");
    ok(refused("#pragma unroll EMU_STATE\n", 1, "EMU_STATE"), "behind #pragma unroll");
    ok(refused("#include <cmath> EMU_X\n", 1, "EMU_X"), "behind an #include");
    ok(refused("#include \"streamlab_narrow.h\"\n", 1, "streamlab_narrow.h"),
       "and files of ours, which CUDA does not have");
    ok(refused("#include <abi.h>\n", 1, "abi.h"), "none of them");
    ok(refused("#define noinline no_sanitize_thread\n", 1, "no_sanitize_thread"),
       "an attribute that switches checks off");
    ok(refused("[[no_sanitize(\"thread\")]] void f();\n", 1, "no_sanitize"), "also C++'s");
    ok(refused("[[disable_sanitizer_instrumentation]] void f();\n", 1, "disable_sanitizer"),
       "and clang's");
    ok(refused("#ifdef __SANITIZE_THREAD__\n", 1, "__SANITIZE_THREAD__"),
       "macros of the compiler that tell the builds apart");
    ok(refused("#ifdef __OPTIMIZE__\n", 1, "__OPTIMIZE__"), "however it optimises");
    ok(refused("#if __has_feature(thread_sanitizer)\n", 1, "__has_feature"), "or asked like that");
    ok(refused("int n = __COUNTER__;\n", 1, "__COUNTER__"), "how many variables there are");
    ok(refused("void f() { __tsan_read4(0); }\n", 1, "__tsan_read4"), "and what checks call");
    ok(fine("int emulated, EMULATE, my_emu_; struct Emission;\n"), "names like those are fine");
    ok(fine("// EMU_CHECKED\nconst char *s = \"emu_the_host\";\n"),
       "and so are comments and texts");
}

/* Where a compiler would see a name that a careless reader takes for a text or a comment. */
static void test_hiding(void)
{
    ok(refused("auto s = R\"x(\")x\"; asm(\"\");\n//\"\n", 1, "raw text"), "raw texts are refused");
    ok(refused("int x = 1'0; asm(\"\"); //'\n", 1, "'"), "and numbers with '");
    ok(refused("#if 0\n'\n#endif\nasm(\"\"); //'\n", 2, "'"), "and a ' without another one");
    ok(refused("char *a = \"\n\"; asm(\"\"); //\"\n", 1, "\""), "and a text of two lines");
    ok(refused("// x \\ \nasm(\"\");\n", 1, "blank"), "and a line that may or may not go on");
    ok(refused("// x \rasm(\"\");\n", 1, "control character"), "and what may or may not be a line");
    ok(fine("// x \\\r\nasm comment\r\nint x;\r\n"), "but a file of Windows is fine");
    ok(refused("'\\\\' asm\n", 1, "asm"), "an escaped backslash does not hide the quote");
    ok(refused("/* */ asm /* */\n", 1, "asm"), "comments end");
    ok(refused("/**/#/**/embed \"x\"\n", 1, "#embed"), "a directive may follow comments");
    ok(refused("0x1e+__asm__\n", 1, "__asm__"), "an exponent hides no name");
    ok(refused("/\\\n/ x \\\n\n/\\\n* asm */ asm\n", 5, "asm"), "comments may begin across lines");
    ok(refused("int \xc3\xa4;\n", 1, "not English"), "names are of English letters");
    ok(refused("int \\u0061sm;\n", 1, "\\"), "and not escaped");
    ok(fine("// \xc3\xa4 ?"
            "? \\u0061 \xe2\x80\xa8 x\n/* asm\n#include \"x\"\n*/"),
       "a comment may have anything else");
    ok(fine("const char *s = \"\xc3\xa4 asm #include __asm__ // /*\"; int x;\n"),
       "and so may a text");
}

static void test_sizes(void)
{
    size_t n = SL_MOST_SOURCE_BYTES + 2;
    char *text = malloc(n);
    memset(text, 'a', n - 1);
    text[n - 1] = '\0';
    ok(refused(text, 1, "131073 bytes"), "a source has a size at most");
    text[SL_MOST_SOURCE_BYTES] = '\0';
    ok(refused(text, 1, "more than 120"), "and so has a name");
    for (size_t i = 0; i + 2 < n; i += 2)
        text[i] = ';';
    ok(fine(text), "the largest is fine");
    free(text);
    ok(fine(""), "an empty one is fine");
    ok(refused("int x;\n/* without\nend", 2, "a comment has no end"),
       "a comment without end would go on in what stands behind the source");
    ok(fine("#"), "and so is a lone #");
}

static bool option_is(const char *option, sl_status wanted)
{
    sl_status status = sl_source_check_options(&option, 1, &err);
    return status == wanted || (diag("  %s: %d", option, (int)status), false);
}

static void test_options(void)
{
    static const char *const good[] = { "-DTILE=32",    "-DT=float",  "-DX",
                                        "-DX=-1.5e+3f", "-std=c++17", "--use_fast_math" };
    static const char *const bad[] = {
        "-I/etc",
        "-include",
        "-fplugin=x.so",
        "-D",
        "-DX=asm",
        "-Dasm=x",
        "-DX=\"a\"",
        "-DX=a b",
        "-DX(a)=a",
        "-D__asm__=",
        "@file",
        "x.cpp",
        "-std=gnu++17",
        "-DX=a##b",
        "--pre-include=x",
        "",
        "-DX=EMU_UNCHECKED",
        "-DEMU_CHECKED",
        "-DX=1+emu_the_host",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(option_is(good[i], SL_OK), "the option %s is fine", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(option_is(bad[i], SL_EINVAL), "the option \"%s\" is refused", bad[i]);
    is_int(sl_source_check_name("scale<float, 4>", &err), SL_OK, "a template's name is fine");
    is_int(sl_source_check_name("x\n#include <y>", &err), SL_EINVAL, "and no other text");
    is_int(sl_source_check_name("__asm__", &err), SL_EINVAL,
           "nor a name that sources may not have");
    is_int(sl_source_check_name("emu_grid_sync", &err), SL_EINVAL, "nor one of ours");
}

int main(void)
{
    plan(0);
    ok(fine(transpose), "a kernel as courses have them is fine");
    test_files();
    test_assembly();
    test_ours();
    test_hiding();
    test_sizes();
    test_options();
    return done_testing();
}
