/* t-20-plugin.c - the CUDA plugin: where it is looked for, and each reason for refusing
 * one. Plugins are compiled on the spot; the program runs itself to try them, since a
 * process looks once. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "fake_backend.h"

#include <unistd.h>

static const char plugin_source[] =
    "#include <stdio.h>\n"
    "#include \"backend.h\"\n"
    "static sl_status count(int *n, sl_error *err) { (void)err; *n = 3; return SL_OK; }\n"
    "static const sl_backend backend =\n"
    "    { .abi_version = SL_BACKEND_ABI + NEWER, .name = NAME, .device_count = count };\n"
    "const sl_backend *ENTRY(char *why, size_t n);\n"
    "const sl_backend *ENTRY(char *why, size_t n)\n"
    "{ if (REFUSES) snprintf(why, n, \"%s\", WHY); return REFUSES ? NULL : &backend; }\n";

static char self[4096], folder[256];

/* What "PROGRAM probe" prints: twice the same, or the device count. */
static int probe(void)
{
    sl_error first = { .msg = "" }, second = { .msg = "" };
    int count = 0;
    sl_status status = sl_backend_device_count("cuda", &count, &first);
    if (sl_backend_device_count("cuda", &count, &second) != status
        || strcmp(first.msg, second.msg)) {
        printf("not the same twice\n");
        return 0;
    }
    if (status)
        printf("%s: %s\n", sl_status_name(status), first.msg);
    else
        printf("%d devices\n", count);
    return 0;
}

/* Runs the shell command and gives the first line that it prints. */
static const char *line_of(const char *command)
{
    static char line[1024];
    FILE *pipe = popen(command, "r");
    line[0] = '\0';
    if (pipe && fgets(line, sizeof line, pipe)) line[strcspn(line, "\n")] = '\0';
    if (pipe) pclose(pipe);
    return line;
}

/* The program `path`, without the variable. */
static const char *probe_beside(const char *path)
{
    char command[8192];
    snprintf(command, sizeof command, "env -u STREAMLAB_CUDA_PLUGIN '%s' probe", path);
    return line_of(command);
}

static const char *probe_given(const char *plugin)
{
    char command[8192];
    snprintf(command, sizeof command, "STREAMLAB_CUDA_PLUGIN='%s' '%s' probe", plugin, self);
    return line_of(command);
}

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) abort();
}

static bool compile(const char *name, const char *defines)
{
    char command[2048], core[512];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(core, sizeof core, "%.*s/../../core", slash ? (int)(slash - __FILE__) : 1,
             slash ? __FILE__ : ".");
    snprintf(command, sizeof command,
             "cc -std=c11 -shared -fPIC -I'%s' -DNEWER=0 -DNAME='\"cuda\"' -DREFUSES=0 "
             "-DWHY='\"\"' -DENTRY=sl_backend_entry %s -o '%s/%s' '%s/plugin.c' 2>/dev/null",
             core, defines, folder, name, folder);
    return system(command) == 0;
}

/* ---- tests ---------------------------------------------------------------------- */

static void test_no_plugin(void)
{
    char want[1024];
    char *slash = strrchr(self, '/');
    snprintf(want, sizeof want,
             "SL_ENOTFOUND: this build has no CUDA backend: streamlab_cuda.so is not beside the "
             "program (in %.*s)",
             (int)(slash - self < 120 ? slash - self : 120), self);
    is_str(probe_beside(self), want, "no plugin: the sentence says where it was looked for");
    is_str(probe_given("none"),
           "SL_ENOTFOUND: the CUDA backend is switched off: STREAMLAB_CUDA_PLUGIN is \"none\"",
           "it can be switched off");
    is_str(probe_given(""),
           "SL_ENOTFOUND: the CUDA backend is switched off: STREAMLAB_CUDA_PLUGIN is \"\"",
           "also by an empty name");
    is_str(probe_given("/no/such/plugin.so"),
           "SL_ENOTFOUND: STREAMLAB_CUDA_PLUGIN names a file that is not there: "
           "/no/such/plugin.so",
           "a plugin that was named must be there");
}

static void test_refusals(void)
{
    const char *line;
    write_text(in_folder("text.so"), "this is no library\n");
    line = probe_given(in_folder("text.so"));
    ok(!strncmp(line, "SL_EUNSUPPORTED: the CUDA backend cannot be loaded: ", 52),
       "a file that is no library is refused");
    ok(strstr(line, "text.so") != NULL, "in the loader's words");
    if (!compile("noentry.so", "-DENTRY=other")) {
        skip(5, "there is no C compiler here");
        return;
    }
    is_str(probe_given(in_folder("noentry.so")),
           "SL_EUNSUPPORTED: streamlab_cuda.so is no backend: it has no function "
           "sl_backend_entry",
           "a library without the entry is refused");
    compile("refuses.so", "-DREFUSES=1 -DWHY='\"no driver answers\"'");
    is_str(probe_given(in_folder("refuses.so")),
           "SL_EUNSUPPORTED: the CUDA backend cannot work here: no driver answers",
           "a plugin says why it cannot work");
    compile("silent.so", "-DREFUSES=1");
    is_str(probe_given(in_folder("silent.so")),
           "SL_EUNSUPPORTED: the CUDA backend cannot work here: it gives no reason",
           "or is said not to");
    char newer[200];
    snprintf(newer, sizeof newer,
             "SL_EUNSUPPORTED: streamlab_cuda.so has interface version %d, "
             "needed is %d: it belongs to another version of streamlab",
             SL_BACKEND_ABI + 1, SL_BACKEND_ABI);
    compile("newer.so", "-DNEWER=1");
    is_str(probe_given(in_folder("newer.so")), newer, "another interface version is refused");
    compile("other.so", "-DNAME='\"vulkan\"'");
    is_str(probe_given(in_folder("other.so")),
           "SL_EUNSUPPORTED: streamlab_cuda.so is the backend \"vulkan\", not cuda",
           "and so is another backend");
}

/* A copy of this program in bin/, the plugin beside it or in lib/. */
static void test_places(void)
{
    char command[8192];
    if (!compile("good.so", "")) {
        skip(5, "there is no C compiler here");
        return;
    }
    is_str(probe_given(in_folder("good.so")), "3 devices", "a plugin that was named is loaded");
    snprintf(command, sizeof command,
             "cd '%s' && mkdir -p bin lib/streamlab && cp '%s' bin/program && "
             "cp good.so bin/streamlab_cuda.so && ln -s bin/program link",
             folder, self);
    if (system(command)) abort();
    is_str(probe_beside(in_folder("bin/program")), "3 devices", "one beside the program as well");
    is_str(probe_beside(in_folder("link")), "3 devices", "also when a link was called");
    snprintf(command, sizeof command,
             "cd / && PATH='%s/bin':$PATH env -u STREAMLAB_CUDA_PLUGIN program probe", folder);
    is_str(line_of(command), "3 devices", "or the program was found by the path");
    snprintf(command, sizeof command, "cd '%s' && mv bin/streamlab_cuda.so lib/streamlab/", folder);
    if (system(command)) abort();
    is_str(probe_beside(in_folder("bin/program")), "3 devices", "or in ../lib/streamlab");
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    char command[512];
    if (argc == 2 && !strcmp(argv[1], "probe")) return probe();
    plan(0);
    snprintf(folder, sizeof folder, "%s/streamlab-plugin-XXXXXX", tmp ? tmp : "/tmp");
    if (!realpath(argv[0], self) || !mkdtemp(folder)) {
        printf("Bail out! no temporary folder\n");
        return 1;
    }
    write_text(in_folder("plugin.c"), plugin_source);
    test_no_plugin();
    test_refusals();
    test_places();
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0 || done_testing();
}
