/* The process at the other end of a socket, from the kernel's tables: that needs no right and no question. */
#include "door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool camarb_door_socket_path(char *path, size_t size) {
    const char *name = getenv("PIPEWIRE_REMOTE"), *folder = getenv("PIPEWIRE_RUNTIME_DIR");
    if (!name || !*name) name = "pipewire-0";
    if (!folder || !*folder) folder = getenv("XDG_RUNTIME_DIR");
    int length = *name == '/' ? snprintf(path, size, "%s", name) : snprintf(path, size, "%s/%s", folder ? folder : "", name);
    return (*name == '/' || (folder && *folder)) && length > 0 && (size_t)length < size;
}

/* --- Sockets --- */

/* The inode of the other end; 0 where this socket has another name, or no other end. */
static uint32_t peer_of(const struct nlmsghdr *header, const char *path) {
    const struct unix_diag_msg *message = NLMSG_DATA(header);
    uint32_t peer = 0;
    bool is_named = false;
    int left = (int)header->nlmsg_len - (int)NLMSG_LENGTH(sizeof *message);
    for (const struct rtattr *at = (const struct rtattr *)(message + 1); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
        if (at->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(at) >= sizeof peer) memcpy(&peer, RTA_DATA(at), sizeof peer);
        if (at->rta_type == UNIX_DIAG_NAME) {
            size_t length = strnlen(RTA_DATA(at), RTA_PAYLOAD(at));
            is_named = length == strlen(path) && memcmp(RTA_DATA(at), path, length) == 0;
        }
    }
    return is_named ? peer : 0;
}

static int ask(int diag) {
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } question = {
        .header =
            {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .request =
            {.sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER},
    };
    return send(diag, &question, sizeof question, 0) < 0 ? -errno : 0;
}

int camarb_socket_peers(const char *path, uint32_t *inodes, int count_max) {
    int diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diag < 0) return -errno;
    int count = 0, result = ask(diag);
    for (bool is_over = false; result == 0 && !is_over;) {
        _Alignas(struct nlmsghdr) char bytes[32768];
        ssize_t length = recv(diag, bytes, sizeof bytes, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) {
            result = length < 0 ? -errno : -EIO;
            break;
        }
        unsigned int left = (unsigned int)length;
        for (const struct nlmsghdr *at = (const struct nlmsghdr *)bytes; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
            if (at->nlmsg_type == NLMSG_DONE) is_over = true;
            if (at->nlmsg_type == NLMSG_ERROR) result = -EPROTO;
            if (is_over || result < 0) break;
            uint32_t peer = peer_of(at, path);
            if (peer && count < count_max) inodes[count++] = peer;
        }
    }
    close(diag);
    return result < 0 ? result : count;
}

/* --- Processes --- */

static bool has_open(int process, const char *wanted) {
    int folder = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = folder < 0 ? NULL : fdopendir(folder);
    if (!list) {
        if (folder >= 0) close(folder);
        return false;
    }
    bool is_open = false;
    for (struct dirent *entry; !is_open && (entry = readdir(list));) {
        char target[64];
        ssize_t length = readlinkat(dirfd(list), entry->d_name, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        is_open = strcmp(target, wanted) == 0;
    }
    closedir(list);
    return is_open;
}

int camarb_socket_holders(uint32_t inode, uid_t user, pid_t *processes, int count_max) {
    DIR *list = opendir("/proc");
    if (!list) return -errno;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "socket:[%u]", inode);
    int count = 0;
    for (struct dirent *entry; count < count_max && (entry = readdir(list));) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (*end || number <= 0) continue;
        int process = openat(dirfd(list), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0) continue;
        struct stat about;
        if (fstat(process, &about) == 0 && about.st_uid == user && has_open(process, wanted))
            processes[count++] = (pid_t)number;
        close(process);
    }
    closedir(list);
    return count;
}
