// A 1920x1080 NV12 frame from one process to another, filling and looking at it excluded.
//   descriptor  a 40-byte record on a SOCK_SEQPACKET socket names a buffer both have; the index comes back.
//               POOL buffers are on their way at most, as in a stream's pool; 1 waits for each frame's return.
//   socket      the 3,110,400 bytes go through a stream socket; one byte comes back
//   pass        for comparison, the descriptor itself is passed each time
// usage: frames descriptor|socket|pass FRAMES [POOL] → nanoseconds a frame
#include "bench.h"
#include <sys/mman.h>

enum { width = 1920, height = 1080, picture_bytes = width * height * 3 / 2, record_bytes = 40 };

static void send_record(int socket, const void *record, int descriptor) {
    struct iovec part = {.iov_base = (void *)record, .iov_len = record_bytes};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    if (sendmsg(socket, &message, MSG_NOSIGNAL) == record_bytes) return;
    // The reader may still return buffers when the last frame was counted and the sender has left.
    if (errno == EPIPE) _exit(0);
    die("sendmsg: %s", strerror(errno));
}

// 1: a record; 0: the end; -1: nothing there now (only with MSG_DONTWAIT).
static int receive_record(int socket, void *record, int flags) {
    struct iovec part = {.iov_base = record, .iov_len = record_bytes};
    char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (n == 0) return 0;
    if (n < 0 && errno == EAGAIN) return -1;
    if (n != record_bytes) die("recvmsg: %s", strerror(errno));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
        close(descriptor);
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 4) die("usage: frames descriptor|socket|pass FRAMES [POOL]");
    int whole = strcmp(argv[1], "socket") == 0, pass = strcmp(argv[1], "pass") == 0;
    if (!whole && !pass && strcmp(argv[1], "descriptor") != 0) die("unknown way \"%s\"", argv[1]);
    long frames = number(argv[2], 1, 100000000);
    long pool = argc == 4 ? number(argv[3], 1, 64) : 1, away = 0;
    int sockets[2];
    pair(sockets, whole ? SOCK_STREAM : SOCK_SEQPACKET);
    int memory = memfd_create("frame", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, picture_bytes) < 0) die("memfd: %s", strerror(errno));
    char *picture = mmap(NULL, picture_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory, 0);
    if (picture == MAP_FAILED) die("mmap: %s", strerror(errno));
    memset(picture, 0x80, picture_bytes);
    char record[record_bytes] = {0};
    pid_t reader = child();
    if (reader == 0) {
        close(sockets[0]);
        char *into = malloc(picture_bytes);
        memset(into, 0, picture_bytes);
        int epoll = new_epoll();
        watch(epoll, sockets[1], 0);
        for (;;) {
            struct epoll_event event;
            if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
            if (whole) {
                if (!read_whole(sockets[1], into, picture_bytes)) _exit(0);
                write_whole(sockets[1], "", 1);
            } else {
                int got;
                while ((got = receive_record(sockets[1], record, MSG_DONTWAIT)) > 0) send_record(sockets[1], record, -1);
                if (got == 0) _exit(0);
            }
        }
    }
    close(sockets[1]);
    int epoll = new_epoll();
    watch(epoll, sockets[0], 0);
    int64_t begun = 0;
    for (long i = -frames / 10; i < frames; i++) {
        if (i == 0) begun = now_ns();
        if (whole) write_whole(sockets[0], picture, picture_bytes);
        else send_record(sockets[0], record, pass ? memory : -1);
        if (++away < pool) continue;
        struct epoll_event event;
        while (epoll_wait(epoll, &event, 1, -1) < 1) {}
        if (whole) {
            if (!read_whole(sockets[0], record, 1)) die("the reader ended");
            away--;
            continue;
        }
        // Everything that came back is taken at once, as a stream does.
        int got;
        while (away > 0 && (got = receive_record(sockets[0], record, MSG_DONTWAIT)) >= 0) {
            if (got == 0) die("the reader ended");
            away--;
        }
    }
    printf("%.1f\n", (double)(now_ns() - begun) / frames);
    close(sockets[0]);
    waitpid(reader, NULL, 0);
}
