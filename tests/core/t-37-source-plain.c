/* t-37-source-plain.c - sources without comments and continued lines: what is left stands where it stood,
 * and compilers that differ in how lines go on have nothing to differ in. */
#include "fake_backend.h"

#include <stdlib.h>

#include "../../core/custom/source_check.h"

static sl_error err;
static int line;

static void plain(const char *source, const char *wanted, const char *name)
{
    char *got;
    is_int(sl_source_plain(source, &got, &line, &err), SL_OK, "%s: it is read", name);
    is_str(got, wanted, "%s", name);
    free(got);
}

static void endless(const char *source, int at, const char *name)
{
    char *got = NULL;
    is_int(sl_source_plain(source, &got, &line, &err), SL_ECOMPILE, "%s", name);
    is_int(line, at, "and it says where");
    ok(got == NULL && strstr(err.msg, "a comment has no end"), "and why: %s", err.msg);
}

int main(void)
{
    plan(0);
    plain("", "", "nothing");
    plain("a // b\nc", "a     \nc", "a comment up to the line's end");
    plain("a /* b\n c */ d", "a     \n      d", "a comment of two lines");
    plain("a\\\nb\nc", "ab\n\nc", "a line that goes on, whose end comes later");
    plain("a\\ \t\nb\nc", "ab\n\nc", "with blanks behind the backslash");
    plain("a\\\r\nb\r\nc", "ab\n\nc", "with the lines' ends of Windows");
    plain("a\r\nb", "a\nb", "whose \\r goes");
    plain("// x\r\nb", "    \nb", "behind a comment, too");
    plain("// a\\\nb\nc", "     \n\nc", "a comment that goes on");
    plain("// a \\ \nasm\nc", "        \n\nc", "also with a blank behind the backslash");
    plain("/\\\n/ b\nc", "    \n\nc", "one that begins across lines");
    plain("/\\\n* b *\\\n/c\nd", "       c\n\n\nd", "and one that ends so");
    plain("\"// a\" /* b */", "\"// a\"        ", "no comment in a text");
    plain("\"a\\\"// b\" //c", "\"a\\\"// b\"    ", "nor behind an escaped quote");
    plain("\"a\\\\\" //c", "\"a\\\\\"    ", "nor is an escaped backslash one for the quote");
    plain("'\"' // b", "'\"'     ", "a quote as a character");
    plain("'\\'' // b", "'\\''     ", "an escaped one");
    plain("1'000 // b'", "1'000      ", "a ' in a number");
    plain("u8'x' // b", "u8'x'     ", "a character with a prefix");
    plain("\"a\\\nb\" // c\nd", "\"ab\"     \n\nd", "a text that goes on");
    plain("\"a // b\nc // d", "\"a // b\nc     ", "one without an end ends with its line");
    plain("R\"(// a\\\n\")\" // b\nc", "R\"(// a\\\n\")\"     \nc", "a raw text, to the byte");
    plain("u8R\"x()\")x\" //", "u8R\"x()\")x\"   ", "with a prefix and a mark");
    plain("a\\\nb R\"(\n)\" c\nd", "ab R\"(\n)\" c\n\nd",
          "a line's end that is owed is not put into it");
    plain("1.R\"(\" // b", "1.R\"(\"     ", "nor in a number");
    plain("0xe+R\"(\" // b", "0xe+R\"(\"     ", "that goes on behind a sign");
    plain("n+R\"(//)\" // b", "n+R\"(//)\"     ", "a sign alone is no number");
    plain("AR\"(\" // b", "AR\"(\"     ", "but not behind another name");
    plain("a / b * c /", "a / b * c /", "signs that begin no comment");
    plain("a\\", "a", "a backslash at the very end goes on into nothing");
    plain("// a \\", "     ", "in a comment, too");
    plain("a\\\n", "a\n", "a line that goes on into nothing");
    plain("a\t/*\t*/b", "a\t  \t  b", "tabs keep their columns");
    endless("a\n/* b\nc", 2, "a comment without end");
    endless("/*/", 1, "one that only looks as if");
    endless("a\\\nb /* *\\\n", 2, "behind a line that goes on");
    return done_testing();
}
