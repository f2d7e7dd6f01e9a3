/* A device's files in sysfs, and its node's status, for programs that look there before they open. A real file of that name is read
 * instead. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Larger than any inode number that devtmpfs gives out. */
#define INODE_FIRST 0x63616d00

/* All that a device's folder has. */
enum { DEV, DEVICE, DEVICE_UEVENT, INDEX, NAME, UEVENT, FILES };
static const char *const files[FILES] = {"dev", "device", "device/uevent", "index", "name", "uevent"};

static int file_of(const char *what) {
    int file = 0;
    while (file < FILES && strcmp(what, files[file]) != 0) file++;
    return file;
}

bool sysfs_is_folder(const char *what) { return !*what || file_of(what) == DEVICE; }

const char *sysfs_next(const char *folder, size_t *at) {
    size_t count = strlen(folder);
    while (*at < FILES) {
        const char *file = files[(*at)++];
        if (strncmp(file, folder, count) != 0) continue;
        file += count;
        if (count && *file++ != '/') continue;
        if (*file && !strchr(file, '/')) return file;
    }
    return NULL;
}

bool sysfs_text(const struct device *device, const char *what, char *text, size_t bytes) {
    switch (file_of(what)) {
    case DEV: snprintf(text, bytes, "%d:%d\n", VIDEO_MAJOR, device->number); return true;
    case DEVICE_UEVENT: snprintf(text, bytes, "DRIVER=camarb\n"); return true;
    case INDEX: snprintf(text, bytes, "0\n"); return true;
    case NAME: snprintf(text, bytes, "%s\n", device->name); return true;
    case UEVENT: snprintf(text, bytes, "MAJOR=%d\nMINOR=%d\nDEVNAME=video%d\n", VIDEO_MAJOR, device->number, device->number); return true;
    }
    return false;
}

/* The device, where it is there. Wants the lock. */
static struct device *present(int number) {
    if (door_learn() < 0) return NULL;
    struct device *device = door_device(number);
    return device && device->is_present ? device : NULL;
}

static int describe(int number, mode_t mode, off_t size, struct stat *status) {
    *status = (struct stat){
        .st_mode = mode, .st_nlink = 1, .st_size = size, .st_blksize = 4096, .st_ino = INODE_FIRST + (ino_t)number};
    return 0;
}

int sysfs_open(int number, const char *what, int flags) {
    char text[512];
    int result = -ENOENT;
    int cancel = door_enter();
    struct device *device = present(number);
    if (device && sysfs_is_folder(what)) {
        result = -EISDIR;
    } else if (device && sysfs_text(device, what, text, sizeof text)) {
        if ((flags & O_ACCMODE) != O_RDONLY) {
            result = -EACCES;
        } else if ((result = memfd_create("camarb-sysfs", flags & O_CLOEXEC ? MFD_CLOEXEC : 0)) < 0) {
            result = -errno;
        } else if (write(result, text, strlen(text)) < 0 || lseek(result, 0, SEEK_SET) < 0) {
            close(result);
            result = -EIO;
        }
    }
    door_leave(cancel);
    return result;
}

int sysfs_stat(int number, const char *what, struct stat *status) {
    char text[512];
    int result = -ENOENT;
    int cancel = door_enter();
    struct device *device = present(number);
    if (device && sysfs_is_folder(what)) result = describe(number, S_IFDIR | 0755, 0, status);
    else if (device && sysfs_text(device, what, text, sizeof text)) result = describe(number, S_IFREG | 0444, 4096, status);
    door_leave(cancel);
    return result;
}

int node_stat(int number, struct stat *status) {
    int result = -ENOENT;
    int cancel = door_enter();
    if (present(number)) {
        /* Any program may open it; the broker decides about access. */
        result = describe(number, S_IFCHR | 0660, 0, status);
        status->st_uid = geteuid();
        status->st_gid = getegid();
        status->st_rdev = makedev(VIDEO_MAJOR, (unsigned)number);
    }
    door_leave(cancel);
    return result;
}
