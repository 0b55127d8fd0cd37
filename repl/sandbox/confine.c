/* confine.c - confines the process in which untrusted Lua code runs, which children.c has
 * started.
 *
 * Three fences, one behind the other: the Lua code sees no function that does harm (its sandbox),
 * the limits here, and the kernel's filter of system calls (syscalls.c). Files that the program
 * itself would open later must be open before: the BLAS library (internals.load_blas) and the
 * time zone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RLIMIT_NPROC, MAP_ANONYMOUS, unshare */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#include "confine.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../run/embedded.h"
#include "../run/ctrl_c.h"
#include "syscalls.h"

#ifdef __linux__
#include <sched.h>
#endif

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER 1
#endif
#ifndef ADDRESS_SANITIZER
#define ADDRESS_SANITIZER 0
#endif

enum { REPORT = 3 };

/* Not available to the untrusted code; for the code that reports its result afterwards. */
enum { RESERVE_BYTES = 16 << 20 };

typedef struct wish {
    double processor_seconds, memory_bytes;
    bool gpu;
} wish;

/* ---- Lua's memory ---------------------------------------------------------------- */

/* There is one state, whose allocator this one wraps. It is static because the state may outlive
 * everything else. */
static struct {
    lua_Alloc allocate;
    void *ud;
    size_t used, limit;
} memory;

static void *allocate_limited(void *ud, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)ud;
    size_t had = block ? old_bytes : 0; /* otherwise it is the kind of object */
    if (new_bytes > had && memory.used + (new_bytes - had) > memory.limit) return NULL;
    void *got = memory.allocate(memory.ud, block, old_bytes, new_bytes);
    if (got || new_bytes == 0) memory.used += new_bytes - had;
    return got;
}

static void limit_lua(lua_State *L, double bytes)
{
    size_t used = (size_t)lua_gc(L, LUA_GCCOUNT) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB);
    bool is_new = memory.allocate == NULL;
    if (is_new) memory.allocate = lua_getallocf(L, &memory.ud);
    memory.used = used;
    memory.limit = used + (size_t)bytes;
    if (is_new) lua_setallocf(L, allocate_limited, NULL);
}

/* ---- the system's limits --------------------------------------------------------- */

/* Appends a sentence to the list on the stack's top. */
static void lament(lua_State *L, const char *what, const char *why)
{
    lua_pushfstring(L, "%s: %s", what, why);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* The hard limit may already be lower. */
static bool set_limit(int which, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0) return false;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < hard) hard = limit.rlim_max;
    limit = (struct rlimit){ soft < hard ? soft : hard, hard };
    return setrlimit(which, &limit) == 0;
}

static void need_limit(lua_State *L, int which, rlim_t soft, rlim_t hard, const char *what)
{
    if (!set_limit(which, soft, hard)) lament(L, what, strerror(errno));
}

/* The system counts whole seconds, from the start of the process. */
static void limit_time(lua_State *L, double seconds)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double until = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
                   + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6 + seconds;
    rlim_t soft = (rlim_t)fmax(1, round(until));
    interrupt_limit_time((long)ceil(seconds));
    need_limit(L, RLIMIT_CPU, soft, soft + 1, "processor time is not limited");
}

/* The lowest descriptor that is free: with a limit of so many no new one can be had. */
static rlim_t lowest_descriptor(void)
{
    int fd = dup(REPORT);
    if (fd < 0) /* there is none as it is */
        return 0;
    close(fd);
    return (rlim_t)fd;
}

/* What the process has mapped now; 0: nobody knows. */
static double mapped_bytes(void)
{
    double pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%lf", &pages) != 1) pages = 0;
    fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static void *reserve;

/* Shadow memory is terabytes, and so is what a GPU's driver maps. */
static void limit_mapped(lua_State *L, const wish *w)
{
    static const char what[] = "memory outside of Lua is not limited";
    if (ADDRESS_SANITIZER || w->gpu) return;
    void *mapped = mmap(NULL, RESERVE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    reserve = mapped == MAP_FAILED ? NULL : mapped;
    double now = mapped_bytes();
#ifdef RLIMIT_AS
    if (now > 0) {
        rlim_t limit = (rlim_t)(now + w->memory_bytes);
        need_limit(L, RLIMIT_AS, limit, limit, what);
        return;
    }
#endif
    (void)now;
    lament(L, what, "this system does not say how much there is");
}

static void limit_system(lua_State *L, const wish *w)
{
    limit_mapped(L, w);
    need_limit(L, RLIMIT_CORE, 0, 0, "a crash may leave a core file");
    signal(SIGXFSZ, SIG_IGN); /* writing fails, and that is enough */
    need_limit(L, RLIMIT_FSIZE, 0, 0, "files can be written");
    if (!w->gpu) { /* a driver starts threads and opens its devices */
        need_limit(L, RLIMIT_NPROC, 0, 0, "processes can be started");
        rlim_t free = lowest_descriptor();
        need_limit(L, RLIMIT_NOFILE, free, free, "files can be opened");
    }
    limit_time(L, w->processor_seconds);
}

/* Takes the network away where there is no filter. False: it is still there. */
static bool cut_network(void)
{
#ifdef __linux__
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
#else
    return false;
#endif
}

static void refuse_calls(lua_State *L, const wish *w)
{
    const char *why = syscalls_refuse(w->gpu);
    if (!why) return;
    lament(L, "system calls are not filtered", why);
    if (!cut_network())
        lament(L, "the network is not cut off", "nor has this system another way that works");
}

/* ---- the functions --------------------------------------------------------------- */

static double number_field(lua_State *L, const char *name, double most)
{
    lua_getfield(L, 1, name);
    double value = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(value > 0 && value <= most))
        luaL_error(L, "confine: %s must be a positive number, at most %f", name, most);
    lua_pop(L, 1);
    return value;
}

static int prepare_filter(lua_State *L)
{
    syscalls_prepare(lua_toboolean(L, 1));
    return 0;
}

static int confine(lua_State *L)
{
    struct stat report;
    luaL_checktype(L, 1, LUA_TTABLE);
    wish w = {
        .processor_seconds = number_field(L, "processor_seconds", 1e6),
        .memory_bytes = number_field(L, "memory_bytes", 1e12),
    };
    lua_getfield(L, 1, "gpu");
    w.gpu = lua_toboolean(L, -1);
    if (fstat(REPORT, &report) != 0 || !S_ISFIFO(report.st_mode))
        return luaL_error(L, "confine: descriptor 3 is not a pipe: this is for programs that "
                             "program.spawn has started");
    tzset(); /* reads the time zone's file, which os.date needs */
    syscalls_prepare(w.gpu);
    lua_newtable(L);
    limit_system(L, &w);
    refuse_calls(L, &w);
    limit_lua(L, w.memory_bytes);
    return 1;
}

/* In C, because Lua code after the call would get the error of the time limit, too, if the
 * untrusted code caught it again and again. */
static int call_confined(lua_State *L)
{
    luaL_checkany(L, 1);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    memory.limit = (size_t)-1;
    if (reserve) munmap(reserve, RESERVE_BYTES);
    reserve = NULL;
    bool time_was_up = interrupt_end_limit(L);
    luaL_checkstack(L, 2, NULL);
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, 1);
    lua_pushboolean(L, time_was_up);
    lua_insert(L, 1);
    return lua_gettop(L);
}

static int report_bytes(lua_State *L)
{
    size_t n;
    const char *bytes = luaL_checklstring(L, 1, &n);
    while (n > 0) {
        ssize_t written = write(REPORT, bytes, n);
        if (written < 0 && errno != EINTR)
            return embedded_fail(L, "report: cannot write to descriptor 3: %s", strerror(errno));
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
    }
    return 0;
}

static int leave(lua_State *L)
{
    (void)L;
    fflush(stdout);
    _exit(0);
}

void confine_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "prepare_filter", prepare_filter },
        { "confine", confine },
        { "call_confined", call_confined },
        { "report", report_bytes },
        { "leave", leave },
        { NULL, NULL },
    };
    embedded_add(L, functions);
}
