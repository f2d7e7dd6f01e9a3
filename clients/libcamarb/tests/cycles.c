/* Connects, runs a session, looks at pictures and frees everything, again and again: for whoever looks for leaks.
 * usage: cycles ADDRESS COUNT */
#include "camarb.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int64_t result, camarb_client *client, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "%s: %lld: %s\n", what, (long long)result, camarb_client_error(client));
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        camarb_client *client;
        check(camarb_client_new(&client, argv[1]), NULL, "camarb_client_new");
        check(camarb_client_declare_app(client, "cycles"), client, "camarb_client_declare_app");
        check(camarb_call_finish(client, camarb_client_watch_cameras(client), -1, NULL), client, "camarb_client_watch_cameras");
        camarb_configuration *wanted = camarb_configuration_new();
        camarb_configuration_set_number(wanted, "frameRate", 30);
        camarb_configuration_set_number(wanted, "frameRate", 20);
        camarb_session *session = camarb_session_new(client, "front", wanted), *other = camarb_session_new(client, "", NULL);
        camarb_configuration_free(wanted);
        camarb_session_set_pictures(session, true);
        check(camarb_session_start(session), client, "camarb_session_start");
        camarb_frame *frame = NULL;
        while (!frame) {
            check(camarb_client_wait(client, -1), client, "camarb_client_wait");
            while (camarb_client_next_event(client)) {}
            frame = camarb_session_next_frame(session);
        }
        /* Some things are freed, some are left to the client: a frame, a session, a call that nobody waits for. */
        check(camarb_session_configure(other, camarb_session_configuration(session)), client, "camarb_session_configure");
        if (i % 2 == 0) camarb_frame_release(frame);
        if (i % 3 == 0) camarb_session_free(session);
        camarb_client_free(client);
    }
    return 0;
}
