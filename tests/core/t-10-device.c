/* t-10-device.c - devices: opening, names, streams that are current, closing. */
#include "fake_backend.h"

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

static void test_open(void)
{
    const sl_setting setting = { .name = "colour" };
    sl_device *device = NULL;
    int count = 0;
    is_int(sl_backend_device_count("fake", &count, NULL), SL_OK, "a backend is found by name");
    is_int(count, 2, "and counts its devices");
    fails_with(sl_device_open("cuda", 0, NULL, 0, &device, err), SL_ENOTFOUND,
               "the CUDA backend is switched off: STREAMLAB_CUDA_PLUGIN is \"none\"",
               "cuda is a plugin");
    fails_with(sl_device_open("vulkan", 0, NULL, 0, &device, err), SL_ENOTFOUND,
               "there is no backend \"vulkan\": this build has fake, pair, alone, checked, old",
               "an unknown backend lists the known ones");
    fails_with(sl_device_open(NULL, 0, NULL, 0, &device, err), SL_EINVAL, "a backend needs a name",
               "no name is an error");
    fails_with(sl_device_open("old", 0, NULL, 0, &device, err), SL_EUNSUPPORTED,
               "backend old has interface version 0, needed is " TEXT_OF(SL_BACKEND_ABI),
               "a backend of another interface version is refused");
    fails_with(sl_device_open("fake", 2, NULL, 0, &device, err), SL_ENOTFOUND,
               "there is no device 2: backend fake has 2 devices",
               "an index beyond the last fails");
    fails_with(sl_device_open("fake", 0, &setting, 1, &device, err), SL_EINVAL,
               "unknown setting colour", "the backend's refusal comes through");
    fake.fail_streams = 1;
    is_int(sl_device_open("fake", 0, NULL, 0, &device, NULL), SL_ENOMEM,
           "no NULL stream, no device");
    is_int(fake.devices, 0, "and the device is closed again");
    is_int(sl_device_open("fake", 1, NULL, 0, &device, NULL), SL_OK, "a device opens");
    is_int(sl_device_get_info(device)->index, 1, "with its index");
    is_str(sl_device_get_info(device)->backend, "fake", "and its backend's name");
    fails_with(sl_device_set_figures(device, &setting, 1, err), SL_EUNSUPPORTED,
               "the figures of Fake cannot be changed",
               "the figures of a device that has none cannot be changed");
    fake_close(device);
}

static void test_without_opening(void)
{
    sl_error seen = { .msg = "old" };
    sl_device *device = NULL;
    char name[8] = "";
    int count = -1;
    is_int(sl_backend_device_name("fake", 1, name, sizeof name, NULL), SL_OK,
           "a device has a name before it is open");
    is_str(name, "Fake 1", "its own");
    fails_with(sl_backend_device_name("fake", 2, name, sizeof name, err), SL_ENOTFOUND,
               "there is no device 2: backend fake has 2 devices", "if there is such a device");
    is_int(sl_backend_device_count("fake", &count, &seen), SL_OK, "two devices");
    is_str(seen.msg, "", "need no explanation");
    fake.extra_devices = -2;
    is_int(sl_backend_device_count("fake", &count, &seen), SL_OK, "none is no error");
    is_int(count, 0, "but a count");
    is_str(seen.msg, "nobody has plugged one in", "with a reason");
    fails_with(sl_device_open("fake", 0, NULL, 0, &device, err), SL_ENOTFOUND,
               "there is no device 0: nobody has plugged one in", "which opening one tells");
    fake.extra_devices = 0;
}

static void test_texts(void)
{
    sl_device *device = fake_open();
    uint32_t first = sl_device_intern(device, "a.lua:1");
    char text[32];
    bool stable = true;
    is_int(sl_device_intern(device, ""), 0, "the empty text is 0");
    is_int(sl_device_intern(device, NULL), 0, "no text is 0");
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "b.lua:%d", i);
        stable = stable && sl_device_intern(device, text) == first + 1 + (uint32_t)i;
    }
    ok(stable, "ids of new texts are dense");
    is_int(sl_device_intern(device, "b.lua:500"), first + 501, "a known text keeps its id");
    is_int(sl_device_intern(device, "a.lua:1"), first, "also the oldest");
    fake_close(device);
}

static void test_streams(void)
{
    sl_device *device = fake_open(), *other = fake_open();
    sl_stream_options options = { .priority = -99, .non_blocking = true, .name = "copies" };
    sl_stream *named, *plain, *per_thread = NULL, *again = NULL, *foreign;
    sl_stream_create(device, &options, &named, NULL);
    sl_stream_create(device, NULL, &plain, NULL);
    sl_stream_create(other, NULL, &foreign, NULL);
    is_int(sl_stream_id(sl_device_default_stream(device)), 0, "the NULL stream has id 0");
    is_int(sl_stream_id(named), 1, "the first stream has id 1");
    is_str(sl_stream_name(named), "copies", "a stream has its name");
    is_str(sl_stream_name(plain), "stream 2", "or one by its id");
    is_int(sl_stream_priority(named), -5, "a priority beyond the range is clamped");
    options.priority = 7;
    ok(sl_stream_is_non_blocking(named) && !sl_stream_is_non_blocking(plain),
       "a stream blocks toward the NULL stream unless it was asked not to");
    sl_device_per_thread_stream(device, &per_thread, NULL);
    sl_device_per_thread_stream(device, &again, NULL);
    ok(per_thread && per_thread == again, "there is one per-thread stream");
    is_int(fake_stats(device).streams, 2, "the device counts the user's streams only");
    fails_with(sl_device_set_current_stream(device, foreign, err), SL_EDEVICE,
               "the stream is on fake 0 of another machine than the device: lab.open of a device "
               "that is open makes a second machine; \"cuda:0\" and comm.devices name the open one",
               "a stream of another device cannot be current");
    sl_device_set_current_stream(device, named, NULL);
    sl_stream_release(named);
    ok(sl_device_current_stream(device) == named, "the device holds its current stream");
    is_int(fake_stats(device).streams, 2, "which stays alive by that");
    sl_device_set_current_stream(device, per_thread, NULL);
    is_int(fake_stats(device).streams, 1, "and goes when another one is current");
    sl_device_set_current_stream(device, plain, NULL);
    sl_stream_release(plain);
    sl_stream_release(foreign);
    sl_device_drain(other);
    sl_device_release(other);
    is_int(fake.devices, 1, "the other device closes");
    fake_close(device);
}

static void test_owned_streams_hold_the_device(void)
{
    sl_device *device = fake_open();
    sl_stream *stream = sl_stream_retain(sl_device_default_stream(device));
    sl_device_release(device);
    is_int(fake.devices, 1, "who holds the NULL stream holds its device");
    is_int(fake_spin(stream, NULL), SL_OK, "which still works");
    is_int(sl_stream_synchronize(stream, NULL), SL_OK, "and synchronises");
    sl_stream_release(stream);
    is_int(fake.devices + fake.streams, 0, "until it lets go");
}

static void test_stream_failure(void)
{
    sl_device *device = fake_open();
    sl_stream *stream = NULL;
    fake.fail_streams = 1;
    is_int(sl_stream_create(device, NULL, &stream, NULL), SL_ENOMEM, "a stream can fail to open");
    is_int(fake_stats(device).streams, 0, "and is not counted then");
    sl_stream_create(device, NULL, &stream, NULL);
    is_int(sl_stream_id(stream), 1, "nor does it use up an id");
    sl_stream_release(stream);
    sl_stream_release(NULL);
    fails_with(sl_stream_create(NULL, NULL, &stream, err), SL_ECLOSED, "the device is closed",
               "a closed device has a sentence");
    fails_with(sl_stream_synchronize(NULL, err), SL_ECLOSED, "the stream is closed",
               "so has a closed stream");
    fails_with(sl_device_host_work(device, -1, err), SL_EINVAL,
               "host work takes -1 ns: a duration cannot be negative",
               "negative host work is refused");
    fake.fail_synchronizes = 1;
    is_int(sl_device_synchronize(device, NULL), SL_EINTERRUPT, "an interrupted wait says so");
    is_str(sl_status_name(SL_ESHAPE), "SL_ESHAPE", "statuses have names");
    fake_close(device);
}

int main(void)
{
    plan(0);
    test_open();
    test_without_opening();
    test_texts();
    test_streams();
    test_owned_streams_hold_the_device();
    test_stream_failure();
    return done_testing();
}
