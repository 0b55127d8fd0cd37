/* torch_nvtx.c - ranges of NVTX that torch.autograd.profiler.emit_nvtx() makes.
 *
 * Behind a comma PyTorch writes numbers, and shapes if it is asked for them, as in
 * "aten::addmm, seq = 5, op_id = 3, sizes = [[8], [8, 4], [4, 8]]". What a program marks with
 * record_function gets an op_id, too; only its name tells it apart from operators: it is in no
 * namespace.
 */
#include "torch_nvtx.h"

#include <stdlib.h>
#include <string.h>

#include "../text/text.h"

#define SEQUENCE ", seq = "
#define AUTOGRAD "autograd::engine::evaluate_function: " /* around a node that is run */

/* Where what PyTorch adds to the name begins; NULL: it is not PyTorch's. */
static const char *find_numbers(const char *name)
{
    static const char *const keys[] = { SEQUENCE, ", op_id = " };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at = strstr(name, keys[i]);
        const char digit = at ? at[strlen(keys[i])] : '\0';
        if (digit >= '0' && digit <= '9' && (!first || at < first)) first = at;
    }
    return first;
}

/* "AddmmBackward0", "CompiledFunctionBackward", but not "aten::gelu_backward", which it calls. */
static bool is_node(const char *name)
{
    static const char word[] = "Backward";
    const char *at = strstr(name, word), *last = NULL;
    if (strstr(name, "aten::")) return false;
    for (; at; at = strstr(at + 1, word))
        last = at;
    if (!last) return false;
    for (last += strlen(word); *last >= '0' && *last <= '9';)
        last++;
    return *last == '\0';
}

bool sl__torch_is_backward(const char *name)
{
    return strncmp(name, AUTOGRAD, strlen(AUTOGRAD)) == 0 || is_node(name);
}

/* Behind ", seq = "; 0: there is no number, or one that is too large. */
static uint32_t node_of(const char *numbers)
{
    const char *at = strstr(numbers, SEQUENCE);
    const unsigned long long number = at ? strtoull(at + strlen(SEQUENCE), NULL, 10) : UINT64_MAX;
    return number < SL_MOST_NODES ? (uint32_t)number + 1 : 0;
}

/* What autograd runs may have no namespace ("AddmmBackward0"), but has the number of its node. */
static bool is_operator(const char *name, size_t n, const char *numbers)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (name[i] == ':' && name[i + 1] == ':') return true;
    return strncmp(numbers, SEQUENCE, strlen(SEQUENCE)) == 0;
}

sl_status sl__torch_nvtx_take(sl_timeline *timeline, sl_host_range *range, sl_error *err)
{
    const char *name = sl_timeline_text(timeline, range->name);
    const char *numbers = range->kind == SL_HOST_RANGE_NVTX ? find_numbers(name) : NULL;
    if (!numbers || numbers == name) return SL_OK;
    const size_t n = (size_t)(numbers - name);
    sl_text text = { 0 };
    sl_text_add(&text, "%.*s", (int)n, name);
    range->kind = is_operator(name, n, numbers) ? SL_HOST_RANGE_OPERATOR : SL_HOST_RANGE_ANNOTATION;
    sl_status status = text.failed ? sl__no_memory(err, "the name of an operator")
                                   : sl_timeline_intern(timeline, text.data, &range->name, err);
    sl_text_free(&text);
    if (range->kind != SL_HOST_RANGE_OPERATOR || status != SL_OK) return status;
    range->node = node_of(numbers);
    range->is_backward = sl__torch_is_backward(sl_timeline_text(timeline, range->name));
    return status;
}
