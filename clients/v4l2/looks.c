/* Looks before an open: stat, access, readlink and realpath of our nodes, of their files in sysfs, and of descriptors. */
#define _GNU_SOURCE
#include "hooks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* 64-bit machines only: both kinds of libc's functions take the same there. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat and stat64 are one");

/* Before the real one: our nodes. */
static bool stats_node(int folder, const char *path, struct stat *status) {
    if (door_inside || !path || !status) return false;
    int before = errno, number = names_node(folder, path);
    bool is_ours = number >= 0 && names_is_on() && node_stat(number, status) == 0;
    errno = before;
    return is_ours;
}

/* A class's entry is a link; what it leads to is not, nor is what a slash behind it means. */
static bool is_link(const char *path, const char *what) { return !*what && !strstr(path, "/devices/") && path[strlen(path) - 1] != '/'; }

static void link_text(int number, char text[96]) { snprintf(text, 96, "../../devices/virtual/video4linux/video%d", number); }

/* After the real one has found nothing: our files of sysfs. */
static bool stats_sysfs(int folder, const char *path, bool follows, struct stat *status) {
    if (door_inside || errno != ENOENT || !path || !status) return false;
    char what[256], text[96];
    int number = names_sysfs(folder, path, what, sizeof what), kind = names_folder(path);
    bool is_ours = number >= 0 && names_is_on() && sysfs_stat(number, what, status) == 0;
    if (is_ours && !follows && is_link(path, what)) {
        link_text(number, text);
        status->st_mode = S_IFLNK | 0777;
        status->st_size = (off_t)strlen(text);
    }
    if (!is_ours && (kind == 'c' || kind == 'v') && names_is_on()) {
        struct device *first;
        int cancel = door_enter();
        is_ours = door_learn() == 0 && door_devices(&first, 1) == 1 && stat("/sys/class", status) == 0;
        door_leave(cancel);
    }
    if (!is_ours) errno = ENOENT;
    return is_ours;
}

static bool stats_descriptor(int descriptor, struct stat *status) {
    if (door_inside || !door_has(descriptor) || !status) return false;
    int number = door_number(descriptor);
    return number >= 0 && node_stat(number, status) == 0;
}

#define STAT(name, type, follows)                                                                                                          \
    HOOK int name(const char *path, type *status) {                                                                                        \
        if (stats_node(AT_FDCWD, path, (struct stat *)status)) return 0;                                                                   \
        int result = REAL(name)(path, status);                                                                                             \
        return result < 0 && stats_sysfs(AT_FDCWD, path, follows, (struct stat *)status) ? 0 : result;                                     \
    }
STAT(stat, struct stat, true)
STAT(stat64, struct stat64, true)
STAT(lstat, struct stat, false)
STAT(lstat64, struct stat64, false)

#define FSTAT(name, type)                                                                                                                  \
    HOOK int name(int descriptor, type *status) {                                                                                          \
        return stats_descriptor(descriptor, (struct stat *)status) ? 0 : REAL(name)(descriptor, status);                                   \
    }
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)

#define FSTATAT(name, type)                                                                                                                \
    HOOK int name(int folder, const char *path, type *status, int flags) {                                                                 \
        if (path && !*path && flags & AT_EMPTY_PATH && stats_descriptor(folder, (struct stat *)status)) return 0;                          \
        if (stats_node(folder, path, (struct stat *)status)) return 0;                                                                     \
        int result = REAL(name)(folder, path, status, flags);                                                                              \
        return result < 0 && stats_sysfs(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), (struct stat *)status) ? 0 : result;                \
    }
FSTATAT(fstatat, struct stat)
FSTATAT(fstatat64, struct stat64)

/* For programs that were built with a libc before 2.33. */
#define XSTAT(name, type, follows)                                                                                                         \
    HOOK int name(int version, const char *path, type *status) {                                                                           \
        if (stats_node(AT_FDCWD, path, (struct stat *)status)) return 0;                                                                   \
        int result = REAL(name)(version, path, status);                                                                                    \
        return result < 0 && stats_sysfs(AT_FDCWD, path, follows, (struct stat *)status) ? 0 : result;                                     \
    }
XSTAT(__xstat, struct stat, true)
XSTAT(__xstat64, struct stat64, true)
XSTAT(__lxstat, struct stat, false)
XSTAT(__lxstat64, struct stat64, false)

#define FXSTAT(name, type)                                                                                                                 \
    HOOK int name(int version, int descriptor, type *status) {                                                                             \
        return stats_descriptor(descriptor, (struct stat *)status) ? 0 : REAL(name)(version, descriptor, status);                          \
    }
FXSTAT(__fxstat, struct stat)
FXSTAT(__fxstat64, struct stat64)

HOOK int statx(int folder, const char *path, int flags, unsigned mask, struct statx *into) {
    struct stat status;
    bool is_ours = path && !*path && flags & AT_EMPTY_PATH && stats_descriptor(folder, &status);
    if (!is_ours) is_ours = stats_node(folder, path, &status);
    if (!is_ours) {
        int result = REAL(statx)(folder, path, flags, mask, into);
        if (result >= 0 || !stats_sysfs(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), &status)) return result;
    }
    memset(into, 0, sizeof *into);
    into->stx_mask = STATX_BASIC_STATS;
    into->stx_blksize = (uint32_t)status.st_blksize;
    into->stx_nlink = 1;
    into->stx_uid = status.st_uid;
    into->stx_gid = status.st_gid;
    into->stx_mode = (uint16_t)status.st_mode;
    into->stx_ino = status.st_ino;
    into->stx_size = (uint64_t)status.st_size;
    into->stx_rdev_major = major(status.st_rdev);
    into->stx_rdev_minor = minor(status.st_rdev);
    return 0;
}

static bool accesses_ours(int folder, const char *path, int mode, int *result) {
    struct stat status;
    if (!stats_node(folder, path, &status)) return false;
    *result = mode & X_OK ? told(-EACCES) : 0;
    return true;
}

static int accesses_sysfs(int folder, const char *path, int mode, int result) {
    struct stat status;
    if (result >= 0 || !stats_sysfs(folder, path, true, &status)) return result;
    return mode & W_OK ? told(-EACCES) : 0;
}

#define ACCESS(name)                                                                                                                       \
    HOOK int name(const char *path, int mode) {                                                                                            \
        int result;                                                                                                                        \
        if (accesses_ours(AT_FDCWD, path, mode, &result)) return result;                                                                   \
        return accesses_sysfs(AT_FDCWD, path, mode, REAL(name)(path, mode));                                                               \
    }
ACCESS(access)
ACCESS(euidaccess)
ACCESS(eaccess)

HOOK int faccessat(int folder, const char *path, int mode, int flags) {
    int result;
    if (accesses_ours(folder, path, mode, &result)) return result;
    return accesses_sysfs(folder, path, mode, REAL(faccessat)(folder, path, mode, flags));
}

/* The node behind /proc/self/fd/N, and where a class's entry leads. */
static bool links_ours(int folder, const char *path, char text[96]) {
    struct stat status;
    char what[256];
    if (door_inside || !path) return false;
    static const char descriptors[] = "/proc/self/fd/";
    if (strncmp(path, descriptors, sizeof descriptors - 1) == 0) {
        int number = door_number(atoi(path + sizeof descriptors - 1));
        if (number >= 0) snprintf(text, 96, "/dev/video%d", number);
        return number >= 0;
    }
    int before = errno, number = names_sysfs(folder, path, what, sizeof what);
    bool is_ours = number >= 0 && is_link(path, what) && names_is_on() && !nodes_exists(number)
        && sysfs_stat(number, "", &status) == 0;
    errno = before;
    if (is_ours) link_text(number, text);
    return is_ours;
}

static ssize_t cut(const char *text, char *into, size_t room) {
    size_t count = strlen(text) < room ? strlen(text) : room;
    memcpy(into, text, count);
    return (ssize_t)count;
}

/* EINVAL: the file is there and no link, on which a program that resolves a path by itself relies. */
static ssize_t not_a_link(int folder, const char *path, ssize_t result) {
    struct stat status;
    return result < 0 && stats_sysfs(folder, path, false, &status) ? told(-EINVAL) : result;
}

HOOK ssize_t readlink(const char *path, char *into, size_t room) {
    char text[96];
    return links_ours(AT_FDCWD, path, text) ? cut(text, into, room) : not_a_link(AT_FDCWD, path, REAL(readlink)(path, into, room));
}

HOOK ssize_t readlinkat(int folder, const char *path, char *into, size_t room) {
    char text[96];
    return links_ours(folder, path, text) ? cut(text, into, room) : not_a_link(folder, path, REAL(readlinkat)(folder, path, into, room));
}

static bool resolves_ours(const char *path, char text[96]) {
    struct stat status;
    char what[256];
    if (door_inside || !path) return false;
    int before = errno, number = names_node(AT_FDCWD, path);
    if (number >= 0 && names_is_on() && node_stat(number, &status) == 0) {
        snprintf(text, 96, "/dev/video%d", number);
        errno = before;
        return true;
    }
    number = names_sysfs(AT_FDCWD, path, what, sizeof what);
    bool is_ours = number >= 0 && strlen(what) < 16 && names_is_on() && !nodes_exists(number) && sysfs_stat(number, what, &status) == 0;
    errno = before;
    if (is_ours) snprintf(text, 96, "/sys/devices/virtual/video4linux/video%d%s%.15s", number, *what ? "/" : "", what);
    return is_ours;
}

HOOK char *realpath(const char *path, char *resolved) {
    char text[96];
    if (!resolves_ours(path, text)) return REAL(realpath)(path, resolved);
    return resolved ? strcpy(resolved, text) : strdup(text);
}

HOOK char *__realpath_chk(const char *path, char *resolved, size_t room) {
    char text[96];
    if (room < PATH_MAX || !resolved || !resolves_ours(path, text)) return REAL(__realpath_chk)(path, resolved, room);
    return strcpy(resolved, text);
}

HOOK char *canonicalize_file_name(const char *path) { return realpath(path, NULL); }
