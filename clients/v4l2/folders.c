/* Listings of /dev and of /sys/class/video4linux with our nodes in them, behind the real ones. */
#define _GNU_SOURCE
#include "hooks.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Listings that a program has open at once, of these two folders. One more shows the real nodes alone. */
enum { LISTINGS_MAX = 32 };

struct listing {
    DIR *folder;
    char kind;
    bool hides_real; /* the folder itself is not there, and another stands for it */
    int numbers[DEVICES_MAX];
    size_t count, next;
    struct dirent64 entry;
};

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "dirent and dirent64 are one");

static struct listing *listings[LISTINGS_MAX];
static _Atomic unsigned listing_count;

static struct listing *listing_of(DIR *folder) {
    if (door_inside || !atomic_load_explicit(&listing_count, memory_order_relaxed)) return NULL;
    struct listing *found = NULL;
    pthread_mutex_lock(&list_lock);
    for (size_t at = 0; at < LISTINGS_MAX && !found; at++)
        if (listings[at] && listings[at]->folder == folder) found = listings[at];
    pthread_mutex_unlock(&list_lock);
    return found;
}

/* Our nodes, but for those that the machine has under the same number and so lists itself. */
static size_t ours(char kind, int numbers[DEVICES_MAX]) {
    struct device *devices[DEVICES_MAX];
    size_t count = 0;
    int cancel = door_enter();
    size_t found = door_learn() == 0 ? door_devices(devices, DEVICES_MAX) : 0;
    for (size_t at = 0; at < found; at++) {
        char path[64];
        snprintf(path, sizeof path, "%s/video%d", kind == 'd' ? "/dev" : "/sys/class/video4linux", devices[at]->number);
        if (access(path, F_OK) < 0) numbers[count++] = devices[at]->number;
    }
    door_leave(cancel);
    return count;
}

static void remember(DIR *folder, char kind, bool hides_real) {
    struct listing *made = calloc(1, sizeof *made);
    if (!made) return;
    made->folder = folder;
    made->kind = kind;
    made->hides_real = hides_real;
    made->count = ours(kind, made->numbers);
    bool is_kept = false;
    pthread_mutex_lock(&list_lock);
    for (size_t at = 0; at < LISTINGS_MAX && !is_kept; at++) {
        if (listings[at]) continue;
        listings[at] = made;
        is_kept = true;
        atomic_fetch_add(&listing_count, 1);
    }
    pthread_mutex_unlock(&list_lock);
    if (!is_kept) free(made);
}

HOOK DIR *opendir(const char *path) {
    int kind = door_inside ? 0 : names_folder(path);
    if (!kind || !names_is_on()) return REAL(opendir)(path);
    DIR *folder = REAL(opendir)(path);
    bool hides_real = false;
    if (!folder && errno == ENOENT && kind == 's') {
        int numbers[DEVICES_MAX];
        if (!ours('s', numbers)) {
            errno = ENOENT;
            return NULL;
        }
        folder = REAL(opendir)("/proc/self/task");
        hides_real = true;
    }
    if (folder) remember(folder, (char)kind, hides_real);
    return folder;
}

HOOK DIR *fdopendir(int descriptor) {
    DIR *folder = REAL(fdopendir)(descriptor);
    if (!folder || door_inside || !names_is_on()) return folder;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = REAL(readlink)(link, path, sizeof path - 1);
    if (count <= 0) return folder;
    path[count] = 0;
    int kind = names_folder(path);
    if (kind) remember(folder, (char)kind, false);
    return folder;
}

HOOK int closedir(DIR *folder) {
    struct listing *listing = listing_of(folder);
    if (listing) {
        pthread_mutex_lock(&list_lock);
        for (size_t at = 0; at < LISTINGS_MAX; at++)
            if (listings[at] == listing) listings[at] = NULL;
        pthread_mutex_unlock(&list_lock);
        atomic_fetch_sub(&listing_count, 1);
        free(listing);
    }
    return REAL(closedir)(folder);
}

HOOK void rewinddir(DIR *folder) {
    struct listing *listing = listing_of(folder);
    if (listing) listing->next = 0;
    REAL(rewinddir)(folder);
}

static struct dirent64 *next_of(struct listing *listing) {
    struct dirent64 *entry;
    /* What stands for a folder that is not there gives its dots, and nothing else. */
    while ((entry = REAL(readdir64)(listing->folder)))
        if (!listing->hides_real || entry->d_name[0] == '.') return entry;
    if (listing->next == listing->count) return NULL;
    entry = &listing->entry;
    memset(entry, 0, sizeof *entry);
    int number = listing->numbers[listing->next++];
    entry->d_ino = 1 + (ino64_t)number;
    entry->d_type = listing->kind == 'd' ? DT_CHR : DT_LNK;
    entry->d_reclen = sizeof *entry;
    snprintf(entry->d_name, sizeof entry->d_name, "video%d", number);
    return entry;
}

HOOK struct dirent64 *readdir64(DIR *folder) {
    struct listing *listing = listing_of(folder);
    return listing ? next_of(listing) : REAL(readdir64)(folder);
}

HOOK struct dirent *readdir(DIR *folder) {
    struct listing *listing = listing_of(folder);
    return listing ? (struct dirent *)next_of(listing) : REAL(readdir)(folder);
}

/* glibc's own list a folder by calls that no hook sees. */
static int scan(
    const char *path, struct dirent64 ***list, int (*wanted)(const struct dirent64 *),
    int (*order)(const struct dirent64 **, const struct dirent64 **)) {
    DIR *folder = opendir(path);
    struct dirent64 *entry, **found = NULL;
    int count = 0;
    if (!folder) return -1;
    while ((entry = readdir64(folder))) {
        if (wanted && !wanted(entry)) continue;
        struct dirent64 *copy = malloc(sizeof *copy), **more = copy ? realloc(found, sizeof *found * (size_t)(count + 1)) : NULL;
        if (!more) {
            free(copy);
            while (count) free(found[--count]);
            free(found);
            closedir(folder);
            return told(-ENOMEM);
        }
        memcpy(copy, entry, entry->d_reclen < sizeof *copy ? entry->d_reclen : sizeof *copy);
        found = more;
        found[count++] = copy;
    }
    closedir(folder);
    if (order && count) qsort(found, (size_t)count, sizeof *found, (int (*)(const void *, const void *))order);
    *list = found;
    return count;
}

HOOK int scandir(
    const char *path, struct dirent ***list, int (*wanted)(const struct dirent *),
    int (*order)(const struct dirent **, const struct dirent **)) {
    if (door_inside || !names_folder(path) || !names_is_on()) return REAL(scandir)(path, list, wanted, order);
    return scan(
        path, (struct dirent64 ***)list, (int (*)(const struct dirent64 *))wanted,
        (int (*)(const struct dirent64 **, const struct dirent64 **))order);
}

HOOK int scandir64(
    const char *path, struct dirent64 ***list, int (*wanted)(const struct dirent64 *),
    int (*order)(const struct dirent64 **, const struct dirent64 **)) {
    if (door_inside || !names_folder(path) || !names_is_on()) return REAL(scandir64)(path, list, wanted, order);
    return scan(path, list, wanted, order);
}

static void close_folder(void *folder) { closedir(folder); }
static struct dirent *read_folder(void *folder) { return readdir(folder); }
static void *open_folder(const char *path) { return opendir(path); }

static bool is_about_nodes(const char *pattern) {
    return !door_inside && pattern
        && (strncmp(pattern, "/dev/v", 6) == 0 || strncmp(pattern, "/sys/class/video4linux/", 23) == 0) && names_is_on();
}

HOOK int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found) {
    if (!is_about_nodes(pattern) || flags & GLOB_ALTDIRFUNC) return REAL(glob)(pattern, flags, failed, found);
    found->gl_closedir = close_folder;
    found->gl_readdir = read_folder;
    found->gl_opendir = open_folder;
    found->gl_lstat = lstat;
    found->gl_stat = stat;
    return REAL(glob)(pattern, flags | GLOB_ALTDIRFUNC, failed, found);
}

HOOK int glob64(const char *pattern, int flags, int (*failed)(const char *, int), glob64_t *found) {
    if (!is_about_nodes(pattern) || flags & GLOB_ALTDIRFUNC) return REAL(glob64)(pattern, flags, failed, found);
    found->gl_closedir = close_folder;
    found->gl_readdir = (struct dirent64 * (*)(void *)) read_folder;
    found->gl_opendir = open_folder;
    found->gl_lstat = (int (*)(const char *, struct stat64 *))lstat;
    found->gl_stat = (int (*)(const char *, struct stat64 *))stat;
    return REAL(glob64)(pattern, flags | GLOB_ALTDIRFUNC, failed, found);
}
