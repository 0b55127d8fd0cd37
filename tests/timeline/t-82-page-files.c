/* t-82-page-files.c - a build whose page has files that do not fit: saving a page is an error, and
 * leaves the file as it was. The files here take the place of the library's. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "files.h"
#include "make.h"
#include "../../core/pictures/report_page.h"

static char script[80], page[80];
#define FOLDER "core/pictures/report/"
const sl__page_file sl__page_files[] = {
    { FOLDER "script.js", script, 0 },
    { FOLDER "page.html", page, 0 },
    { NULL, NULL, 0 },
};

static void fails_with(const sl_timeline *tl, const char *of_page, const char *of_script,
                       const char *message)
{
    sl_error err;
    const char *path = in_directory("page.html");
    snprintf(page, sizeof page, "%s", of_page);
    snprintf(script, sizeof script, "%s", of_script);
    FILE *old = fopen(path, "w");
    fputs("old", old);
    fclose(old);
    is_int(sl_timeline_save_html(tl, path, NULL, &err), SL_EBACKEND, "%s in %s: an error", of_page,
           of_script);
    ok(strstr(err.msg, message) != NULL, "it says what does not fit: %s", err.msg);
    char *kept = contents(path);
    is_str(kept, "old", "and the file is as it was");
    free(kept);
    unlink(path);
}

int main(void)
{
    plan(0);
    make_directory();
    sl_timeline *tl = make();
    kernel(tl, 1, 1000, 5000);
    fails_with(tl, "a {{script.js", "", "\"{{script.js\" in a file of it is no mark");
    fails_with(tl, "a {{0123456789012345678901234567890123456789}} {{other.js}}", "",
               "report/0123456789012345678901234567890123456789 is not built in");
    fails_with(tl, "a {{script.js}}", "b {{none.js}}", "report/none.js is not built in");
    fails_with(tl, "a {{digest of script.js}}", "b {{none.js}}", "report/none.js is not built in");
    fails_with(tl, "a {{digest of script.js}}", "b {{none.js",
               "\"{{none.js\" in a file of it is no mark");
    sl_timeline_release(tl);
    rmdir(directory);
    return done_testing();
}
