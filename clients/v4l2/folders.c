/* Listings of /dev and of /sys/class/video4linux with our nodes in them, behind the real ones, and of what our nodes have in sysfs. */
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

/* Listings that a program has open at once, of these folders. One more shows the real nodes alone. */
enum { LISTINGS_MAX = 32 };

struct listing {
    DIR *folder;
    bool hides_real; /* the folder itself is not there, and another stands for it */
    struct {
        char name[16];
        unsigned char type;
    } entries[DEVICES_MAX];
    size_t count, next;
    struct dirent64 entry;
};

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "dirent and dirent64 are one");

static struct registry listings = {.most = LISTINGS_MAX};

void *registry_find(struct registry *registry, const void *key) {
    if (!key || !atomic_load_explicit(&registry->count, memory_order_relaxed)) return NULL;
    void *found = NULL;
    pthread_mutex_lock(&list_lock);
    for (size_t at = 0; at < registry->most && !found; at++)
        if (registry->places[at].key == key) found = registry->places[at].value;
    pthread_mutex_unlock(&list_lock);
    return found;
}

bool registry_add(struct registry *registry, const void *key, void *value) {
    bool is_kept = false;
    pthread_mutex_lock(&list_lock);
    for (size_t at = 0; at < registry->most && !is_kept; at++) {
        if (registry->places[at].key) continue;
        registry->places[at].key = key;
        registry->places[at].value = value;
        is_kept = true;
        atomic_fetch_add(&registry->count, 1);
    }
    pthread_mutex_unlock(&list_lock);
    return is_kept;
}

void registry_remove(struct registry *registry, const void *key) {
    pthread_mutex_lock(&list_lock);
    for (size_t at = 0; at < registry->most; at++) {
        if (registry->places[at].key != key) continue;
        registry->places[at].key = NULL;
        atomic_fetch_sub(&registry->count, 1);
    }
    pthread_mutex_unlock(&list_lock);
}

static struct listing *listing_of(DIR *folder) { return door_inside ? NULL : registry_find(&listings, folder); }

static void add(struct listing *listing, unsigned char type, const char *name) {
    snprintf(listing->entries[listing->count].name, sizeof listing->entries->name, "%s", name);
    listing->entries[listing->count++].type = type;
}

/* Our nodes, but for those that the machine has under the same number and so lists itself. */
static void add_nodes(struct listing *listing, int kind) {
    struct device *devices[DEVICES_MAX];
    int cancel = door_enter();
    size_t found = door_learn() == 0 ? door_devices(devices, DEVICES_MAX) : 0;
    for (size_t at = 0; at < found; at++) {
        char path[64];
        snprintf(path, sizeof path, "%s/video%d", kind == 'd' ? "/dev" : "/sys/class/video4linux", devices[at]->number);
        if (access(path, F_OK) < 0) add(listing, kind == 'd' ? DT_CHR : kind == 'c' ? DT_LNK : DT_DIR, strrchr(path, '/') + 1);
    }
    door_leave(cancel);
}

static void add_files(struct listing *listing, const char *what) {
    const char *name;
    for (size_t at = 0; (name = sysfs_next(what, &at));) add(listing, sysfs_is_folder(name) ? DT_DIR : DT_REG, name);
}

static void remember(DIR *folder, struct listing wanted) {
    struct listing *made = malloc(sizeof *made);
    if (!made) return;
    *made = wanted;
    made->folder = folder;
    if (!registry_add(&listings, folder, made)) free(made);
}

HOOK DIR *opendir(const char *path) {
    char what[256];
    struct stat status;
    int kind = door_inside ? 0 : names_folder(path), number = door_inside || kind ? -1 : names_sysfs(AT_FDCWD, path, what, sizeof what);
    DIR *folder = REAL(opendir)(path);
    if ((!kind && number < 0) || (!folder && (errno != ENOENT || kind == 'd')) || (folder && !kind) || !names_is_on()) return folder;
    struct listing listing = {.hides_real = !folder};
    if (kind)
        add_nodes(&listing, kind);
    else if (sysfs_stat(number, what, &status) == 0 && S_ISDIR(status.st_mode))
        add_files(&listing, what);
    errno = ENOENT;
    if (!folder && listing.count) folder = REAL(opendir)("/proc/self/task");
    if (folder) remember(folder, listing);
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
    struct listing listing = {0};
    if (kind) add_nodes(&listing, kind);
    if (kind) remember(folder, listing);
    return folder;
}

HOOK int closedir(DIR *folder) {
    struct listing *listing = listing_of(folder);
    if (listing) registry_remove(&listings, folder);
    free(listing);
    return REAL(closedir)(folder);
}

HOOK void rewinddir(DIR *folder) {
    struct listing *listing = listing_of(folder);
    if (listing) listing->next = 0;
    REAL(rewinddir)(folder);
}

static struct dirent64 *next_of(struct listing *listing) {
    struct dirent64 *entry;
    if (!listing->hides_real && (entry = REAL(readdir64)(listing->folder))) return entry;
    if (listing->next == listing->count) return NULL;
    entry = &listing->entry;
    memset(entry, 0, sizeof *entry);
    entry->d_ino = 1 + (ino64_t)listing->next;
    entry->d_type = listing->entries[listing->next].type;
    entry->d_reclen = sizeof *entry;
    strcpy(entry->d_name, listing->entries[listing->next++].name);
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

static bool is_listed(const char *path) {
    char what[256];
    return !door_inside && (names_folder(path) || names_sysfs(AT_FDCWD, path, what, sizeof what) >= 0) && names_is_on();
}

HOOK int scandir(
    const char *path, struct dirent ***list, int (*wanted)(const struct dirent *),
    int (*order)(const struct dirent **, const struct dirent **)) {
    if (!is_listed(path)) return REAL(scandir)(path, list, wanted, order);
    return scan(
        path, (struct dirent64 ***)list, (int (*)(const struct dirent64 *))wanted,
        (int (*)(const struct dirent64 **, const struct dirent64 **))order);
}

HOOK int scandir64(
    const char *path, struct dirent64 ***list, int (*wanted)(const struct dirent64 *),
    int (*order)(const struct dirent64 **, const struct dirent64 **)) {
    if (!is_listed(path)) return REAL(scandir64)(path, list, wanted, order);
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
