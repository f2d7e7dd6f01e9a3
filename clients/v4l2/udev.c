/* libudev's view of our nodes, for programs that look for cameras there alone (GUdev and all that is built on it). Ours are behind the real
 * ones in a list of subsystem video4linux, and devices of their own kind, which these functions answer for; all else is libudev's.
 *
 * Where libudev is not loaded none of this is ever called. Our cameras send no hotplug events: programs read the list again. */
#define _GNU_SOURCE
#include "hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static void *nothing(void) { return NULL; }

/* A plugin may have libudev where nobody but itself sees it; these functions stand before it all the same. */
static void *libudev(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found) return found;
    void *handle = dlopen("libudev.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    found = handle ? dlsym(handle, name) : NULL;
    /* Its callers have libudev loaded; without it there are no devices. */
    return found ? found : (void *)nothing;
}

#define NEXT(name)                                                                                                                         \
    ({                                                                                                                                     \
        static void *_Atomic found;                                                                                                        \
        void *at = atomic_load_explicit(&found, memory_order_relaxed);                                                                     \
        if (!at) {                                                                                                                         \
            at = libudev(#name);                                                                                                           \
            atomic_store(&found, at);                                                                                                      \
        }                                                                                                                                  \
        (__typeof__(&name)) at;                                                                                                            \
    })

struct udev;
struct udev_enumerate;
struct udev_device;
struct udev_list_entry;

enum { ENUMERATIONS_MAX = 32, FAKES_MAX = 256, TEXT_MAX_BYTES = 256 };

/* An entry of ours; whoever has a pointer asks `is_ours` whether it is one. */
struct entry {
    struct entry *next;
    const char *value;
    char name[]; /* and behind it the value */
};

/* A device of ours. */
struct fake {
    unsigned references;
    struct udev *udev;
    int number;
    char syspath[64], node[32], sysname[16], name[NAME_MAX_BYTES];
    struct entry *properties;
};

struct enumeration {
    unsigned references;
    struct entry *list;
};

static struct registry enumerations = {.most = ENUMERATIONS_MAX}, fakes = {.most = FAKES_MAX};

static _Atomic unsigned entry_count;

/* All entries of ours, wherever they are listed. */
static struct all {
    struct entry *entry;
    struct all *next;
} *all_entries;

static bool is_ours(const void *entry) {
    if (!atomic_load_explicit(&entry_count, memory_order_relaxed)) return false;
    bool found = false;
    pthread_mutex_lock(&list_lock);
    for (struct all *at = all_entries; at && !found; at = at->next) found = at->entry == entry;
    pthread_mutex_unlock(&list_lock);
    return found;
}

static struct entry *add_entry(struct entry **list, const char *name, const char *value) {
    /* The machine's own devices are listed with ours, by paths of any length. */
    size_t name_bytes = strlen(name) + 1, value_bytes = strlen(value) + 1;
    struct entry *made = calloc(1, sizeof *made + name_bytes + value_bytes);
    struct all *known = malloc(sizeof *known);
    if (!made || !known) {
        free(made);
        free(known);
        return NULL;
    }
    memcpy(made->name, name, name_bytes);
    made->value = memcpy(made->name + name_bytes, value, value_bytes);
    while (*list) list = &(*list)->next;
    *list = made;
    pthread_mutex_lock(&list_lock);
    *known = (struct all){made, all_entries};
    all_entries = known;
    pthread_mutex_unlock(&list_lock);
    atomic_fetch_add(&entry_count, 1);
    return made;
}

static void free_entries(struct entry *list) {
    while (list) {
        struct entry *next = list->next;
        pthread_mutex_lock(&list_lock);
        for (struct all **at = &all_entries; *at; at = &(*at)->next)
            if ((*at)->entry == list) {
                struct all *gone = *at;
                *at = gone->next;
                free(gone);
                break;
            }
        pthread_mutex_unlock(&list_lock);
        atomic_fetch_sub(&entry_count, 1);
        free(list);
        list = next;
    }
}

HOOK struct udev_list_entry *udev_list_entry_get_next(struct udev_list_entry *entry) {
    return is_ours(entry) ? (struct udev_list_entry *)((struct entry *)entry)->next : NEXT(udev_list_entry_get_next)(entry);
}

HOOK const char *udev_list_entry_get_name(struct udev_list_entry *entry) {
    return is_ours(entry) ? ((struct entry *)entry)->name : NEXT(udev_list_entry_get_name)(entry);
}

HOOK const char *udev_list_entry_get_value(struct udev_list_entry *entry) {
    return is_ours(entry) ? ((struct entry *)entry)->value : NEXT(udev_list_entry_get_value)(entry);
}

HOOK struct udev_list_entry *udev_list_entry_get_by_name(struct udev_list_entry *entry, const char *name) {
    if (!is_ours(entry)) return NEXT(udev_list_entry_get_by_name)(entry, name);
    struct entry *at = (struct entry *)entry;
    while (at && name && strcmp(at->name, name) != 0) at = at->next;
    return name ? (struct udev_list_entry *)at : NULL;
}

HOOK int udev_enumerate_add_match_subsystem(struct udev_enumerate *of, const char *subsystem) {
    bool is_new = of && subsystem && strcmp(subsystem, "video4linux") == 0 && !registry_find(&enumerations, of);
    struct enumeration *made = is_new ? calloc(1, sizeof *made) : NULL;
    if (made) made->references = 1;
    if (made && !registry_add(&enumerations, of, made)) free(made);
    return NEXT(udev_enumerate_add_match_subsystem)(of, subsystem);
}

HOOK struct udev_list_entry *udev_enumerate_get_list_entry(struct udev_enumerate *of) {
    struct udev_list_entry *real = NEXT(udev_enumerate_get_list_entry)(of);
    struct enumeration *known = registry_find(&enumerations, of);
    if (!known || door_inside || !names_is_on()) return real;
    free_entries(known->list);
    known->list = NULL;
    for (struct udev_list_entry *at = real; at; at = NEXT(udev_list_entry_get_next)(at))
        add_entry(&known->list, NEXT(udev_list_entry_get_name)(at), "");
    struct device *devices[DEVICES_MAX];
    int numbers[DEVICES_MAX];
    int cancel = door_enter();
    size_t count = door_learn() == 0 ? door_devices(devices, DEVICES_MAX) : 0;
    for (size_t at = 0; at < count; at++) numbers[at] = nodes_exists(devices[at]->number) ? -1 : devices[at]->number;
    door_leave(cancel);
    for (size_t at = 0; at < count; at++) {
        char path[TEXT_MAX_BYTES];
        snprintf(path, sizeof path, "/sys/devices/virtual/video4linux/video%d", numbers[at]);
        if (numbers[at] >= 0) add_entry(&known->list, path, "");
    }
    return (struct udev_list_entry *)known->list;
}

HOOK struct udev_enumerate *udev_enumerate_ref(struct udev_enumerate *of) {
    struct enumeration *known = registry_find(&enumerations, of);
    if (known) known->references++;
    return NEXT(udev_enumerate_ref)(of);
}

HOOK struct udev_enumerate *udev_enumerate_unref(struct udev_enumerate *of) {
    /* References from before it was one of video nodes are not known: a program that has some of them keeps the list to the last one that is. */
    struct enumeration *known = registry_find(&enumerations, of);
    if (known && !--known->references) {
        registry_remove(&enumerations, of);
        free_entries(known->list);
        free(known);
    }
    return NEXT(udev_enumerate_unref)(of);
}

static struct fake *fake_of(const void *device) { return registry_find(&fakes, device); }

static void free_fake(struct fake *fake) {
    free_entries(fake->properties);
    free(fake);
}

static struct udev_device *make(struct udev *udev, int number) {
    struct fake *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    int cancel = door_enter();
    struct device *device = door_learn() == 0 && !nodes_exists(number) ? door_device(number) : NULL;
    if (device && device->is_present) strcpy(made->name, device->name);
    door_leave(cancel);
    if (!*made->name) {
        free(made);
        errno = ENODEV;
        return NULL;
    }
    made->references = 1;
    made->udev = udev;
    made->number = number;
    snprintf(made->syspath, sizeof made->syspath, "/sys/devices/virtual/video4linux/video%d", number);
    snprintf(made->sysname, sizeof made->sysname, "video%d", number);
    snprintf(made->node, sizeof made->node, "/dev/video%d", number);
    char minor[16];
    snprintf(minor, sizeof minor, "%d", number);
    const char *const properties[][2] = {
        {"DEVNAME", made->node}, {"DEVPATH", made->syspath + strlen("/sys")}, {"SUBSYSTEM", "video4linux"}, {"MAJOR", "81"},
        {"MINOR", minor}, {"ID_V4L_VERSION", "2"}, {"ID_V4L_PRODUCT", made->name}, {"ID_V4L_CAPABILITIES", ":capture:"},
        {"ID_MODEL", made->name}};
    for (size_t at = 0; at < sizeof properties / sizeof *properties; at++)
        add_entry(&made->properties, properties[at][0], properties[at][1]);
    if (registry_add(&fakes, made, made)) return (struct udev_device *)made;
    free_fake(made);
    errno = ENOMEM;
    return NULL;
}

HOOK struct udev_device *udev_device_new_from_syspath(struct udev *udev, const char *path) {
    struct udev_device *real = NEXT(udev_device_new_from_syspath)(udev, path);
    char what[TEXT_MAX_BYTES];
    if (real || door_inside || !names_is_on()) return real;
    int number = names_sysfs(-1, path, what, sizeof what);
    return number >= 0 && !*what ? make(udev, number) : NULL;
}

HOOK struct udev_device *udev_device_new_from_devnum(struct udev *udev, char type, dev_t number) {
    struct udev_device *real = NEXT(udev_device_new_from_devnum)(udev, type, number);
    if (real || door_inside || type != 'c' || major(number) != VIDEO_MAJOR || !names_is_on()) return real;
    return make(udev, (int)minor(number));
}

HOOK struct udev_device *udev_device_new_from_subsystem_sysname(struct udev *udev, const char *subsystem, const char *name) {
    struct udev_device *real = NEXT(udev_device_new_from_subsystem_sysname)(udev, subsystem, name);
    char path[TEXT_MAX_BYTES], what[TEXT_MAX_BYTES];
    if (real || door_inside || !subsystem || !name || strcmp(subsystem, "video4linux") != 0 || !names_is_on()) return real;
    if (snprintf(path, sizeof path, "/sys/class/video4linux/%s", name) >= (int)sizeof path) return NULL;
    int number = names_sysfs(-1, path, what, sizeof what);
    return number >= 0 && !*what ? make(udev, number) : NULL;
}

HOOK struct udev_device *udev_device_ref(struct udev_device *device) {
    struct fake *fake = fake_of(device);
    if (!fake) return NEXT(udev_device_ref)(device);
    fake->references++;
    return device;
}

HOOK struct udev_device *udev_device_unref(struct udev_device *device) {
    struct fake *fake = fake_of(device);
    if (!fake) return NEXT(udev_device_unref)(device);
    if (--fake->references) return NULL;
    registry_remove(&fakes, fake);
    free_fake(fake);
    return NULL;
}

/* Properties of our devices. */
#define ASKED(type, name, ours)                                                                                                            \
    HOOK type name(struct udev_device *device) {                                                                                           \
        struct fake *fake = fake_of(device);                                                                                               \
        return fake ? (ours) : NEXT(name)(device);                                                                                         \
    }
ASKED(struct udev *, udev_device_get_udev, fake->udev)
ASKED(const char *, udev_device_get_syspath, fake->syspath)
ASKED(const char *, udev_device_get_devpath, fake->syspath + strlen("/sys"))
ASKED(const char *, udev_device_get_sysname, fake->sysname)
ASKED(const char *, udev_device_get_sysnum, fake->sysname + strlen("video"))
ASKED(const char *, udev_device_get_devnode, fake->node)
ASKED(const char *, udev_device_get_subsystem, fake->sysname[0] ? "video4linux" : NULL)
ASKED(const char *, udev_device_get_devtype, ((void)fake, NULL))
ASKED(const char *, udev_device_get_driver, ((void)fake, NULL))
ASKED(const char *, udev_device_get_action, ((void)fake, NULL))
ASKED(dev_t, udev_device_get_devnum, makedev(VIDEO_MAJOR, (unsigned)fake->number))
ASKED(int, udev_device_get_is_initialized, fake->number >= 0)
ASKED(unsigned long long, udev_device_get_seqnum, ((void)fake, 0))
ASKED(unsigned long long, udev_device_get_usec_since_initialized, ((void)fake, 0))
ASKED(struct udev_device *, udev_device_get_parent, ((void)fake, NULL))
ASKED(struct udev_list_entry *, udev_device_get_devlinks_list_entry, ((void)fake, NULL))
ASKED(struct udev_list_entry *, udev_device_get_tags_list_entry, ((void)fake, NULL))
ASKED(struct udev_list_entry *, udev_device_get_current_tags_list_entry, ((void)fake, NULL))
ASKED(struct udev_list_entry *, udev_device_get_sysattr_list_entry, ((void)fake, NULL))
ASKED(struct udev_list_entry *, udev_device_get_properties_list_entry, (struct udev_list_entry *)fake->properties)

HOOK int udev_device_set_sysattr_value(struct udev_device *device, const char *name, const char *value) {
    return fake_of(device) ? -EACCES : NEXT(udev_device_set_sysattr_value)(device, name, value);
}

HOOK int udev_device_has_tag(struct udev_device *device, const char *tag) {
    return fake_of(device) ? 0 : NEXT(udev_device_has_tag)(device, tag);
}

HOOK int udev_device_has_current_tag(struct udev_device *device, const char *tag) {
    return fake_of(device) ? 0 : NEXT(udev_device_has_current_tag)(device, tag);
}

HOOK struct udev_device *
udev_device_get_parent_with_subsystem_devtype(struct udev_device *device, const char *subsystem, const char *type) {
    return fake_of(device) ? NULL : NEXT(udev_device_get_parent_with_subsystem_devtype)(device, subsystem, type);
}

HOOK const char *udev_device_get_property_value(struct udev_device *device, const char *name) {
    struct fake *fake = fake_of(device);
    if (!fake) return NEXT(udev_device_get_property_value)(device, name);
    for (struct entry *at = fake->properties; at && name; at = at->next)
        if (strcmp(at->name, name) == 0) return at->value;
    return NULL;
}

HOOK const char *udev_device_get_sysattr_value(struct udev_device *device, const char *name) {
    struct fake *fake = fake_of(device);
    if (!fake) return NEXT(udev_device_get_sysattr_value)(device, name);
    return name && strcmp(name, "name") == 0 ? fake->name : name && strcmp(name, "index") == 0 ? "0" : NULL;
}
