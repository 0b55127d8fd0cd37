/* mark_calls.c - the functions that NVTX calls. Each program or library that uses NVTX 3 has a copy
 * of it, which loads the file that NVTX_INJECTION64_PATH names at its first call, and gives its
 * InitializeInjectionNvtx2 a function that has tables of pointers: what is put there is called from
 * then on. The tables, numbers and structs below are those of nvtx3/nvtxDetail/nvtxTypes.h and
 * nvtx3/nvToolsExt.h, which a build with CUPTI's header may not have; tests/record compares them.
 */
#include "mark_calls.h"

#include <stddef.h>
#include <stdlib.h>

#include "marks.h"

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table *get_table);

/* ---- names ---- */

static nvtx_name *name_of_text(const nvtx_domain *domain, const char *text)
{
    nvtx_lock();
    nvtx_name *name = nvtx_name_take(domain, text ? text : "");
    nvtx_unlock();
    return name;
}

static nvtx_name *name_of_wide(const nvtx_domain *domain, const wchar_t *text)
{
    char narrow[NVTX_NAME_BYTES];
    nvtx_narrow(narrow, text ? text : L"");
    return name_of_text(domain, narrow);
}

static nvtx_name *name_of_registered(nvtx_name *name)
{
    nvtx_lock();
    if (name) name->refs++;
    nvtx_unlock();
    return name;
}

/* That of an event of NCCL's, with what is exchanged; NULL: it says no more than its name. */
static nvtx_name *name_of_nccl(const nvtx_domain *domain, const nvtx_event *event)
{
    char text[NVTX_NAME_BYTES];
    const nvtx_name *name = event->message.registered;
    if (event->message_type != NVTX_REGISTERED || !name || !nvtx_domain_is(domain, "NCCL"))
        return NULL;
    return nvtx_nccl_text(text, nvtx_name_text(name), event) ? name_of_text(domain, text) : NULL;
}

/* An event of a later version is longer; one that is too short has no message. */
static nvtx_name *name_of(const nvtx_domain *domain, const nvtx_event *event)
{
    if (!event || event->size < sizeof *event) return name_of_text(domain, "");
    nvtx_name *name = name_of_nccl(domain, event);
    if (name) return name;
    if (event->message_type == NVTX_ASCII) return name_of_text(domain, event->message.ascii);
    if (event->message_type == NVTX_WIDE) return name_of_wide(domain, event->message.wide);
    if (event->message_type == NVTX_REGISTERED)
        return name_of_registered(event->message.registered);
    return name_of_text(domain, "");
}

/* ---- ranges and marks ---- */

static void mark_ex(const nvtx_event *event) { nvtx_mark(name_of(NULL, event)); }
static void mark_a(const char *text) { nvtx_mark(name_of_text(NULL, text)); }
static void mark_w(const wchar_t *text) { nvtx_mark(name_of_wide(NULL, text)); }
static uint64_t start_ex(const nvtx_event *event) { return nvtx_start(name_of(NULL, event)); }
static uint64_t start_a(const char *text) { return nvtx_start(name_of_text(NULL, text)); }
static uint64_t start_w(const wchar_t *text) { return nvtx_start(name_of_wide(NULL, text)); }
static int push_ex(const nvtx_event *event) { return nvtx_push(NULL, name_of(NULL, event)); }
static int push_a(const char *text) { return nvtx_push(NULL, name_of_text(NULL, text)); }
static int push_w(const wchar_t *text) { return nvtx_push(NULL, name_of_wide(NULL, text)); }
static int pop(void) { return nvtx_pop(NULL); }

static void domain_mark(nvtx_domain *domain, const nvtx_event *event)
{
    nvtx_mark(name_of(domain, event));
}

static uint64_t domain_start(nvtx_domain *domain, const nvtx_event *event)
{
    return nvtx_start(name_of(domain, event));
}

static void domain_end(nvtx_domain *domain, uint64_t number)
{
    (void)domain;
    nvtx_end(number);
}

static int domain_push(nvtx_domain *domain, const nvtx_event *event)
{
    return nvtx_push(domain, name_of(domain, event));
}

static int domain_pop(nvtx_domain *domain) { return nvtx_pop(domain); }

/* ---- domains and registered texts; both are kept as long as the program runs ---- */

static nvtx_name *register_a(nvtx_domain *domain, const char *text)
{
    return name_of_text(domain, text);
}

static nvtx_name *register_w(nvtx_domain *domain, const wchar_t *text)
{
    return name_of_wide(domain, text);
}

static nvtx_domain *create_a(const char *name) { return nvtx_domain_make(name ? name : ""); }

static nvtx_domain *create_w(const wchar_t *name)
{
    char narrow[NVTX_NAME_BYTES];
    nvtx_narrow(narrow, name ? name : L"");
    return nvtx_domain_make(narrow);
}

/* ---- tables ---- */

typedef struct row {
    unsigned module, function;
    nvtx_function *ours;
} row;

#define ROW(module, function, ours)                             \
    {                                                           \
        NVTX_##module, NVTX_##function, (nvtx_function *)(ours) \
    }
static const row rows[] = {
    ROW(CORE, MARK_EX, mark_ex),
    ROW(CORE, MARK_A, mark_a),
    ROW(CORE, MARK_W, mark_w),
    ROW(CORE, START_EX, start_ex),
    ROW(CORE, START_A, start_a),
    ROW(CORE, START_W, start_w),
    ROW(CORE, END, nvtx_end),
    ROW(CORE, PUSH_EX, push_ex),
    ROW(CORE, PUSH_A, push_a),
    ROW(CORE, PUSH_W, push_w),
    ROW(CORE, POP, pop),
    ROW(CORE2, DOMAIN_MARK, domain_mark),
    ROW(CORE2, DOMAIN_START, domain_start),
    ROW(CORE2, DOMAIN_END, domain_end),
    ROW(CORE2, DOMAIN_PUSH, domain_push),
    ROW(CORE2, DOMAIN_POP, domain_pop),
    ROW(CORE2, REGISTER_A, register_a),
    ROW(CORE2, REGISTER_W, register_w),
    ROW(CORE2, CREATE_A, create_a),
    ROW(CORE2, CREATE_W, create_w),
};

/* 1: NVTX may call what is in the tables; 0: all its functions do nothing. */
int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
    const nvtx_callbacks *callbacks = get_table ? get_table(NVTX_CALLBACKS) : NULL;
    if (!getenv("STREAMLAB_RECORD") || !callbacks || callbacks->bytes < sizeof *callbacks) return 0;
    nvtx_prepare();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nvtx_function ***table = NULL;
        unsigned n = 0;
        if (callbacks->get_module(rows[i].module, &table, &n) && table && rows[i].function < n)
            *table[rows[i].function] = rows[i].ours;
    }
    return 1;
}
