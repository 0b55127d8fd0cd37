/* value_memory.c - results that are kept, for runs that compute the same again. */
#include "value_memory.h"

#include <string.h>

#include "value_node.h"

enum { NO_ROOM, UNSIGNED, SIGNED }; /* sim_value.sign */

/* Where a node has its digest, if it has room for one. */
static sim_digest *digest_in(const sim_value *value) { return (sim_digest *)(void *)(value + 1); }

/* ---- digests ---- */

/* Two multiplicative hashes of 64 bits with constants of their own (those of xxHash). */
static void add_word(sim_digest *d, uint64_t word)
{
    d->a = (d->a ^ word) * UINT64_C(0x9E3779B185EBCA87);
    d->a ^= d->a >> 32;
    d->b = (d->b + word) * UINT64_C(0xC2B2AE3D27D4EB4F);
    d->b ^= d->b >> 29;
}

static void add_bytes(sim_digest *d, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t word;
    add_word(d, n);
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        add_word(d, word);
    }
    word = 0;
    memcpy(&word, at, n);
    add_word(d, word);
}

static void add_text(sim_digest *d, const char *text)
{
    add_bytes(d, text, text ? strlen(text) : 0);
}

static void begin(sim_digest *d, const sim_value *value)
{
    *d = (sim_digest){ 0, 0 };
    add_word(d, value->form);
    add_word(d, value->bytes);
}

static bool add_value(sim_digest *d, sim_value *value)
{
    sim_digest of;
    if (!sim_memory_digest(value, &of)) return false;
    add_word(d, of.a);
    add_word(d, of.b);
    return true;
}

static bool add_launch(sim_digest *d, const sim_launched *l)
{
    const sl_custom *kernel = l->call->kernel;
    if (kernel->compute || !kernel->source) return false;
    add_text(d, kernel->source);
    add_text(d, kernel->name);
    for (size_t i = 0; i < kernel->n_options; i++)
        add_text(d, kernel->options[i]);
    add_bytes(d, l->call->grid, sizeof l->call->grid);
    add_bytes(d, l->call->block, sizeof l->call->block);
    add_word(d, l->call->shared_bytes);
    for (uint32_t i = 0; i < l->call->n; i++) {
        const bool is_tensor = l->call->arg[i].buffer != NULL;
        add_word(d, is_tensor ? l->arg[i].region : l->call->arg[i].bits);
        add_word(d, is_tensor ? l->arg[i].offset : 0);
        add_word(d, l->call->arg[i].bytes);
    }
    for (uint32_t i = 0; i < l->n; i++)
        add_word(d, l->region[i].is_written);
    return true;
}

/* What the node itself says; its inputs come on top. False: it has no digest. */
static bool add_form(sim_digest *d, const sim_value *value)
{
    switch ((sim_value_form)value->form) {
    case VALUE_CONSTANT: add_bytes(d, value->as.pattern, SIM_PATTERN); return true;
    case VALUE_LITERAL: add_bytes(d, value->as.data, value->bytes); return true;
    case VALUE_RECIPE:
        add_bytes(d, &value->as.recipe.job, sizeof value->as.recipe.job);
        return true;
    case VALUE_SPLICE:
        add_word(d, value->as.splice.dst_offset);
        add_word(d, value->as.splice.src_offset);
        add_word(d, value->as.splice.count);
        return true;
    case VALUE_LAUNCH: return add_launch(d, value->as.launch);
    case VALUE_OUTPUT: add_word(d, value->as.output.region); return true;
    case VALUE_REDUCED:
        add_word(d, value->as.reduced->dtype);
        add_word(d, value->as.reduced->reduction);
        return true;
    }
    return false;
}

static bool make_digest(sim_value *value, sim_digest *d)
{
    begin(d, value);
    if (!add_form(d, value)) return false;
    for (int i = 0; i < sim_value_inputs(value); i++) {
        sim_value *input = sim_value_input(value, i);
        if (input && !add_value(d, input)) return false;
    }
    return true;
}

void sim_memory_sign(sim_value *value)
{
    if (value->sign != NO_ROOM && make_digest(value, digest_in(value))) value->sign = SIGNED;
}

void sim_memory_unsign(sim_value *value)
{
    if (value->sign == SIGNED) value->sign = UNSIGNED;
}

/* Bytes that nothing was computed from, such as those that the host wrote, are read once. */
bool sim_memory_digest(sim_value *value, sim_digest *digest)
{
    if (value->form == VALUE_CONSTANT) return make_digest(value, digest);
    if (value->sign == UNSIGNED && value->form == VALUE_LITERAL) sim_memory_sign(value);
    if (value->sign != SIGNED) return false;
    *digest = *digest_in(value);
    return true;
}

/* ---- what is kept ---- */

typedef struct kept {
    sl__entry entry; /* by digest.b */
    sim_digest digest;
    size_t bytes;
    uint8_t data[];
} kept;

static sl__table results;
static uint64_t results_bytes;

bool sim_memory_keeps(void) { return sim_value_has_room; }

static void forget(sl__entry *entry, void *ud)
{
    (void)ud;
    free(entry);
}

void sim_memory_keep(bool keeps)
{
    if (!keeps) {
        sl__table_clear(&results, forget, NULL);
        results_bytes = 0;
    }
    sim_value_has_room = keeps;
}

static const kept *find(const sim_digest *digest, size_t bytes)
{
    const sl__entry *at = sl__table_find(&results, digest->b);
    for (; at; at = sl__table_next(at)) {
        const kept *k = (const kept *)at;
        if (k->digest.a == digest->a && k->bytes == bytes) return k;
    }
    return NULL;
}

uint8_t *sim_memory_recall(const sim_value *value)
{
    sim_digest digest;
    if (!sim_memory_keeps() || value->form == VALUE_LAUNCH
        || !sim_memory_digest((sim_value *)value, &digest))
        return NULL;
    const kept *k = find(&digest, value->bytes);
    uint8_t *data = k ? sim_value_new_data(value->bytes) : NULL;
    if (data) memcpy(data, k->data, value->bytes);
    return data;
}

void sim_memory_store(const sim_digest *digest, const sim_value *value)
{
    if (!sim_memory_keeps() || value->form != VALUE_LITERAL || find(digest, value->bytes)) return;
    const uint64_t need = sizeof(kept) + value->bytes;
    if (results_bytes + need > sim_physical_bytes() / 4) return;
    kept *k = malloc(need);
    if (!k) return;
    k->digest = *digest;
    k->bytes = value->bytes;
    memcpy(k->data, value->as.data, value->bytes);
    if (sl__table_add(&results, &k->entry, digest->b))
        results_bytes += need;
    else
        free(k);
}
