/* A program of then: cameras with their formats and controls, a session with pictures and a bracket, and all that it reads of them. */
#include "camarb.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what) {
    if (holds) return;
    printf("FAILED: %s\n", what);
    exit(1);
}

static void look(const camarb_camera *cameras, size_t count) {
    for (size_t at = 0; at < count; at++) {
        const camarb_camera *camera = &cameras[at];
        const camarb_format *usual = &camera->formats[camera->default_format_index], *last = &camera->formats[camera->format_count - 1];
        require(camera->control_count > 3, "controls");
        const camarb_control *control = &camera->controls[camera->control_count - 1];
        printf("%s %s %s: %s to %s, zoom %g, %ux%u stills; %s; %s\n", camera->id, camera->position, camera->is_present ? "here" : "away",
            usual->name, last->name, usual->max_zoom_factor, last->high_resolution_still_width, last->high_resolution_still_height,
            control->key, camarb_camera_key(camera, 2));
    }
}

int main(int count, char **words) {
    camarb_client *client;
    require(count == 3 && camarb_client_new(&client, words[1]) == 0, "a client");
    require(camarb_call_finish(client, camarb_client_declare_app(client, "then"), -1, NULL) == 0, "a declaration");
    require(camarb_call_finish(client, camarb_client_watch_cameras(client), -1, NULL) == 0, "cameras");
    size_t cameras = 0;
    while (camarb_client_cameras(client, &cameras), cameras < 2 && camarb_client_wait(client, INT64_C(20000000000)) > 0)
        while (camarb_client_next_event(client)) {}
    look(camarb_client_cameras(client, &cameras), cameras);
    camarb_configuration *wanted = camarb_configuration_new();
    camarb_configuration_set_number(wanted, "frameRate", 25);
    camarb_session *session = camarb_session_new(client, "back", wanted);
    camarb_configuration_free(wanted);
    camarb_session_set_pictures(session, true);
    camarb_session_start(session);
    int files[2], photos = 0, frames = 0;
    for (int at = 0; at < 2; at++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%d.jpeg", words[2], at);
        files[at] = open(name, O_RDWR | O_CREAT, 0600);
    }
    while ((frames < 10 || photos < 2) && camarb_client_wait(client, INT64_C(20000000000)) > 0) {
        const camarb_event *event;
        while ((event = camarb_client_next_event(client))) {
            require(!*event->error, event->error);
            if (event->type == CAMARB_EVENT_DID_START_RUNNING) {
                require(event->session == session && event->grant > 0 && event->sequence > 0, "an event's fields");
                require(camarb_session_capture_bracket(session, files, 2, (double[]){-1, 1}, NULL, NULL) > 0, "a bracket");
            }
            if (event->type != CAMARB_EVENT_PHOTO_CAPTURED) continue;
            double bias;
            require(camarb_configuration_number(event->metadata, "exposureTargetBias", &bias) == 0, "how the photo was taken");
            require(event->width > 0 && event->bytes > 1000 && event->photo > 0 && event->frames_left_out == 0, "a photo's fields");
            photos++;
        }
        camarb_frame *frame;
        while ((frame = camarb_session_next_frame(session))) {
            const camarb_picture *picture = camarb_frame_picture(frame);
            require(picture->width == 1280 && picture->plane_count == 2 && picture->strides[1] >= 1280, "a picture");
            require(picture->planes[0][0] + picture->planes[1][0] > 0 && picture->captured > 0, "its memory");
            frames += camarb_frame_is_intact(frame);
            camarb_frame_release(frame);
        }
    }
    camarb_slate slate;
    memset(&slate, 0x55, sizeof slate);
    require(!camarb_session_slate(session, &slate), "no slate while it runs");
    require(camarb_call_finish(client, camarb_session_stop(session), -1, NULL) == 0, "a stop");
    while (camarb_session_state(session) == CAMARB_RUNNING && camarb_client_wait(client, INT64_C(20000000000)) > 0)
        while (camarb_client_next_event(client)) {}
    require(camarb_session_slate(session, &slate) && slate.camera[0] && slate.shows_interrupter == 0, "a slate when it is stopped");
    printf("%d photos, frames: %s\n", photos, frames >= 10 ? "enough" : "too few");
    camarb_client_free(client);
    return 0;
}
