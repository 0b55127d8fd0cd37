/* t-23-device-queries.c - what the simulated GPU answers where only a real one could do more. */
#include "small_gpu.h"

#include "../tap.h"

static void test_trap(sl_device *device)
{
    sl_error err = { .msg = "" };
    sl_device_stats stats;
    int64_t before_ns = sl_device_host_now_ns(device);
    is_int(sl_trap(sl_device_default_stream(device), &err), SL_EUNSUPPORTED,
           "a kernel that faults is refused");
    is_str(err.msg, "a simulated GPU does not fail", "since nothing fails here");
    sl_device_get_stats(device, &stats);
    is_int(stats.ops_in_flight, 0, "nothing is enqueued");
    is_int(sl_device_host_now_ns(device), before_ns, "and no time goes by");
}

static void test_memory(sl_device *device)
{
    int64_t free_bytes = 0, total_bytes = 0;
    sl_tensor *memory = NULL, *async = NULL;
    is_int(sl_cuda_mem_get_info(device, &free_bytes, &total_bytes, NULL), SL_OK,
           "the device is asked for its memory");
    is_int(total_bytes, 1000000000, "the profile says how much there is");
    is_int(free_bytes, 1000000000, "all of it is free");
    sl_cuda_malloc(device, 1000, &memory, NULL);
    sl_cuda_malloc_async(sl_device_default_stream(device), 500, &async, NULL);
    sl_cuda_mem_get_info(device, &free_bytes, &total_bytes, NULL);
    is_int(free_bytes, 1000000000 - 1500, "until some is given out, by either call");
    sl_cuda_free(memory, NULL);
    sl_cuda_free_async(async, sl_device_default_stream(device), NULL);
    sl_cuda_mem_get_info(device, &free_bytes, &total_bytes, NULL);
    is_int(free_bytes, 1000000000, "and comes back");
    sl_tensor_release(memory);
    sl_tensor_release(async);
}

/* The price is host_query_us. */
static void test_price(void)
{
    const small_override query[] = { { "host.query_us", 3 } };
    int64_t free_bytes, total_bytes;
    sl_error err = { 0 };
    sl_device *device = small_gpu_open(query, 1, &err);
    if (!ok(device != NULL, "a GPU with a price for questions opens")) return;
    int64_t before_ns = sl_device_host_now_ns(device);
    sl_cuda_mem_get_info(device, &free_bytes, &total_bytes, NULL);
    is_int(sl_device_host_now_ns(device) - before_ns, 3000, "asking for memory costs that");
    sl_device_drain(device);
    sl_device_release(device);
}

static void test_others(sl_device *device)
{
    sl_error err = { .msg = "" };
    sl_device *again = small_gpu_open(NULL, 0, NULL);
    char name[64] = "";
    bool can;
    is_int(sl_backend_device_name("sim", 0, name, sizeof name, NULL), SL_OK,
           "it has a name before it is open");
    is_str(name, "simulated GPU", "which tells what it is");
    is_int(sl_cuda_device_can_access_peer(device, again, &can, &err), SL_EINVAL,
           "two that are opened alone have one number");
    is_int(sl_sim_backend.peer_access(device, again, SL_PEER_ENABLE, &can, &err), SL_EINVAL,
           "and are of two machines");
    is_str(err.msg, "devices 0 and 0 are of two simulated machines", "and says so");
    sl_device_drain(again);
    sl_device_release(again);
}

int main(void)
{
    plan(0);
    sl_error err = { 0 };
    sl_device *device = small_gpu_open(NULL, 0, &err);
    if (!device) {
        printf("Bail out! %s\n", err.msg);
        return 1;
    }
    test_trap(device);
    test_memory(device);
    test_price();
    test_others(device);
    sl_device_drain(device);
    sl_device_release(device);
    return done_testing();
}
