#define _GNU_SOURCE
#include "memory_room.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

/* The mount points of the two versions of control groups, and their names for the same figures. */
struct version {
    const char *mounted, *limit, *usage, *reclaimable[2];
};
static const struct version first = {
    "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
static const struct version second = {"/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number at the beginning of a file; -1: there is none, or it is "max". */
static int64_t number(const char *folder, const char *name) {
    char path[PATH_MAX], text[32];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return -1;
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    char *read = fgets(text, sizeof text, file), *end = text;
    fclose(file);
    long long value = read ? strtoll(text, &end, 10) : 0;
    return end == text ? -1 : value;
}

/* The sum of the lines of a file that begin with one of the words, each multiplied; -1: it cannot be read. */
static int64_t sum(const char *path, const char *const words[2], int64_t unit) {
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    char line[256];
    int64_t found = 0;
    while (fgets(line, sizeof line, file))
        for (int i = 0; i < 2; i++) {
            size_t length = words[i] ? strlen(words[i]) : 0;
            if (length && strncmp(line, words[i], length) == 0 && strchr(" :", line[length]) && line[length])
                found += strtoll(line + length + 1, NULL, 10) * unit;
        }
    fclose(file);
    return found;
}

static int64_t room_of_group(const struct version *version, const char *folder, int64_t machine) {
    int64_t limit = number(folder, version->limit), usage = number(folder, version->usage);
    /* The first version writes "none" as a number that no machine has. */
    if (limit < 0 || limit > INT64_MAX / 2 || usage < 0) return INT64_MAX;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/memory.stat", folder) >= (int)sizeof path) return INT64_MAX;
    int64_t reclaimable = sum(path, version->reclaimable, 1);
    if (reclaimable > 0) usage = usage > reclaimable ? usage - reclaimable : 0;
    limit = least(limit, machine);
    return limit - usage - least(CAMARB_CAMERA_MEMORY, limit / 2);
}

/* Of a group and all that it is in. */
static int64_t room_of_groups(const struct version *version, const char *system, char *group, int64_t machine) {
    int64_t room = INT64_MAX;
    for (;;) {
        char folder[PATH_MAX];
        if (snprintf(folder, sizeof folder, "%s%s%s", system, version->mounted, group) < (int)sizeof folder)
            room = least(room, room_of_group(version, folder, machine));
        char *last = strrchr(group, '/');
        if (!last) return room;
        *last = 0;
    }
}

static int64_t room_of_machine(const char *system, int64_t machine) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/proc/meminfo", system) >= (int)sizeof path) return INT64_MAX;
    int64_t available = sum(path, (const char *const[2]){"MemAvailable", NULL}, 1024);
    /* Missing for a unit that sees only processes of /proc; its group has a limit. */
    return available <= 0 ? INT64_MAX : available - least(CAMARB_CAMERA_MEMORY, machine / 8);
}

int64_t camarb_memory_room(const char *system, int64_t machine) {
    int64_t room = room_of_machine(system, machine);
    char path[PATH_MAX], line[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/proc/self/cgroup", system) >= (int)sizeof path) return room;
    FILE *file = fopen(path, "re");
    if (!file) return room;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        /* NUMBER:CONTROLLERS:PATH; the second version has no controllers. */
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        controllers++;
        int is_memory = 0;
        for (char *rest, *word = strtok_r(controllers, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
            is_memory |= strcmp(word, "memory") == 0;
        if (is_memory) room = least(room, room_of_groups(&first, system, group, machine));
        else if (line[0] == '0' && !*controllers) room = least(room, room_of_groups(&second, system, group, machine));
    }
    fclose(file);
    return room;
}

int64_t camarb_machine_memory(void) {
    struct sysinfo info;
    return sysinfo(&info) < 0 ? INT64_MAX : (int64_t)info.totalram * info.mem_unit;
}
