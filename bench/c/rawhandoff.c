// A handoff with raw 64-byte frames: B takes, the broker interrupts A, A releases, B is granted.
// With `recorder` a third process cuts A's stream and opens B's, as camarb's recorder core does, and A's word
// is not waited for: the same duties as camarbd's, without a bus, a policy, or anything to decide.
// usage: rawhandoff HANDOFFS [recorder] → nanoseconds a handoff
#include "bench.h"

enum kind { take, interrupt, release, granted, cut, is_cut, open_, is_open };
struct frame { uint32_t kind; char rest[frame_bytes - 4]; };

static void put(int socket, enum kind kind) {
    struct frame frame = {.kind = kind};
    write_whole(socket, &frame, sizeof frame);
}

static int get(int socket, enum kind *kind) {
    struct frame frame;
    if (!read_whole(socket, &frame, sizeof frame)) return 0;
    *kind = frame.kind;
    return 1;
}

// sockets: the two clients, then the recorder (or -1).
static void broker(int sockets[3]) {
    int epoll = new_epoll(), holder = -1, next = -1;
    for (int i = 0; i < 3; i++) if (sockets[i] >= 0) watch(epoll, sockets[i], i);
    int recorder = sockets[2];
    for (;;) {
        struct epoll_event event;
        enum kind kind;
        if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
        int from = (int)event.data.u64;
        if (!get(sockets[from], &kind)) _exit(0);
        switch (kind) {
        case take:
            next = from;
            if (holder < 0) {
                holder = next;
                put(sockets[holder], granted);
                break;
            }
            if (recorder >= 0) put(recorder, cut);
            put(sockets[holder], interrupt);
            break;
        case release:
            if (recorder >= 0) break;
            holder = next;
            put(sockets[holder], granted);
            break;
        case is_cut: put(recorder, open_); break;
        case is_open:
            holder = next;
            put(sockets[holder], granted);
            break;
        default: die("the broker got a frame of kind %u", kind);
        }
    }
}

static void record(int socket) {
    int epoll = new_epoll();
    watch(epoll, socket, 0);
    for (;;) {
        struct epoll_event event;
        enum kind kind;
        if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
        if (!get(socket, &kind)) _exit(0);
        put(socket, kind == cut ? is_cut : is_open);
    }
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) die("usage: rawhandoff HANDOFFS [recorder]");
    long rounds = number(argv[1], 1, 100000000);
    int with_recorder = argc == 3;
    int clients[2][2], recorder[2] = {-1, -1};
    pair(clients[0], SOCK_STREAM);
    pair(clients[1], SOCK_STREAM);
    if (with_recorder) pair(recorder, SOCK_STREAM);
    if (with_recorder && child() == 0) {
        close(clients[0][0]), close(clients[1][0]), close(clients[0][1]), close(clients[1][1]), close(recorder[0]);
        record(recorder[1]);
    }
    if (child() == 0) {
        close(clients[0][0]), close(clients[1][0]);
        if (with_recorder) close(recorder[1]);
        broker((int[3]){clients[0][1], clients[1][1], recorder[0]});
    }
    int epoll = new_epoll();
    for (int i = 0; i < 2; i++) watch(epoll, clients[i][0], i);
    int64_t spent = 0;
    for (long i = -rounds / 10 - 1; i < rounds; i++) {
        int taker = i & 1, has = 0;
        // The first take finds no holder: nobody is interrupted, so nothing is waited for but the grant.
        int told = i == -rounds / 10 - 1;
        int64_t begun = now_ns();
        put(clients[taker][0], take);
        while (!has || !told) {
            struct epoll_event events[2];
            int n = epoll_wait(epoll, events, 2, -1);
            for (int e = 0; e < n; e++) {
                int at = (int)events[e].data.u64;
                enum kind kind;
                if (!get(clients[at][0], &kind)) die("the broker ended");
                if (kind == interrupt) {
                    put(clients[at][0], release);
                    told = 1;
                } else if (kind == granted) {
                    has = 1;
                }
            }
        }
        if (i >= 0) spent += now_ns() - begun;
    }
    printf("%.1f\n", (double)spent / rounds);
    for (int i = 0; i < 2; i++) close(clients[i][0]);
}
