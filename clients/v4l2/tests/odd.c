/* A camera program with every habit that others have one of.
 *
 * usage: odd pictures HOW      luma of 640x480 to standard output until that is closed; HOW: select, poll, epoll, blocking, userptr, dup
 *        odd begins           starts to stream and takes nothing
 *        odd nowhere           points to memory that is not there; says what is wrong and exits with 1
 *        odd habits            everything that is no stream; says what is wrong and exits with 1 */
#include "program.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>

enum { WIDTH = 640, HEIGHT = 480 };
/* Microseconds from one picture to the next, at the 30 a second that a camera gives unasked. */
#define INTERVAL INT64_C(33333)

static const char node[] = "/dev/video0";

static void set_format(int camera) {
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix = (struct v4l2_pix_format){.width = WIDTH, .height = HEIGHT, .pixelformat = V4L2_PIX_FMT_NV12};
    REQUIRE(ioctl(camera, VIDIOC_S_FMT, &format) == 0);
    REQUIRE(format.fmt.pix.width == WIDTH && format.fmt.pix.height == HEIGHT && format.fmt.pix.pixelformat == V4L2_PIX_FMT_NV12);
    bytes = format.fmt.pix.sizeimage;
}

static void wait_for(int camera, const char *how, int polled) {
    if (strcmp(how, "select") == 0) {
        fd_set reading;
        FD_ZERO(&reading);
        FD_SET(camera, &reading);
        struct timeval time = {PATIENCE / 1000, 0};
        REQUIRE(select(camera + 1, &reading, NULL, NULL, &time) == 1);
    } else if (strcmp(how, "epoll") == 0) {
        struct epoll_event event;
        REQUIRE(epoll_wait(polled, &event, 1, PATIENCE) == 1);
        REQUIRE(event.events == EPOLLIN);
    } else if (strcmp(how, "blocking") != 0) {
        struct pollfd waited = {.fd = camera, .events = POLLIN | POLLOUT};
        REQUIRE(poll(&waited, 1, PATIENCE) == 1);
        REQUIRE(waited.revents == POLLIN);
    }
}

static int64_t microseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int pictures(const char *how) {
    bool is_user = strcmp(how, "userptr") == 0, is_blocking = strcmp(how, "blocking") == 0;
    int camera = open(node, O_RDWR | (is_blocking ? 0 : O_NONBLOCK));
    REQUIRE(camera >= 0);
    if (strcmp(how, "dup") == 0) {
        int copy = dup(camera);
        REQUIRE(copy >= 0 && close(camera) == 0);
        camera = fcntl(copy, F_DUPFD_CLOEXEC, 50);
        REQUIRE(camera >= 50 && close(copy) == 0);
        REQUIRE(dup2(camera, 40) == 40 && close(camera) == 0);
        camera = 40;
    }
    set_format(camera);
    int64_t begun = microseconds_now();
    begin(camera, is_user ? V4L2_MEMORY_USERPTR : V4L2_MEMORY_MMAP);
    int polled = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
    REQUIRE(epoll_ctl(polled, EPOLL_CTL_ADD, camera, &event) == 0);
    int64_t before = 0;
    for (;;) {
        struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = is_user ? V4L2_MEMORY_USERPTR : V4L2_MEMORY_MMAP};
        wait_for(camera, how, polled);
        for (;;) {
            int error = ioctl(camera, VIDIOC_DQBUF, &buffer);
            if (error < 0 && errno == EAGAIN) break;
            REQUIRE(error == 0 && !(buffer.flags & V4L2_BUF_FLAG_ERROR) && buffer.bytesused == bytes);
            int64_t moment = buffer.timestamp.tv_sec * INT64_C(1000000) + buffer.timestamp.tv_usec;
            /* A moment that has been since the stream began, behind those before it, and no sooner than so many take: the camera
             * may come back in the midst of a slate's time. */
            REQUIRE(moment > before && moment >= begun && moment <= microseconds_now());
            REQUIRE(moment - begun >= buffer.sequence * INTERVAL / 2);
            before = moment;
            if (write(1, memory[buffer.index], WIDTH * HEIGHT) != WIDTH * HEIGHT) return 0;
            REQUIRE(ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
            if (is_blocking) break;
        }
    }
}

static int streams(void) {
    int camera = open(node, O_RDWR);
    REQUIRE(camera >= 0);
    set_format(camera);
    begin(camera, V4L2_MEMORY_MMAP);
    take_one(camera);
    return camera;
}

static void looks_before_it_opens(void) {
    struct stat status;
    REQUIRE(stat(node, &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == 81 && minor(status.st_rdev) == 0);
    REQUIRE(lstat(node, &status) == 0 && S_ISCHR(status.st_mode));
    REQUIRE(fstatat(AT_FDCWD, "/dev//video0", &status, 0) == 0 && S_ISCHR(status.st_mode));
    REQUIRE(access(node, R_OK | W_OK) == 0 && access(node, X_OK) < 0 && errno == EACCES);
    REQUIRE(stat("/dev/video250", &status) < 0 && errno == ENOENT);
    REQUIRE(open("/dev/video250", O_RDWR) < 0 && errno == ENOENT);
    char path[PATH_MAX];
    REQUIRE(realpath(node, path) && strcmp(path, node) == 0);
    int found = 0;
    DIR *folder = opendir("/dev");
    for (struct dirent *entry; (entry = readdir(folder));) found += strcmp(entry->d_name, "video0") == 0;
    closedir(folder);
    REQUIRE(found == 1);
    struct dirent **list;
    found = 0;
    int count = scandir("/dev", &list, NULL, alphasort);
    REQUIRE(count > 0);
    for (int at = 0; at < count; at++) {
        found += strcmp(list[at]->d_name, "video0") == 0;
        free(list[at]);
    }
    free(list);
    REQUIRE(found == 1);
    glob_t globbed;
    REQUIRE(glob("/dev/video*", 0, NULL, &globbed) == 0 && globbed.gl_pathc >= 1 && strcmp(globbed.gl_pathv[0], node) == 0);
    globfree(&globbed);
    FILE *file = fopen("/sys/class/video4linux/video0/dev", "r");
    REQUIRE(file && fgets(path, sizeof path, file) && strcmp(path, "81:0\n") == 0);
    fclose(file);
    REQUIRE(!fopen("/sys/class/video4linux/video0/name", "w") && errno == EACCES);
    file = fopen("/sys/dev/char/81:0/uevent", "r");
    size_t got = file ? fread(path, 1, sizeof path - 1, file) : 0;
    path[got] = 0;
    REQUIRE(strstr(path, "DEVNAME=video0\n"));
    fclose(file);
}

/* As libmedia_dev of v4l-utils looks for what belongs together, and as a person does with ls: what is listed is there, by each call. */
static void looks_into_sysfs(void) {
    struct stat status;
    char path[PATH_MAX], resolved[PATH_MAX], there[] = "/sys/devices/virtual/video4linux/video0";
    DIR *folder = opendir("/sys/class/video4linux");
    REQUIRE(folder);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        found++;
        snprintf(path, sizeof path, "/sys/class/video4linux/%.32s", entry->d_name);
        REQUIRE(realpath(path, resolved) && strstr(resolved, "/video4linux/") && strstr(resolved, "/devices/"));
        REQUIRE(stat(path, &status) == 0 && S_ISDIR(status.st_mode));
        REQUIRE(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
        REQUIRE(readlink(path, resolved, sizeof resolved) == status.st_size);
    }
    REQUIRE(found >= 1);
    closedir(folder);
    /* A machine may have cameras of its own. */
    if (lstat(there, &status) < 0) return;
    REQUIRE(S_ISDIR(status.st_mode) && readlink(there, path, sizeof path) < 0 && errno == EINVAL);
    REQUIRE(stat("/sys/devices/virtual/video4linux", &status) == 0 && S_ISDIR(status.st_mode));
    struct dirent **list;
    static const char *const files[] = {"dev", "device", "index", "name", "uevent"};
    for (size_t up = 0; up < 2; up++) {
        const char *start = up ? "/sys/class/video4linux/video0" : there;
        int count = scandir(start, &list, NULL, alphasort);
        REQUIRE(count == sizeof files / sizeof *files);
        for (int at = 0; at < count; at++) {
            REQUIRE(strcmp(list[at]->d_name, files[at]) == 0);
            snprintf(path, sizeof path, "%s/%s", start, files[at]);
            REQUIRE(lstat(path, &status) == 0 && S_ISDIR(status.st_mode) == (list[at]->d_type == DT_DIR));
            int file = open(path, O_RDONLY);
            REQUIRE(file >= 0 ? !S_ISDIR(status.st_mode) : errno == EISDIR);
            close(file);
            free(list[at]);
        }
        free(list);
    }
    folder = opendir("/sys/class/video4linux/video0/device");
    struct dirent *entry = folder ? readdir(folder) : NULL;
    REQUIRE(entry && strcmp(entry->d_name, "uevent") == 0 && !readdir(folder));
    rewinddir(folder);
    REQUIRE(readdir(folder));
    closedir(folder);
    REQUIRE(!opendir("/sys/class/video4linux/video250") && errno == ENOENT);
}

/* As with a webcam: nothing of the door's own comes out of it, by whatever name. */
static void reads(void) {
    char into[16];
    struct iovec part = {into, sizeof into};
    int camera = open(node, O_RDONLY);
    FILE *file = fopen(node, "r");
    REQUIRE(camera >= 0 && file);
    FAILS(read(camera, into, sizeof into), EINVAL);
    FAILS(readv(camera, &part, 1), EINVAL);
    FAILS(syscall(SYS_read, camera, into, sizeof into), EINVAL);
    errno = 0;
    REQUIRE(fread(into, 1, sizeof into, file) == 0 && ferror(file) && errno == EINVAL);
    fclose(file);
    close(camera);
}

static void opens_twice(void) {
    int one = open(node, O_RDWR | O_NONBLOCK), other = open(node, O_RDWR | O_NONBLOCK);
    REQUIRE(one >= 0 && other >= 0);
    struct stat status;
    REQUIRE(fstat(one, &status) == 0 && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 0);
    struct v4l2_capability first, second;
    REQUIRE(ioctl(one, VIDIOC_QUERYCAP, &first) == 0 && ioctl(other, VIDIOC_QUERYCAP, &second) == 0);
    REQUIRE(memcmp(&first, &second, sizeof first) == 0 && strcmp((char *)first.driver, "camarb") == 0);
    set_format(one);
    begin(one, V4L2_MEMORY_MMAP);
    struct v4l2_requestbuffers request = {.count = 2, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    REQUIRE(ioctl(other, VIDIOC_REQBUFS, &request) < 0 && errno == EBUSY);
    take_one(one);
    REQUIRE(ioctl(one, VIDIOC_QUERYCAP, NULL) < 0 && errno == EFAULT);
    REQUIRE(ioctl(one, _IOC(_IOC_READ, 'V', 250, 8), &first) < 0 && errno == ENOTTY);
    /* Not enough room: the program is told, and nothing else happens. */
    struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    int error;
    while ((error = ioctl(one, VIDIOC_DQBUF, &buffer)) == 0) {}
    REQUIRE(errno == EAGAIN);
    close(one);
    close(other);
    REQUIRE(ioctl(one, VIDIOC_QUERYCAP, &first) < 0 && errno == EBADF);
    /* The camera is free for the next program, in this process too. */
    close(streams());
}

static void forks(void) {
    int camera = streams();
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (!child) {
        struct v4l2_capability has;
        struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        REQUIRE(ioctl(camera, VIDIOC_QUERYCAP, &has) < 0 && errno == ENODEV);
        REQUIRE(ioctl(camera, VIDIOC_DQBUF, &buffer) < 0 && errno == ENODEV);
        REQUIRE(close(camera) == 0);
        int own = open(node, O_RDWR);
        REQUIRE(own >= 0 && ioctl(own, VIDIOC_QUERYCAP, &has) == 0);
        close(own);
        _exit(0);
    }
    ends_well(child);
    for (int at = 0; at < 10; at++) take_one(camera);
    close(camera);
}

static void closes_all(bool by_range) {
    int camera = streams();
    if (by_range) {
        closefrom(3);
    } else {
        for (int at = 3; at < 1024; at++) close(at);
    }
    struct v4l2_capability has;
    REQUIRE(ioctl(camera, VIDIOC_QUERYCAP, &has) < 0 && errno == EBADF);
    /* Files that it opens now are its own, whatever their number. */
    char text[] = "/tmp/odd-XXXXXX";
    int file = mkstemp(text);
    REQUIRE(file >= 0 && unlink(text) == 0 && write(file, "mine", 4) == 4);
    usleep(200000);
    char back[8];
    struct stat status;
    REQUIRE(pread(file, back, sizeof back, 0) == 4 && memcmp(back, "mine", 4) == 0);
    REQUIRE(fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 4);
    close(file);
    close(streams());
}

/* Bad pointers: the kernel returns EFAULT, and so does the door, wherever in an argument the memory ends. */
static unsigned points_nowhere(void) {
    unsigned calls = 0;
    static const unsigned long requests[] = {
        VIDIOC_QUERYCAP, VIDIOC_ENUM_FMT, VIDIOC_ENUM_FRAMESIZES, VIDIOC_ENUM_FRAMEINTERVALS, VIDIOC_G_FMT, VIDIOC_S_FMT,
        VIDIOC_TRY_FMT, VIDIOC_G_PARM, VIDIOC_S_PARM, VIDIOC_ENUMINPUT, VIDIOC_G_INPUT, VIDIOC_S_INPUT, VIDIOC_G_PRIORITY,
        VIDIOC_S_PRIORITY, VIDIOC_REQBUFS, VIDIOC_CREATE_BUFS, VIDIOC_QUERYBUF, VIDIOC_QBUF, VIDIOC_DQBUF, VIDIOC_STREAMON,
        VIDIOC_STREAMOFF, VIDIOC_QUERYCTRL, VIDIOC_QUERY_EXT_CTRL, VIDIOC_QUERYMENU, VIDIOC_G_CTRL, VIDIOC_S_CTRL,
        VIDIOC_G_EXT_CTRLS, VIDIOC_S_EXT_CTRLS, VIDIOC_TRY_EXT_CTRLS, VIDIOC_SUBSCRIBE_EVENT, VIDIOC_UNSUBSCRIBE_EVENT,
    };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    /* A page that can be read only, one that cannot be touched, and none. */
    char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED && mprotect(pages, page, PROT_READ) == 0 && mprotect(pages + page, page, PROT_NONE) == 0);
    REQUIRE(munmap(pages + 2 * page, page) == 0);
    int camera = open(node, O_RDWR | O_NONBLOCK);
    REQUIRE(camera >= 0);
    for (size_t at = 0; at < sizeof requests / sizeof *requests; at++) {
        void *nowhere[] = {NULL, (void *)1, pages + page, pages + 2 * page, pages + page - 1, (void *)UINTPTR_MAX, (void *)(UINTPTR_MAX / 2)};
        for (size_t where = 0; where < sizeof nowhere / sizeof *nowhere; where++) {
            FAILS(ioctl(camera, requests[at], nowhere[where]), EFAULT);
            calls++;
        }
    }
    /* An answer where nothing can be written. */
    FAILS(ioctl(camera, VIDIOC_QUERYCAP, pages), EFAULT);
    /* Without an event there is nothing to write; with one there is. */
    REQUIRE(ioctl(camera, VIDIOC_DQEVENT, pages + page) < 0 && errno == ENOENT);
    struct v4l2_event_subscription wanted = {
        .type = V4L2_EVENT_CTRL, .id = V4L2_CID_ZOOM_ABSOLUTE, .flags = V4L2_EVENT_SUB_FL_SEND_INITIAL};
    REQUIRE(ioctl(camera, VIDIOC_SUBSCRIBE_EVENT, &wanted) == 0);
    REQUIRE(ioctl(camera, VIDIOC_DQEVENT, pages + page) < 0 && errno == EFAULT);
    /* Memory behind an argument. */
    struct v4l2_ext_controls list = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 3};
    for (size_t where = 0; where < 3; where++) {
        list.controls = (void *)((char *[]){NULL, pages + page, pages + page - 8}[where]);
        FAILS(ioctl(camera, VIDIOC_G_EXT_CTRLS, &list), EFAULT);
    }
    set_format(camera);
    struct v4l2_requestbuffers request = {.count = 2, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR};
    REQUIRE(ioctl(camera, VIDIOC_REQBUFS, &request) == 0);
    struct v4l2_buffer buffer = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR, .m.userptr = (unsigned long)pages, .length = bytes};
    FAILS(ioctl(camera, VIDIOC_QBUF, &buffer), EFAULT);
    request.count = 0;
    REQUIRE(ioctl(camera, VIDIOC_REQBUFS, &request) == 0);
    close(camera);
    /* And all is as before. */
    close(streams());
    munmap(pages, 2 * page);
    return calls;
}

static void goes_while_it_streams(void) {
    /* Memory of the program's that is gone while it is queued. */
    int camera = open(node, O_RDWR | O_NONBLOCK);
    set_format(camera);
    struct v4l2_requestbuffers request = {.count = 2, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR};
    REQUIRE(ioctl(camera, VIDIOC_REQBUFS, &request) == 0);
    void *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct v4l2_buffer buffer = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_USERPTR, .m.userptr = (unsigned long)there, .length = bytes};
    REQUIRE(ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
    munmap(there, bytes);
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    REQUIRE(ioctl(camera, VIDIOC_STREAMON, &type) == 0);
    struct pollfd waited = {.fd = camera, .events = POLLIN};
    REQUIRE(poll(&waited, 1, PATIENCE) == 1);
    REQUIRE(ioctl(camera, VIDIOC_STREAMOFF, &type) == 0);
    close(camera);
    /* A raw close, which no hook sees, and a number that is somebody else's then. */
    camera = open(node, O_RDWR);
    syscall(SYS_close_range, camera, camera, 0);
    int other = open("/dev/null", O_RDWR);
    REQUIRE(other == camera);
    struct v4l2_capability has;
    REQUIRE(ioctl(other, VIDIOC_QUERYCAP, &has) < 0 && errno == ENOTTY);
    REQUIRE(read(other, &has, sizeof has) == 0);
    close(other);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "pictures") == 0) {
        signal(SIGPIPE, SIG_IGN);
        return pictures(words[2]);
    }
    if (count == 2 && strcmp(words[1], "begins") == 0) {
        int camera = open(node, O_RDWR);
        begin(camera, V4L2_MEMORY_MMAP);
        return close(camera);
    }
    if (count == 2 && strcmp(words[1], "nowhere") == 0) {
        printf("%u calls, all as it should be\n", points_nowhere());
        return 0;
    }
    looks_before_it_opens();
    looks_into_sysfs();
    reads();
    opens_twice();
    points_nowhere();
    forks();
    closes_all(false);
    closes_all(true);
    goes_while_it_streams();
    puts("all as it should be");
    return 0;
}
