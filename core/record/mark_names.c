/* mark_names.c - the texts of ranges, each kept once. A program may make a new one for each range,
 * as PyTorch does with the shapes of an operator's arguments: when there are many, those that no
 * range has are forgotten, and their numbers in the spool are given to others. */
#include "marks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../base.h"
#include "spool_write.h"

enum { NAMES_MOST = 16384, DOMAIN_BYTES = 64 };

struct nvtx_domain {
    size_t length; /* with the ":" behind it */
    char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    sl__table all;
    size_t most;      /* more than that: some are forgotten */
    uint32_t *unused; /* numbers of the spool that names had which are forgotten */
    size_t n_unused, cap_unused;
    uint32_t process; /* counts forks */
} names = { .most = NAMES_MOST, .process = 1 };

void nvtx_lock(void) { pthread_mutex_lock(&lock); }
void nvtx_unlock(void) { pthread_mutex_unlock(&lock); }

/* How many bytes of a text fit into `most`, without a part of a character at their end. */
static size_t fitting(const char *text, size_t most)
{
    size_t n = strnlen(text, most + 1);
    if (n <= most) return n;
    for (n = most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

nvtx_domain *nvtx_domain_make(const char *name)
{
    const size_t n = fitting(name, DOMAIN_BYTES);
    nvtx_domain *domain = malloc(sizeof *domain + n + 2);
    if (!domain) return NULL;
    memcpy(domain->name, name, n);
    memcpy(domain->name + n, ":", 2);
    domain->length = n + 1;
    return domain;
}

bool nvtx_domain_is(const nvtx_domain *domain, const char *name)
{
    const size_t n = strlen(name);
    return domain && domain->length == n + 1 && memcmp(domain->name, name, n) == 0;
}

/* ---- what is forgotten ---- */

/* Without memory a number is not used again. */
static void forget(nvtx_name *name)
{
    sl__table_remove(&names.all, &name->entry);
    if (name->process == names.process
        && SL__GROW(names.unused, names.cap_unused, names.n_unused + 1))
        names.unused[names.n_unused++] = name->number;
    free(name);
}

static void forget_unused(void)
{
    for (size_t i = 0; i < names.all.room; i++)
        for (sl__entry *entry = names.all.at[i], *next; entry; entry = next) {
            next = entry->next;
            if (((nvtx_name *)entry)->refs == 0) forget((nvtx_name *)entry);
        }
    names.most = sl__max((size_t)NAMES_MOST, 2 * names.all.n);
}

/* The table may be as a thread of the parent was just changing it, which held the lock. */
void nvtx_names_leave(void)
{
    const uint32_t process = names.process + 1;
    pthread_mutex_init(&lock, NULL);
    memset(&names, 0, sizeof names);
    names.most = NAMES_MOST;
    names.process = process;
}

/* ---- taken and given back ---- */

static nvtx_name *find(const nvtx_domain *domain, const char *text, size_t n, uint64_t key)
{
    sl__entry *entry = sl__table_find(&names.all, key);
    for (; entry; entry = sl__table_next(entry)) {
        nvtx_name *name = (nvtx_name *)entry;
        const size_t before = domain ? domain->length : 0;
        if (name->domain == domain && name->length == n
            && memcmp(name->text + before, text, n) == 0)
            return name;
    }
    return NULL;
}

static nvtx_name *make(const nvtx_domain *domain, const char *text, size_t n, uint64_t key)
{
    const size_t before = domain ? domain->length : 0;
    if (names.all.n >= names.most) forget_unused();
    nvtx_name *name = calloc(1, sizeof *name + before + n + 1);
    if (!name || !sl__table_add(&names.all, &name->entry, key)) {
        free(name);
        return NULL;
    }
    name->domain = domain;
    name->length = (uint32_t)n;
    if (before) memcpy(name->text, domain->name, before);
    memcpy(name->text + before, text, n);
    return name;
}

nvtx_name *nvtx_name_take(const nvtx_domain *domain, const char *text)
{
    const size_t n = fitting(text, NVTX_NAME_BYTES - 1);
    const uint64_t key = sl__table_key(domain, sl__hash(SL__HASH_START, text, n), n);
    nvtx_name *name = find(domain, text, n, key);
    if (!name) name = make(domain, text, n, key);
    if (name) name->refs++;
    return name;
}

const char *nvtx_name_text(const nvtx_name *name)
{
    return name->text + (name->domain ? name->domain->length : 0);
}

void nvtx_name_drop(nvtx_name *name)
{
    if (name) name->refs--;
}

/* Numbers come back, and the list of them moves, when another thread forgets names. */
static bool give_number(nvtx_name *name)
{
    nvtx_lock();
    const bool is_new = name->process != names.process;
    if (is_new)
        name->number = names.n_unused > 0 ? names.unused[--names.n_unused] : spool_next_name();
    name->process = names.process;
    nvtx_unlock();
    return is_new;
}

uint32_t nvtx_name_number(nvtx_name *name)
{
    if (give_number(name))
        spool_add(&(spool_record){ .name = { SPOOL_NAME, name->number, name->text } });
    return name->number;
}

/* ---- wide texts ---- */

/* What is no character becomes "?". */
static size_t put_character(char *to, uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = '?';
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

void nvtx_narrow(char to[NVTX_NAME_BYTES], const wchar_t *text)
{
    size_t n = 0;
    for (; *text && n + 5 <= NVTX_NAME_BYTES; text++)
        n += put_character(to + n, (uint32_t)*text);
    to[n] = '\0';
}
