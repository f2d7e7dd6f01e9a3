#define _GNU_SOURCE
#include "include/own.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t camarb_own_memory(void) {
    int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    char text[128];
    ssize_t length = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (length <= 0) return 0;
    text[length] = 0;
    unsigned long whole, resident;
    if (sscanf(text, "%lu %lu", &whole, &resident) != 2) return 0;
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

int camarb_own_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') count++;
    closedir(folder);
    /* One of them was the folder itself. */
    return count - 1;
}

void camarb_give_back_memory(void) { malloc_trim(0); }

int camarb_says_version(int argc, char **argv, const char *program) {
    static const char version[] = "0.1.0";
    if (argc != 2 || strcmp(argv[1], "--version") != 0) return 0;
    printf("%s %s\n", program, version);
    return 1;
}
