// The floor: one 64-byte frame there and back over a Unix stream socket, both ends with epoll, in two processes.
// usage: pingpong ROUNDTRIPS → nanoseconds a round trip
#include "bench.h"

static void serve(int socket) {
    int epoll = new_epoll();
    watch(epoll, socket, 0);
    for (;;) {
        struct epoll_event event;
        char frame[frame_bytes];
        if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
        if (!read_whole(socket, frame, sizeof frame)) _exit(0);
        write_whole(socket, frame, sizeof frame);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) die("usage: pingpong ROUNDTRIPS");
    long rounds = number(argv[1], 1, 100000000);
    int sockets[2];
    pair(sockets, SOCK_STREAM);
    pid_t server = child();
    if (server == 0) {
        close(sockets[0]);
        serve(sockets[1]);
    }
    close(sockets[1]);
    int epoll = new_epoll();
    watch(epoll, sockets[0], 0);
    char frame[frame_bytes] = {0};
    int64_t begun = 0;
    // The first tenth warms caches and branch predictors up and is not counted.
    for (long i = -rounds / 10; i < rounds; i++) {
        if (i == 0) begun = now_ns();
        write_whole(sockets[0], frame, sizeof frame);
        struct epoll_event event;
        while (epoll_wait(epoll, &event, 1, -1) < 1) {}
        if (!read_whole(sockets[0], frame, sizeof frame)) die("the server ended");
    }
    printf("%.1f\n", (double)(now_ns() - begun) / rounds);
    close(sockets[0]);
    waitpid(server, NULL, 0);
}
