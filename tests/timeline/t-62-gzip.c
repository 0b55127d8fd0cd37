/* t-62-gzip.c - compressed traces, out and in: the same bytes for the same run, and a
 * sentence for what is no whole file. */
#define _XOPEN_SOURCE 700 /* mkdtemp, setrlimit */
#include "files.h"
#include "make.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

typedef struct bytes {
    unsigned char *data;
    size_t n;
} bytes;

static bytes bytes_of(const char *path)
{
    struct stat info;
    bytes b = { (unsigned char *)contents(path), 0 };
    if (b.data && stat(path, &info) == 0) b.n = (size_t)info.st_size;
    return b;
}

static void put(const char *path, const void *data, size_t n)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, n, file) != n) diag("cannot write %s", path);
    if (file) fclose(file);
}

static bool same(bytes a, bytes b)
{
    return a.data && b.data && a.n == b.n && memcmp(a.data, b.data, a.n) == 0;
}

static sl_timeline *many(int n)
{
    sl_timeline *tl = make();
    for (int i = 0; i < n; i++)
        kernel(tl, (uint32_t)i % 3 + 1, i * 1000, i * 1000 + 900 + i % 7);
    finish(tl);
    return tl;
}

static void save(const sl_timeline *tl, const char *name)
{
    sl_error err;
    must(sl_timeline_save_kineto(tl, in_directory(name), &err), &err);
}

/* Unpacked by zlib in one go. */
static bytes unpacked(bytes packed, size_t n)
{
    bytes b = { calloc(1, n + 2), 0 };
    z_stream stream = {
        .next_in = packed.data,
        .avail_in = (uInt)packed.n,
        .next_out = b.data,
        .avail_out = (uInt)n + 1,
    };
    if (inflateInit2(&stream, 15 + 16) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END
        && stream.avail_in == 0)
        b.n = n + 1 - stream.avail_out;
    inflateEnd(&stream);
    return b;
}

static void test_out(const sl_timeline *tl)
{
    static const unsigned char header[10] = { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF };
    save(tl, "a.json");
    save(tl, "a.json.gz");
    save(tl, "b.json.gz");
    bytes plain = bytes_of(in_directory("a.json")), packed = bytes_of(in_directory("a.json.gz"));
    bytes again = bytes_of(in_directory("b.json.gz"));
    ok(packed.n > 10 && memcmp(packed.data, header, 10) == 0,
       "a name in .gz is compressed, without time, name and system");
    ok(same(packed, again), "the same run is the same bytes, under another name, too");
    ok(packed.n < plain.n / 5, "which are few: %zu for %zu", packed.n, plain.n);
    bytes text = unpacked(packed, plain.n);
    ok(same(text, plain), "unpacked they are those of the plain file, in a single member");
    free(text.data);
    free(plain.data);
    free(packed.data);
    free(again.data);
}

static char said[1024]; /* about what was loaded last */

static int64_t loaded(const char *name, sl_error *err)
{
    sl_timeline *tl = NULL;
    size_t n = 0;
    sl_status status = sl_timeline_load_kineto(in_directory(name), SL_BUSIEST_DEVICE, &tl, err);
    if (status != SL_OK) return status;
    n = sl_timeline_span_count(tl);
    snprintf(said, sizeof said, "%s", sl_timeline_notice(tl));
    sl_timeline_release(tl);
    return (int64_t)n;
}

static void test_in(int n)
{
    sl_error err;
    bytes packed = bytes_of(in_directory("a.json.gz")), plain = bytes_of(in_directory("a.json"));
    is_int(loaded("a.json.gz", &err), n, "a compressed trace is read");
    put(in_directory("c.json"), packed.data, packed.n);
    is_int(loaded("c.json", &err), n, "also if its name does not say so");
    put(in_directory("c.gz"), plain.data, plain.n);
    is_int(loaded("c.gz", &err), n, "and a plain one of which the name says so");
    put(in_directory("c.gz"), packed.data, packed.n / 2);
    int64_t some = loaded("c.gz", &err);
    ok(some > n / 4 && some < n, "of half a compressed file %d of %d operations are read",
       (int)some, n);
    ok(strstr(said, "read to its end: it is cut short"), "which is said: %s", said);
    put(in_directory("c.gz"), packed.data, packed.n - 4);
    is_int(loaded("c.gz", &err), n, "of one without its last bytes all are read");
    ok(strstr(said, "it is cut short"), "and that it is cut: %s", said);
    put(in_directory("c.gz"), packed.data, 20);
    is_int(loaded("c.gz", &err), SL_EINVAL, "one whose first bytes alone are there is refused");
    ok(strstr(err.msg, "c.gz': it is cut short"), "which is not empty: %s", err.msg);
    packed.data[packed.n - 8] ^= 0x55; /* of the checksum */
    put(in_directory("c.gz"), packed.data, packed.n);
    some = loaded("c.gz", &err); /* zlib may keep back what it unpacked last */
    ok(some > n - n / 10 && some <= n, "of one whose checksum is another's %d are read", (int)some);
    ok(strstr(said, "it is damaged"), "and said to be damaged: %s", said);
    packed.data[packed.n / 2] ^= 0x55;
    put(in_directory("c.gz"), packed.data, packed.n);
    some = loaded("c.gz", &err);
    ok(some > n / 4 && some < n, "of one with bits that are wrong %d operations are read",
       (int)some);
    ok(strstr(said, "cannot be read to its end"), "and that it is damaged: %s", said);
    free(packed.data);
    free(plain.data);
}

static void test_no_trace(void)
{
    sl_error err;
    is_int(loaded("none.json", &err), SL_EIO, "a file that is not there is SL_EIO");
    ok(strstr(err.msg, "none.json': No such file"), "and named: %s", err.msg);
    is_int(loaded("", &err), SL_EIO, "so is a folder");
    ok(strstr(err.msg, "Is a directory"), "as such: %s", err.msg);
    put(in_directory("c.gz"), "", 0);
    is_int(loaded("c.gz", &err), SL_EINVAL, "an empty file is refused");
    ok(strstr(err.msg, "c.gz': it is empty"), "as such: %s", err.msg);
    put(in_directory("c.gz"),
        "\x7F"
        "ELF\0\0",
        6);
    is_int(loaded("c.gz", &err), SL_EINVAL, "a program is refused");
    ok(strstr(err.msg, "is no JSON trace: it does not begin with { or ["), "as such: %s", err.msg);
    put(in_directory("c.gz"), " \n[{\"a\":1}", 10);
    is_int(loaded("c.gz", &err), SL_EINVAL, "half a trace is refused");
    ok(strstr(err.msg, "c.gz': it ends after byte 10"), "with the file's name: %s", err.msg);
}

/* 64 MiB of blanks in 64 KiB: refused at its beginning. */
static void test_bomb(void)
{
    sl_error err;
    char *blanks = malloc((size_t)1 << 20);
    gzFile file = gzopen(in_directory("c.gz"), "wb9");
    if (!blanks || !file) {
        diag("cannot write");
        return;
    }
    memset(blanks, ' ', (size_t)1 << 20);
    for (int i = 0; i < 64; i++)
        gzwrite(file, blanks, 1 << 20);
    gzclose(file);
    free(blanks);
    is_int(loaded("c.gz", &err), SL_EINVAL, "a file that unpacks to nothing is refused");
    ok(strstr(err.msg, "is no JSON trace"), "as such: %s", err.msg);
}

/* A disk that is full after 512 bytes. */
static void test_full_disk(const sl_timeline *tl)
{
    sl_error err;
    put(in_directory("old.gz"), "old", 3);
    struct rlimit limit, small = { 512, 512 };
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    sl_status status = sl_timeline_save_kineto(tl, in_directory("old.gz"), &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    is_int(status, SL_EIO, "a write that fails is SL_EIO: %s", err.msg);
    bytes old = bytes_of(in_directory("old.gz"));
    ok(old.n == 3 && memcmp(old.data, "old", 3) == 0, "the old file is whole");
    free(old.data);
    is_int(sl_timeline_save_kineto(tl, in_directory("none/x.gz"), &err), SL_EIO,
           "a missing folder is SL_EIO");
}

int main(void)
{
    make_directory();
    plan(0);
    sl_timeline *tl = many(5000);
    test_out(tl);
    test_in(5000);
    test_no_trace();
    test_bomb();
    test_full_disk(tl);
    sl_timeline_release(tl);
    static const char *const files[] = {
        "a.json", "a.json.gz", "b.json.gz", "c.json", "c.gz", "old.gz",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(in_directory(files[i]));
    is_int(rmdir(directory), 0, "no temporary file is left");
    return done_testing();
}
