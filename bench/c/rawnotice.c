// One notice to many clients by bare sends: a send for each socket, and nothing else.
// The clients sit in one other process, which reads everything before the next notice goes out.
// usage: rawnotice CLIENTS NOTICES BYTES → nanoseconds of processor time the sender spends on one notice to all
#include "bench.h"
#include <sys/resource.h>

int main(int argc, char **argv) {
    if (argc != 4) die("usage: rawnotice CLIENTS NOTICES BYTES");
    int clients = number(argv[1], 1, 100000), notices = number(argv[2], 1, 1000000), bytes = number(argv[3], 1, 65536);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int (*sockets)[2] = calloc(clients, sizeof *sockets), done[2];
    for (int i = 0; i < clients; i++) pair(sockets[i], SOCK_STREAM);
    pair(done, SOCK_STREAM);
    char *message = calloc(1, bytes);
    if (child() == 0) {
        close(done[0]);
        int epoll = new_epoll();
        for (int i = 0; i < clients; i++) {
            close(sockets[i][0]);
            if (watch(epoll, sockets[i][1], i) < 0) die("epoll_ctl: %s", strerror(errno));
        }
        for (;;) {
            for (int got = 0; got < clients;) {
                struct epoll_event events[64];
                int n = epoll_wait(epoll, events, 64, -1);
                for (int e = 0; e < n; e++, got++)
                    if (!read_whole(sockets[events[e].data.u64][1], message, bytes)) _exit(0);
            }
            write_whole(done[1], "", 1);
        }
    }
    for (int i = 0; i < clients; i++) close(sockets[i][1]);
    close(done[1]);
    int64_t spent = 0;
    for (int k = -1; k < notices; k++) {
        int64_t begun = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < clients; i++) write_whole(sockets[i][0], message, bytes);
        if (k >= 0) spent += nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begun;
        char byte;
        if (!read_whole(done[0], &byte, 1)) die("the clients ended");
    }
    printf("%.1f\n", (double)spent / notices);
}
