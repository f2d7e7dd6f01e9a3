/* Whether the door serves this program, and the names of video nodes. */
#define _GNU_SOURCE
#include "door.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* A list that is longer is read so far. */
#define LIST_LINES_MAX 4096

/* Where the program lies, without what the kernel adds once it was replaced. */
static bool program(char path[PATH_MAX]) {
    ssize_t count = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (count <= 0) return false;
    path[count] = 0;
    char *deleted = strstr(path, " (deleted)");
    if (deleted && !deleted[strlen(" (deleted)")]) *deleted = 0;
    return true;
}

static const char *base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A regular file: a pipe would block every program. */
static FILE *open_list(const char *path) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *list = descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(descriptor, "r") : NULL;
    if (!list && descriptor >= 0) close(descriptor);
    return list;
}

/* The user's own list: a program's path or name a line, or * for all. Without one: none. */
static bool is_listed(void) {
    char path[PATH_MAX], exe[PATH_MAX], line[PATH_MAX];
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (folder && *folder == '/') {
        if (snprintf(path, sizeof path, "%s/camarb/apps", folder) >= (int)sizeof path) return false;
    } else if (!home || snprintf(path, sizeof path, "%s/.config/camarb/apps", home) >= (int)sizeof path) {
        return false;
    }
    FILE *list = program(exe) ? open_list(path) : NULL;
    if (!list) return false;
    bool found = false, is_rest = false;
    for (int count = 0; !found && count < LIST_LINES_MAX && fgets(line, sizeof line, list); count++) {
        /* The parts of a line that is longer than any path are no lines. */
        bool was_rest = is_rest;
        is_rest = !strchr(line, '\n') && strlen(line) == sizeof line - 1;
        if (was_rest || is_rest) continue;
        char *start = line, *end = line + strlen(line);
        while (isspace((unsigned char)*start)) start++;
        while (end > start && isspace((unsigned char)end[-1])) *--end = 0;
        if (!*start || *start == '#') continue;
        found = strcmp(start, "*") == 0
            || (strchr(start, '/') ? strcmp(start, exe) == 0
                                   : strcmp(start, base(exe)) == 0 || strcmp(start, program_invocation_short_name) == 0);
    }
    fclose(list);
    return found;
}

static bool decide(void) {
    if (getauxval(AT_SECURE)) return false;
    const char *wish = getenv("CAMARB_V4L2");
    /* Root opens devices directly: its programs must not depend on a user's broker. Tests are root, too. */
    if (geteuid() == 0 && !(wish && strcmp(wish, "force") == 0)) return false;
    const char *list = getenv("CAMARB_V4L2_LIST");
    return !list || strcmp(list, "1") != 0 || is_listed();
}

bool names_is_on(void) {
    static _Atomic int decided; /* 1: on; -1: off. Two threads that decide at once decide the same. */
    int known = atomic_load_explicit(&decided, memory_order_relaxed);
    if (!known) {
        int before = errno;
        door_inside++;
        known = decide() ? 1 : -1;
        door_inside--;
        errno = before;
        atomic_store(&decided, known);
    }
    return known > 0;
}

/* The file or module that Python runs, from the command line of this process; false: this is not Python, or it runs neither. */
static bool script_of(const char *exe, char *name, size_t bytes) {
    if (strncmp(exe, "python", 6) != 0 || exe[6 + strspn(exe + 6, "0123456789.")]) return false;
    /* Longer command lines are cut behind the name. */
    char line[2 * PATH_MAX];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t count = file >= 0 ? read(file, line, sizeof line - 1) : -1;
    if (file >= 0) close(file);
    const char *end = line + (count > 0 ? count : 0);
    line[end - line] = 0;
    for (const char *word = line; (word += strlen(word) + 1) < end;) {
        const char *value = *word == '-' ? NULL : word;
        if (!value && word[1] != '-') {
            /* Options of one letter may stand together; these take a value, behind them or as the next word. Behind -c is the program itself,
             * and a single - is standard input. */
            char option = word[strcspn(word, "cmWX")];
            if (!word[1] || option == 'c') return false;
            if (!option) continue;
            const char *rest = strchr(word, option) + 1;
            if (!*rest && (rest = word += strlen(word) + 1) >= end) return false;
            if (option == 'm') value = rest;
        }
        if (value) return snprintf(name, bytes, "%s", base(value)) > 0;
    }
    return false;
}

void names_app(char *name, size_t bytes) {
    /* As the desktop that started it has it, where it says so of this process. */
    const char *file = getenv("GIO_LAUNCHED_DESKTOP_FILE"), *process = getenv("GIO_LAUNCHED_DESKTOP_FILE_PID");
    char exe[PATH_MAX];
    *name = 0;
    if (file && process && atol(process) == (long)getpid()) {
        snprintf(name, bytes, "%s", base(file));
        char *end = strstr(name, ".desktop");
        if (end) *end = 0;
    } else if (program(exe) && !script_of(base(exe), name, bytes)) {
        snprintf(name, bytes, "%s", base(exe));
    }
}

/* A decimal number that is all of the text up to `end`; -1: it is none. */
static int number_in(const char *text, const char *end) {
    if (text == end || end - text > 3 || (text[0] == '0' && end - text > 1)) return -1;
    int number = 0;
    for (; text < end; text++) {
        if (!isdigit((unsigned char)*text)) return -1;
        number = number * 10 + (*text - '0');
    }
    return number <= NUMBER_MAX ? number : -1;
}

static const char *behind(const char *path, const char *start) {
    size_t count = strlen(start);
    return strncmp(path, start, count) == 0 ? path + count : NULL;
}

/* An absolute path with single slashes. False: it is no video node's, or too long. */
static bool absolute(int folder, const char *path, char whole[PATH_MAX]) {
    size_t count = 0;
    whole[0] = 0;
    if (*path != '/') {
        if (folder == AT_FDCWD) {
            if (!getcwd(whole, PATH_MAX)) return false;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            ssize_t got = readlink(link, whole, PATH_MAX - 1);
            if (got <= 0) return false;
            whole[got] = 0;
        }
        count = strlen(whole);
        if (count + 1 < PATH_MAX && (!count || whole[count - 1] != '/')) whole[count++] = '/';
    }
    for (const char *at = path; *at; at++) {
        if (*at == '/' && (at[1] == '/' || !at[1])) continue;
        if (*at == '/' && at[1] == '.' && (at[2] == '/' || !at[2])) {
            at++;
            continue;
        }
        if (*at == '/' && count && whole[count - 1] == '/') continue;
        if (count + 1 >= PATH_MAX) return false;
        whole[count++] = *at;
    }
    whole[count] = 0;
    return true;
}

int names_node(int folder, const char *path) {
    if (!path || (!strstr(path, "video") && !strstr(path, "/v4l/") && !strstr(path, "81:"))) return -1;
    char whole[PATH_MAX], link[PATH_MAX];
    int before = errno, number = -1;
    door_inside++;
    if (absolute(folder, path, whole)) {
        const char *rest = behind(whole, "/dev/video");
        if (!rest && (behind(whole, "/dev/v4l/") || behind(whole, "/dev/char/81:")) && realpath(whole, link))
            rest = behind(link, "/dev/video");
        if (rest) number = number_in(rest, rest + strlen(rest));
        if (!rest && (rest = behind(whole, "/dev/char/81:"))) number = number_in(rest, rest + strlen(rest));
    }
    door_inside--;
    errno = before;
    return number;
}

int names_sysfs(int folder, const char *path, char *what, size_t bytes) {
    if (!path || (!strstr(path, "video") && !strstr(path, "81:"))) return -1;
    char whole[PATH_MAX];
    int before = errno, number = -1;
    door_inside++;
    if (absolute(folder, path, whole) && strncmp(whole, "/sys/", 5) == 0) {
        const char *rest = behind(whole, "/sys/class/video4linux/video");
        if (!rest) rest = behind(whole, "/sys/devices/virtual/video4linux/video");
        if (!rest) rest = behind(whole, "/sys/dev/char/81:");
        if (rest) {
            const char *end = strchrnul(rest, '/');
            number = number_in(rest, end);
            if (*end) end++;
            if (strlen(end) >= bytes) number = -1;
            else strcpy(what, end);
        }
    }
    door_inside--;
    errno = before;
    return number;
}

int names_folder(const char *path) {
    if (!path || *path != '/') return 0;
    size_t count = strlen(path);
    while (count > 1 && path[count - 1] == '/') count--;
    static const char *const folders[] = {"d/dev", "c/sys/class/video4linux", "v/sys/devices/virtual/video4linux"};
    for (size_t at = 0; at < sizeof folders / sizeof *folders; at++)
        if (strlen(folders[at] + 1) == count && strncmp(path, folders[at] + 1, count) == 0) return *folders[at];
    return 0;
}

bool nodes_exists(int number) {
    char path[64];
    door_inside++;
    snprintf(path, sizeof path, "/sys/class/video4linux/video%d", number);
    bool exists = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "/dev/video%d", number);
    exists |= access(path, F_OK) == 0;
    door_inside--;
    return exists;
}

/* The letters of an identity, as in VideoNodes of Sources: any other becomes _ . */
static void append(char *identity, const char *text) {
    size_t count = strlen(identity);
    for (; *text && count < ID_MAX - 2; text++)
        identity[count++] = isalnum((unsigned char)*text) || strchr(".:-_", *text) ? *text : '_';
    identity[count] = 0;
}

static bool line_of(const char *folder, const char *name, char *line, size_t bytes) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
    FILE *file = fopen(path, "re");
    bool got = file && fgets(line, (int)bytes, file);
    if (got) line[strcspn(line, "\n")] = 0;
    if (file) fclose(file);
    return got;
}

static bool is_function(const char *name) { return strlen(name) == 12 && name[4] == ':' && name[7] == ':' && name[10] == '.'; }

/* The port in `2-1.4:1.0`, without the bus. */
static const char *port_of(const char *name) {
    const char *dash = strchr(name, '-'), *colon = strchr(name, ':');
    if (!dash || !colon || dash > colon || dash == name) return NULL;
    for (const char *at = name; at < dash; at++)
        if (!isdigit((unsigned char)*at)) return NULL;
    return dash + 1;
}

/* The two names that a node's camera may have at the broker: its serial number's and its place's. */
static void identities(const char *resolved, char serial[ID_MAX], char place[ID_MAX]) {
    char label[256] = "", index[32] = "0", behind_it[40] = "", parents[PATH_MAX], folder[PATH_MAX];
    *serial = *place = 0;
    if (!line_of(resolved, "name", label, sizeof label)) return;
    line_of(resolved, "index", index, sizeof index);
    if (atoi(index) > 0) snprintf(behind_it, sizeof behind_it, "-%s", index);
    snprintf(parents, sizeof parents, "%s", resolved);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(parents, '/');
        if (slash) *slash = 0;
    }
    strcpy(folder, parents);
    for (char *slash = folder; slash && *folder;) {
        char vendor[64], model[64], number[128] = "";
        if (line_of(folder, "idVendor", vendor, sizeof vendor) && line_of(folder, "idProduct", model, sizeof model)) {
            if (line_of(folder, "serial", number, sizeof number) && *number) {
                append(serial, "usb-");
                append(serial, vendor);
                append(serial, ":");
                append(serial, model);
                append(serial, "-");
                append(serial, number);
                append(serial, behind_it);
            }
            break;
        }
        if ((slash = strrchr(folder, '/'))) *slash = 0;
    }
    char before[256] = "", copy[PATH_MAX], so_far[PATH_MAX] = "";
    bool has_port = false, is_fast = false;
    strcpy(copy, parents);
    char *kept = NULL;
    const char *last = "video";
    for (char *part = strtok_r(copy, "/", &kept); part; part = strtok_r(NULL, "/", &kept)) {
        const char *port = port_of(part);
        size_t count = strlen(so_far);
        snprintf(so_far + count, sizeof so_far - count, "/%s", part);
        if (strncmp(part, "usb", 3) == 0 && part[3] && strspn(part + 3, "0123456789") == strlen(part + 3)) {
            char speed[32];
            is_fast = line_of(so_far, "speed", speed, sizeof speed) && atoi(speed) >= 5000;
        }
        if (is_function(part)) {
            *place = 0;
            append(place, "pci-");
            append(place, part);
        } else if (strcmp(before, "platform") == 0 || port) {
            if (*place) append(place, "-");
            append(place, port ? is_fast ? "usbv3-0:" : "usb-0:" : "platform-");
            append(place, port ? port : part);
            has_port |= port != NULL;
        }
        snprintf(before, sizeof before, "%s", part);
        last = part;
    }
    if (!*place) append(place, last);
    if (!has_port) {
        append(place, "-");
        append(place, label);
    }
    append(place, behind_it);
}

int nodes_number(const char *id) {
    DIR *folder = opendir("/sys/class/video4linux");
    struct dirent *entry;
    int number = -1;
    while (folder && number < 0 && (entry = readdir(folder))) {
        const char *rest = behind(entry->d_name, "video");
        char path[PATH_MAX], resolved[PATH_MAX], serial[ID_MAX], place[ID_MAX];
        if (!rest || number_in(rest, rest + strlen(rest)) < 0) continue;
        snprintf(path, sizeof path, "/sys/class/video4linux/%.200s", entry->d_name);
        if (!realpath(path, resolved)) continue;
        identities(resolved, serial, place);
        if (strcmp(serial, id) == 0 || strcmp(place, id) == 0) number = number_in(rest, rest + strlen(rest));
    }
    if (folder) closedir(folder);
    return number;
}
