/* t-12-source.c - declarations of dynamic shared memory, as a C++ compiler is given them. */
#include "../../core/emulate/unit.h"
#include "../tap.h"

static void rewritten(const char *source, const char *wanted, const char *names, const char *test)
{
    emu_text unit = { 0 }, definitions = { 0 };
    emu_source_add(source, &unit, &definitions);
    is_str(unit.data ? unit.data : "", wanted, "%s", test);
    is_str(definitions.data ? definitions.data : "", names, "%s: the names", test);
    emu_text_free(&unit);
    emu_text_free(&definitions);
}

static void undefined(const char *text, const char *wanted, const char *test)
{
    emu_text unit = { 0 };
    emu_source_undefine(text, &unit);
    is_str(unit.data ? unit.data : "", wanted, "%s", test);
    emu_text_free(&unit);
}

int main(void)
{
    plan(0);
    rewritten("extern __shared__ float tile[];",
              "extern            float tile[] __asm__(\"tile\");", "\"tile:\\n\"\n",
              "a declaration loses one word, and gets a symbol");
    rewritten("__shared__ extern int a[ ];", "           extern int a[ ] __asm__(\"a\");",
              "\"a:\\n\"\n", "in the other order");
    rewritten("extern __shared__ __align__(16) unsigned char raw[];",
              "extern            __align__(16) unsigned char raw[] __asm__(\"raw\");",
              "\"raw:\\n\"\n", "an alignment is no name");
    rewritten("extern\n__shared__ float t[];", "extern\n           float t[] __asm__(\"t\");",
              "\"t:\\n\"\n", "over two lines");
    rewritten("{ __shared__ float t[32]; }", "{ __shared__ float t[32]; }", "",
              "shared memory of a known size stays");
    rewritten("static __shared__ float t[32];", "       __shared__ float t[32];", "",
              "static is taken out, since __shared__ has it");
    rewritten("extern int f(); __shared__ float t[2];", "extern int f(); __shared__ float t[2];",
              "", "extern of another declaration");
    rewritten("// extern __shared__ float t[];\n", "// extern __shared__ float t[];\n", "",
              "in a comment");
    rewritten("/* ; extern */ __shared__ float t[2];", "/* ; extern */ __shared__ float t[2];", "",
              "extern in a comment");
    rewritten("\"extern __shared__ x[\";", "\"extern __shared__ x[\";", "", "in a text");
    rewritten("void f() { extern __shared__ int s[]; } void g() { extern __shared__ int s[]; }",
              "void f() { extern            int s[] __asm__(\"s\"); } "
              "void g() { extern            int s[] __asm__(\"s\"); }",
              "\"s:\\n\"\n", "one name twice is one variable");
    rewritten("/* never closed", "/* never closed", "", "a comment without an end");
    rewritten("\"never closed", "\"never closed", "", "a text without an end");
    undefined("int n = 3;", "#undef int\n#undef n\n", "each word is no macro from there on");
    undefined("__half *p", "#undef __half\n#undef p\n", "nor is one of CUDA's");
    undefined("EMU_STATE x", "#undef x\n", "but for those of our own");
    return done_testing();
}
