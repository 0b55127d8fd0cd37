/* t-99-native-lines.c - functions and lines of this program's own code, by the recorder's reader of
 * program files: what a look-up reads, and files that are cut, replaced or damaged meanwhile. */
#define _GNU_SOURCE /* dladdr1 */
#include "../tap.h"

#ifdef __linux__

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

static size_t bytes_read, reads_before_cut; /* 0: it is not cut */
static const char *cut_path;

/* What the reader reads, counted; the file may be cut in the middle of it. */
static ssize_t counted_pread(int fd, void *to, size_t n, off_t at)
{
    if (reads_before_cut > 0 && --reads_before_cut == 0) (void)!truncate(cut_path, 100);
    bytes_read += n;
    return pread(fd, to, n, at);
}

#define pread counted_pread
#include "../../core/record/symbol_file.c"
#undef pread
#define skip skip_bytes /* tap.h has one */
#include "../../core/record/code_ranges.c"
#include "../../core/record/native_lines.c"
#undef skip

enum { PATH_ROOM = 4096, COPIES = FILES_MOST + 2 };

static char folder[] = "/tmp/native-lines-XXXXXX";

enum { HERE_LINE = __LINE__ + 1 };
__attribute__((noinline)) static void here(void) { bytes_read = 0; }

typedef struct spot {
    char path[PATH_ROOM]; /* of the file that has it */
    uint64_t address;     /* there */
    const char *name;     /* by the loader; NULL: it does not know */
} spot;

static spot spot_of(void *address)
{
    spot s = { .path = "" };
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP)) return s;
    const bool is_program = map->l_name[0] == '\0';
    if (!realpath(is_program ? "/proc/self/exe" : map->l_name, s.path)) s.path[0] = '\0';
    s.address = (uint64_t)(uintptr_t)address - map->l_addr;
    s.name = info.dli_sname;
    return s;
}

static void copy_of(const spot *s, unsigned number, char to[PATH_ROOM])
{
    static char block[1 << 16];
    size_t n;
    snprintf(to, PATH_ROOM, "%s/%u", folder, number);
    FILE *from = fopen(s->path, "rb"), *copy = fopen(to, "wb");
    while (from && copy && (n = fread(block, 1, sizeof block, from)) > 0)
        fwrite(block, 1, n, copy);
    if (from) fclose(from);
    if (copy) fclose(copy);
}

static native_line look_up(const char *path, uint64_t address)
{
    static native_line line;
    bytes_read = 0;
    native_line_find(path, address, &line);
    return line;
}

static void test_answers(const spot *in_program, const spot *in_library)
{
    native_line line = look_up(in_program->path, in_program->address);
    const size_t first = bytes_read;
    is_str(line.symbol, "here", "a function of the program's has its name");
    if (in_program->path[0] && line.number) {
        is_int(line.number, HERE_LINE, "and its line");
        ok(strstr(line.path, "tests/timeline/t-99-native-lines.c"), "and its file");
    }
    line = look_up(in_program->path, UINT64_C(1) << 40);
    ok(!line.symbol[0] && line.number == 0, "an address behind all code has none");
    line = look_up(in_library->path, in_library->address);
    is_str(line.symbol, in_library->name, "one of a library has the loader's name for it");
    const size_t all = bytes_read;
    ok(all > first, "the larger file has more to read");
    line = look_up(in_library->path, in_library->address);
    is_str(line.symbol, in_library->name, "and has it again");
    ok(bytes_read < all / 10, "the second look-up reads no tenth of the first: %zu of %zu bytes",
       bytes_read, all);
    look_up(in_program->path, in_program->address);
    line = look_up(in_library->path, in_library->address);
    ok(bytes_read < all / 10, "nor does one behind a look-up in another file");
}

static void test_changes(const spot *in_program, const spot *in_library)
{
    char path[PATH_ROOM];
    copy_of(in_library, 0, path);
    native_line line = look_up(path, in_library->address);
    is_str(line.symbol, in_library->name, "a copy has the same");
    copy_of(in_program, 0, path);
    line = look_up(path, in_program->address);
    is_str(line.symbol, "here", "one that is replaced is looked through again");
    is_int(truncate(path, 100), 0, "it is cut");
    line = look_up(path, in_program->address);
    ok(!line.symbol[0] && line.number == 0, "one that was cut has nothing");
    unlink(path);
    line = look_up(path, in_program->address);
    ok(!line.symbol[0] && line.number == 0, "nor has one that is gone");
    size_t n = 0;
    for (; n < 40; n++) {
        copy_of(in_program, 0, path);
        cut_path = path;
        reads_before_cut = n + 1;
        line = look_up(path, in_program->address);
        if (line.number && line.number != HERE_LINE) break;
    }
    reads_before_cut = 0;
    is_int(n, 40, "a file that is cut at any read has no wrong line, and ends nothing");
    unlink(path);
}

static void test_bounds(const spot *in_library)
{
    char path[PATH_ROOM];
    size_t right = 0, bytes = 0;
    for (unsigned i = 1; i <= COPIES; i++) {
        copy_of(in_library, i, path);
        right += strcmp(look_up(path, in_library->address).symbol, in_library->name) == 0;
        unlink(path);
    }
    for (size_t i = 0; i < FILES_MOST; i++)
        bytes += bytes_of(&known.files[i]);
    is_int(right, COPIES, "more files than are kept have the same");
    ok(bytes > 0 && bytes <= KNOWN_MOST, "what is kept is bounded: %zu bytes", bytes);

    code_ranges many = { 0 };
    uint64_t from = 1;
    while (code_ranges_add(&many, from, from + 1, 0))
        from += 1000;
    is_int(many.n, CODE_RANGES_MOST, "a file's ranges are bounded");
    ok(!code_ranges_find(&many, 500), "between them there is none");
    is_int(code_ranges_find(&many, from - 1000)->from, from - 1000, "the last one is found");
    code_ranges_free(&many);
}

/* Bytes of no meaning at random offsets, in the parts that are read. */
static void test_damage(const spot *in_program)
{
    char path[PATH_ROOM];
    unsigned seed = 1;
    const int n = sized(20, 1000);
    int i = 0;
    for (; i < n; i++) {
        copy_of(in_program, 0, path);
        FILE *file = fopen(path, "r+b");
        if (!file) break;
        const symbol_part in = i % 2 ? known.files[0].file.lines : known.files[0].file.symbols;
        for (int k = 0; k < 20 && in.bytes; k++) {
            seed = seed * 1103515245 + 12345;
            fseek(file, (long)(in.at + (seed >> 8) % in.bytes), SEEK_SET);
            fputc((int)(seed >> 24), file);
        }
        fclose(file);
        look_up(path, in_program->address);
    }
    is_int(i, n, "damaged files end nothing");
    unlink(path);
}

int main(void)
{
    plan(0);
    if (!mkdtemp(folder)) return 1;
    void (*function)(void) = here;
    void *address; /* ISO C has no cast to it from a pointer to a function */
    memcpy(&address, &function, sizeof address);
    function();
    const spot in_program = spot_of(address);
    const spot in_library = spot_of(dlsym(RTLD_DEFAULT, "sl_status_name"));
    test_answers(&in_program, &in_library);
    test_damage(&in_program);
    test_changes(&in_program, &in_library);
    test_bounds(&in_library);
    for (size_t i = 0; i < FILES_MOST; i++)
        forget(&known.files[i]);
    rmdir(folder);
    return done_testing();
}

#else

int main(void)
{
    plan(1);
    ok(true, "the recorder is for Linux");
    return done_testing();
}

#endif
