/* t-41-kernel-messages.c - core/custom/diagnose.c: what compilers say of a kernel, beside the lines
 * of its source. The messages are those of NVRTC 13.0, g++ 13 and clang++ 18. */
#include "../../core/custom/custom_kernel.h"
#include "fake_backend.h"

static const char source[] = "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                             "{\n"
                             "\tint i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  int unused;\n"
                             "  if (i < n) y[i] = a * x[j] + z;\n"
                             "  foo(;\n"
                             "}\n";

static char *shown;
static sl_error err;

/* What the kernel's log becomes, valid until the next call. */
static const char *diagnose_of(const char *file, const char *text, const char *log)
{
    char name[100], code[4000];
    sl_custom kernel = { .source = code, .file = name, .line = 12 };
    snprintf(name, sizeof name, "%s", file);
    snprintf(code, sizeof code, "%s", text);
    kernel.log = log ? strdup(log) : NULL;
    free(shown);
    err = (sl_error){ 0 };
    is_int(sl__diagnose(&kernel, &err), SL_ECOMPILE, "it is an error of the source");
    shown = kernel.log;
    return shown;
}

static const char *diagnose(const char *log) { return diagnose_of("lab.lua", source, log); }

static void test_nvrtc(void)
{
    is_str(diagnose("lab.lua(16): error: identifier \"j\" is undefined\n"
                    "    if (i < n) y[i] = a * x[j] + z;\n"
                    "                            ^\n"
                    "\n"
                    "lab.lua(17): error #29: expected an expression\n"
                    "    foo(;\n"
                    "        ^\n"
                    "\n"
                    "lab.lua(15): warning #177-D: variable \"unused\" was declared but never "
                    "referenced\n"
                    "    int unused;\n"
                    "        ^\n"
                    "\n"
                    "Remark: The warnings can be suppressed with \"-diag-suppress "
                    "<warning-number>\"\n"
                    "\n"
                    "2 errors detected in the compilation of \"kernel.cu\".\n"),
           "lab.lua:16: identifier \"j\" is undefined\n"
           "    15 |   int unused;\n"
           "    16 |   if (i < n) y[i] = a * x[j] + z;\n"
           "       |                           ^\n"
           "lab.lua:17: expected an expression\n"
           "    16 |   if (i < n) y[i] = a * x[j] + z;\n"
           "    17 |   foo(;\n"
           "       |       ^\n",
           "NVRTC's errors stand beside the source, its warnings go");
    is_str(err.msg, "lab.lua:16: identifier \"j\" is undefined (and 1 more)",
           "the first one is the sentence");
}

static void test_gcc(void)
{
    is_str(diagnose("lab.lua: In function 'void saxpy(float, const float*, float*, int)':\n"
                    "lab.lua:15:7: warning: unused variable 'unused' [-Wunused-variable]\n"
                    "lab.lua:16:27: error: 'j' was not declared in this scope\n"
                    "   16 |   puts(\"what: error: is this\");\n"
                    "      |                           ^\n"
                    "lab.lua:16:27: note: suggested alternative: 'i'\n"
                    "compilation terminated.\n"),
           "lab.lua:16: 'j' was not declared in this scope\n"
           "    15 |   int unused;\n"
           "    16 |   if (i < n) y[i] = a * x[j] + z;\n"
           "       |                           ^\n",
           "g++'s too, without notes and its own picture");
    is_str(err.msg, "lab.lua:16: 'j' was not declared in this scope", "one error has no others");
}

static void test_tabs(void)
{
    diagnose("lab.lua(14): error: not so\n"
             "  \tint i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  \t    ^\n");
    is_str(shown,
           "lab.lua:14: not so\n"
           "    13 | {\n"
           "    14 |     int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "       |         ^\n",
           "tabs are blanks, and the caret stays below its place");
}

static void test_assertions(void)
{
    diagnose("lab.lua(12): error: static assertion failed with \"argument 1 is \"f64\"\"\n"
             "  static_assert(sl_number<sl_kernel>::sl_is, \"argument 1 is \\\"f64\\\"\");\n"
             "  ^\n");
    is_str(shown,
           "lab.lua:12: argument 1 is \"f64\"\n"
           "    12 | __global__ void saxpy(float a, const float *x, float *y, int n)\n",
           "of an assertion its own text is shown, and no place in the line");
    diagnose("lab.lua:12:1: error: static assertion failed due to requirement 'a::b': too few\n");
    is_str(err.msg, "lab.lua:12: too few", "clang's words around it go as well");
    diagnose("lab.lua:12:15: error: static assertion failed: too many\n");
    is_str(err.msg, "lab.lua:12: too many", "and g++'s");
}

static void test_places(void)
{
    diagnose("my.h(3): error: in a header\n"
             "  int x\n"
             "  ^\n\n"
             "__nv_name_map(2): error: identifier \"saxpy\" is undefined\n"
             "  #pragma nv_mangled_name saxpy\n"
             "                          ^\n");
    is_str(shown, "my.h:3: in a header\n",
           "of another file no line is shown, NVRTC's own is dropped");
    diagnose("C:\\a (1)\\b.cu(12): error: it's here\n");
    is_str(err.msg, "C:\\a (1)\\b.cu:12: it's here", "a file's name may have parentheses");
    diagnose("lab.lua(99): error: far away\n");
    is_str(shown, "lab.lua:99: far away\n", "a line that the source does not have is not shown");
    diagnose("lab.lua(11): error: before it\n");
    is_str(shown, "lab.lua:11: before it\n", "nor one before it");
    diagnose("/usr/bin/ld: cannot find -lfoo\ncollect2: error: ld returned 1 exit status\n");
    is_str(shown, "ld returned 1 exit status\n", "the linker has no lines");
}

static void test_continued(void)
{
    diagnose(
        "lab.lua(16): error: no instance of function template \"f\" matches the argument list\n"
        "            argument types are: (int, float)\n"
        "    if (i < n) y[i] = a * x[j] + z;\n"
        "                      ^\n");
    is_str(err.msg,
           "lab.lua:16: no instance of function template \"f\" matches the argument list; argument "
           "types are: (int, float)",
           "lines that continue a message belong to it");
    ok(strstr(shown, "       |                     ^\n") != NULL,
       "and the caret is found behind them");
}

static void test_many(void)
{
    char log[20000] = "";
    size_t lines = 0;
    for (int i = 0; i < 300; i++)
        snprintf(log + strlen(log), sizeof log - strlen(log), "lab.lua(90): error: number %d\n", i);
    diagnose(log);
    for (const char *at = shown; (at = strchr(at, '\n')); at++)
        lines++;
    is_int((int64_t)lines, 11, "ten of many errors are shown");
    ok(strstr(shown, "and 290 more\n") != NULL, "the others are counted");
    is_str(err.msg, "lab.lua:90: number 0 (and 299 more)", "in the sentence as well");
}

static void test_warnings(void)
{
    diagnose("lab.lua(15): warning #177-D: never used\n    int unused;\n        ^\n");
    is_str(err.msg, "lab.lua:15: never used", "without errors the warnings are shown");
    diagnose("\n\n  what is this\nno\n");
    is_str(err.msg, "what is this", "without messages the first line is");
    diagnose("");
    is_str(err.msg, "it does not compile, and the compiler does not say why", "or nothing");
    diagnose(NULL);
    is_str(err.msg, "it does not compile, and the compiler does not say why", "without a log too");
}

static void test_strange(void)
{
    char text[3000], log[6000];
    diagnose_of("lab.lua", "int \x1b[31m\xff = \xc3\xa4 $;\n",
                "lab.lua:12:17: error: stray '$' \x1b[2J\xff in program\n");
    is_str(shown,
           "lab.lua:12: stray '$' \\x1b[2J\\xff in program\n"
           "    12 | int \\x1b[31m\\xff = \xc3\xa4 $;\n"
           "       |                      ^\n",
           "nothing reaches a terminal that changes it");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    snprintf(log, sizeof log, "lab.lua:12:2500: error: %s\n", text);
    diagnose_of("lab.lua", text, log);
    ok(shown && strlen(shown) < 1200 && strlen(err.msg) < sizeof err.msg,
       "what is long is cut: %zu bytes", shown ? strlen(shown) : 0);
    ok(shown && !strchr(shown, '^'), "without a caret where its place is not shown");
    diagnose("lab.lua(12): error: a\r\n  {\r\n  ^\r\n\r\n(: error: b\n(): error: c\n:: error: d\n"
             ":0: error: e\n99999999999(7): error: f\n: error: g\nerror: h\nerror:\n error: i\n");
    is_str(err.msg, "lab.lua:12: a (and 7 more)", "broken places are none");
}

int main(void)
{
    plan(0);
    test_nvrtc();
    test_gcc();
    test_tabs();
    test_assertions();
    test_places();
    test_continued();
    test_many();
    test_warnings();
    test_strange();
    free(shown);
    return done_testing();
}
