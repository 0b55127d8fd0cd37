/* value_node.c - nodes of the graph of values: making, holding and freeing them. */
#include "value_node.h"

#include <string.h>
#include <unistd.h>

bool sim_value_has_room;

/* Nodes that nobody holds, for new ones: without room for a digest, and nothing behind them. */
enum { MOST_SPARE = 1024 };
static sim_value *spare; /* linked by `link` */
static int n_spare;

static size_t digest_bytes(bool room) { return room ? sizeof(sim_digest) : 0; }

sim_value *sim_value_new_larger(sim_value_form form, size_t more)
{
    const bool room = sim_value_has_room;
    sim_value *value = malloc(sizeof *value + digest_bytes(room) + more);
    if (value) *value = (sim_value){ .refs = 1, .form = (uint8_t)form, .sign = room };
    return value;
}

void *sim_value_behind(sim_value *value) { return (char *)(value + 1) + digest_bytes(value->sign); }

sim_value *sim_value_new_node(sim_value_form form, size_t bytes)
{
    sim_value *value = sim_value_has_room ? NULL : spare;
    if (value) {
        spare = value->link;
        n_spare--;
        *value = (sim_value){ .refs = 1, .form = (uint8_t)form };
    } else if (!(value = sim_value_new_larger(form, 0))) {
        return NULL;
    }
    value->bytes = bytes;
    return value;
}

static void drop_node(sim_value *node)
{
    if (node->form == VALUE_LAUNCH || node->sign || n_spare == MOST_SPARE) {
        free(node);
        return;
    }
    node->link = spare;
    spare = node;
    n_spare++;
}

void sim_value_free_spare(void)
{
    while (spare) {
        sim_value *node = spare;
        spare = node->link;
        free(node);
    }
    n_spare = 0;
}

sim_value *sim_value_new_constant(size_t bytes, const uint8_t pattern[SIM_PATTERN])
{
    sim_value *value = sim_value_new_node(VALUE_CONSTANT, bytes);
    if (value) memcpy(value->as.pattern, pattern, SIM_PATTERN);
    return value;
}

sim_value *sim_value_new_literal(size_t bytes, uint8_t *data)
{
    sim_value *value = data ? sim_value_new_node(VALUE_LITERAL, bytes) : NULL;
    if (value)
        value->as.data = data;
    else
        sim_value_free_data(data);
    return value;
}

sim_value *sim_value_bytes_set(size_t bytes, uint8_t byte)
{
    uint8_t pattern[SIM_PATTERN];
    memset(pattern, byte, sizeof pattern);
    return sim_value_new_constant(bytes, pattern);
}

sim_value *sim_value_retain(sim_value *value)
{
    if (value) value->refs++;
    return value;
}

void sim_value_release(sim_value *value)
{
    if (!value || --value->refs > 0) return;
    value->link = NULL;
    for (sim_value *dead = value; dead;) {
        sim_value *node = dead;
        dead = node->link;
        for (int i = 0; i < sim_value_inputs(node); i++) {
            sim_value *input = sim_value_input(node, i);
            if (input && --input->refs == 0) {
                input->link = dead;
                dead = input;
            }
        }
        if (node->form == VALUE_LITERAL) sim_value_free_data(node->as.data);
        if (node->form == VALUE_LAUNCH) sim_launched_free(node->as.launch);
        if (node->form == VALUE_REDUCED) free(node->as.reduced);
        drop_node(node);
    }
}

bool sim_value_is_computed(const sim_value *value)
{
    if (value->form == VALUE_LAUNCH) return value->as.launch->ran;
    return value->form == VALUE_CONSTANT || value->form == VALUE_LITERAL;
}

uint64_t sim_physical_bytes(void)
{
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) return (uint64_t)pages * (uint64_t)page_bytes;
#endif
    return UINT64_MAX;
}
