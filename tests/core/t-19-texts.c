/* t-19-texts.c - the device's texts: each has one number, however many there are. */
#include "fake_backend.h"

enum { TEXTS = 3000 };

int main(void)
{
    plan(0);
    sl_device *device = fake_open();
    static uint32_t id[TEXTS];
    static bool used[2 * TEXTS];
    int unknown = 0, twice = 0, moved = 0;
    char text[32];

    for (int i = 0; i < TEXTS; i++) {
        snprintf(text, sizeof text, "script.lua:%d", i);
        id[i] = sl_device_intern(device, text);
        unknown += id[i] == 0 || id[i] >= 2 * TEXTS;
        if (id[i] < 2 * TEXTS) {
            twice += used[id[i]];
            used[id[i]] = true;
        }
    }
    for (int i = 0; i < TEXTS; i++) {
        snprintf(text, sizeof text, "script.lua:%d", i);
        moved += sl_device_intern(device, text) != id[i];
    }
    is_int(unknown, 0, "%d texts get small numbers, none of them 0", TEXTS);
    is_int(twice, 0, "no two texts share one");
    is_int(moved, 0, "and each text has the same number again");
    fake_close(device);
    return done_testing();
}
