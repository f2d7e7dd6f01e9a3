/* usage: mirror FRAMES          counts so many frames, says what happens to the camera meanwhile, and ends */
#include <camarb.h>

#include <stdio.h>
#include <stdlib.h>

static void tell(const camarb_event *event) {
    switch (event->type) {
    case CAMARB_EVENT_DID_START_RUNNING: puts("running"); break;
    case CAMARB_EVENT_WAS_INTERRUPTED:
    case CAMARB_EVENT_INTERRUPTION_CHANGED:
        printf("interrupted: %s%s%s\n", event->reason, *event->interrupter ? ", by " : "", event->interrupter);
        break;
    case CAMARB_EVENT_SESSION_STOPPED: printf("stopped: %s\n", event->reason); exit(1);
    case CAMARB_EVENT_ANSWERED: /* of calls that nobody waited for: only refusals are of interest */
    case CAMARB_EVENT_RUNTIME_ERROR:
    case CAMARB_EVENT_ENDED:
    case CAMARB_EVENT_DISCONNECTED:
        if (*event->error) printf("%s\n", event->error);
        if (event->type != CAMARB_EVENT_RUNTIME_ERROR && *event->error) exit(1);
        break;
    default: break;
    }
    fflush(stdout);
}

int main(int count, char **words) {
    int wanted = count > 1 ? atoi(words[1]) : 100, seen = 0;
    camarb_client *client;
    char why[512];
    if (camarb_client_new_explained(&client, NULL, why, sizeof why) < 0) {
        puts(why);
        return 1;
    }
    camarb_client_declare_app(client, "org.example.Mirror");
    camarb_session *session = camarb_session_new(client, "", NULL); /* "": the back camera, else the first */
    camarb_session_set_pictures(session, true);
    camarb_session_start(session);
    while (seen < wanted && camarb_client_wait(client, -1) >= 0) {
        const camarb_event *event;
        while ((event = camarb_client_next_event(client))) tell(event);
        camarb_frame *frame;
        while ((frame = camarb_session_next_frame(session))) {
            const camarb_picture *picture = camarb_frame_picture(frame);
            if (++seen == wanted) printf("%d frames of %ux%u\n", seen, picture->width, picture->height);
            camarb_frame_release(frame);
        }
    }
    camarb_client_free(client);
    return seen < wanted;
}
