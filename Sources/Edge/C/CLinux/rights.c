#define _GNU_SOURCE
#include "include/rights.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>

int camarb_rights_of(const char *path, struct camarb_rights *rights) {
    struct stat found;
    if (stat(path, &found) < 0) return -errno;
    rights->owner = found.st_uid;
    rights->group = found.st_gid;
    rights->mode = found.st_mode & 07777;
    /* The kernel keeps no list that equals the permission bits. */
    rights->has_access_list = getxattr(path, "system.posix_acl_access", 0, 0) > 0;
    return 0;
}
