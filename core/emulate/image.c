/* image.c - the container of a kernel's two shared objects, and how they are loaded. */
#define _GNU_SOURCE /* memfd_create */
#include "image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base.h"
#include "../text/temporary_folder.h"
#include "compiler.h"

typedef struct head {
    char magic[8];
    uint64_t bytes[EMU_BUILDS];
    uint64_t sum; /* of the objects' bytes */
} head;

static const char magic[8] = { 's', 'l', 'e', 'm', 'u', EMU_ABI, 0, 0 };

sl_status emu_image_pack(const emu_object objects[EMU_BUILDS], sl_image *image, sl_error *err)
{
    head first = { .sum = 1 };
    size_t bytes = sizeof first;
    memcpy(first.magic, magic, sizeof magic);
    for (int i = 0; i < EMU_BUILDS; i++) {
        first.bytes[i] = objects[i].bytes;
        first.sum = sl__checksum(first.sum, objects[i].data, objects[i].bytes);
        bytes += objects[i].bytes;
    }
    char *to = malloc(bytes);
    if (!to) return sl__no_memory(err, "a compiled kernel");
    *image = (sl_image){ to, bytes };
    memcpy(to, &first, sizeof first);
    to += sizeof first;
    for (int i = 0; i < EMU_BUILDS; i++) {
        memcpy(to, objects[i].data, objects[i].bytes);
        to += objects[i].bytes;
    }
    return SL_OK;
}

sl_status emu_image_unpack(const sl_image *image, emu_object objects[EMU_BUILDS], sl_error *err)
{
    head first;
    size_t left = image->bytes - sizeof first;
    char *at = (char *)image->data + sizeof first;
    uint64_t sum = 1;
    bool whole = image->bytes >= sizeof first;
    if (whole) memcpy(&first, image->data, sizeof first);
    whole = whole && memcmp(first.magic, magic, sizeof magic) == 0;
    for (int i = 0; whole && i < EMU_BUILDS; i++) {
        whole = first.bytes[i] <= left;
        if (!whole) break;
        objects[i] = (emu_object){ at, (size_t)first.bytes[i] };
        sum = sl__checksum(sum, objects[i].data, objects[i].bytes);
        at += first.bytes[i];
        left -= (size_t)first.bytes[i];
    }
    if (whole && left == 0 && sum == first.sum) return SL_OK;
    return sl_fail(err, SL_EIO, "the compiled kernel is broken");
}

/* ---- loading ---- */

/* The path of a descriptor, of another spelling each time: dlopen takes a name that it has seen for
 * the object that it has loaded. */
static void spell_path(int fd, char path[128])
{
    static unsigned serial;
    unsigned bits = serial++;
    size_t n = (size_t)sprintf(path, "/proc/self/fd");
    for (int i = 0; i < 24; i++, bits >>= 1)
        n += (size_t)sprintf(path + n, "%s", bits & 1 ? "/./" : "//");
    sprintf(path + n, "%d", fd);
}

/* Memory with a descriptor, or a file in a folder that is removed once it is loaded; `folder` is ""
 * where there is none. */
static int open_file(char folder[SL_TEMPORARY_FOLDER_BYTES], char path[EMU_PATH_BYTES])
{
    *folder = '\0';
#ifdef __linux__
    int memory = memfd_create("streamlab-kernel", MFD_CLOEXEC);
    if (memory >= 0) {
        spell_path(memory, path);
        return memory;
    }
#endif
    errno = sl_temporary_folder_make(folder);
    if (errno) {
        *folder = '\0';
        return -1;
    }
    snprintf(path, EMU_PATH_BYTES, "%s/kernel", folder);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static sl_status find_sections(const emu_object *object, emu_loaded *loaded, sl_error *err)
{
    Dl_info info;
    sl_status status;
    loaded->object.data = malloc(object->bytes);
    if (loaded->object.data) {
        memcpy(loaded->object.data, object->data, object->bytes);
        loaded->object.bytes = object->bytes;
    }
    if (!dladdr(*(void **)&loaded->get_entry, &info))
        status = sl_fail(err, SL_EIO, "the compiled kernel lies nowhere");
    else
        status = emu_sections_read(object->data, object->bytes, info.dli_fbase, &loaded->sections,
                                   err);
    if (!status) loaded->base = info.dli_fbase;
    if (status) emu_object_unload(loaded);
    return status;
}

sl_status emu_object_load(const emu_object *object, emu_loaded *loaded, sl_error *err)
{
    char folder[SL_TEMPORARY_FOLDER_BYTES], path[EMU_PATH_BYTES];
    int fd = open_file(folder, path);
    const char *why = NULL;
    *loaded = (emu_loaded){ 0 };
    if (fd < 0) return sl_fail(err, SL_EIO, "no file for a compiled kernel: %s", strerror(errno));
    if (!sl__write_all(fd, object->data, object->bytes, NULL)) why = strerror(errno);
    if (!why) {
        loaded->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!loaded->handle) why = dlerror();
    }
    close(fd);
    if (*folder) sl_temporary_folder_remove(folder);
    if (loaded->handle) *(void **)&loaded->get_entry = dlsym(loaded->handle, "emu_image_entry");
    if (loaded->get_entry) return find_sections(object, loaded, err);
    emu_object_unload(loaded);
    return sl_fail(err, SL_EIO, "the compiled kernel cannot be loaded: %.200s",
                   why ? why : "it is another version's");
}

void emu_object_unload(emu_loaded *loaded)
{
    if (loaded->handle) dlclose(loaded->handle);
    free(loaded->object.data);
    *loaded = (emu_loaded){ 0 };
}
