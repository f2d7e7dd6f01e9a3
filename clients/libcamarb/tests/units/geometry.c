/* Previews and orientations: geometry.c. */
#include "camarb.h"
#include "units.h"

#include <math.h>

static const char *const videos[] = {"portrait", "portraitUpsideDown", "landscapeRight", "landscapeLeft"};
static const char *const devices[] = {"portrait", "portraitUpsideDown", "landscapeLeft", "landscapeRight"};
static const char *const positions[] = {"back", "front", "external"};

static void orientations(void) {
    const double quarters[] = {0, 2, -1, 1};
    for (int at = 0; at < 4; at++) {
        REQUIRE_TEXT(camarb_video_orientation(devices[at], "last"), videos[at]);
        REQUIRE_TEXT(camarb_device_orientation(videos[at]), devices[at]);
        REQUIRE(camarb_orientation_angle(videos[at]) == quarters[at] * M_PI_2);
    }
    const char *const unclear[] = {"faceUp", "faceDown", "unknown", "sideways", NULL};
    for (int at = 0; at < 5; at++) REQUIRE_TEXT(camarb_video_orientation(unclear[at], videos[3]), videos[3]);
    REQUIRE_TEXT(camarb_device_orientation("sideways"), "unknown");
    REQUIRE(isnan(camarb_orientation_angle("sideways")) && isnan(camarb_orientation_angle(NULL)));
    REQUIRE(camarb_orientation_exif("sideways", "back", false) == 0);
    REQUIRE(isnan(camarb_orientation_file_angle("portrait", "back", "sideways")));
}

/* In the order of `videos`: quarter turns with each of them as the reference, and Exif's numbers, plain and then mirrored. */
static void files(void) {
    const int back[4][4] = {{1, -1, 2, 0}, {-1, 1, 0, 2}, {0, 2, 1, -1}, {2, 0, -1, 1}};
    const int front[4][4] = {{1, -1, 0, 2}, {-1, 1, 2, 0}, {2, 0, 1, -1}, {0, 2, -1, 1}};
    const uint32_t exif_back[] = {6, 8, 1, 3, 5, 7, 2, 4}, exif_front[] = {6, 8, 3, 1, 5, 7, 4, 2};
    for (int at = 0; at < 3; at++)
        for (int video = 0; video < 4; video++) {
            bool is_front = at == 1;
            for (int device = 0; device < 4; device++)
                REQUIRE(camarb_orientation_file_angle(videos[video], positions[at], videos[device])
                    == (is_front ? front : back)[video][device] * M_PI_2);
            REQUIRE(camarb_orientation_file_angle(videos[video], positions[at], NULL)
                == camarb_orientation_file_angle(videos[video], positions[at], "portrait"));
            for (int mirrored = 0; mirrored < 2; mirrored++)
                REQUIRE(camarb_orientation_exif(videos[video], positions[at], mirrored)
                    == (is_front ? exif_front : exif_back)[mirrored * 4 + video]);
        }
}

static void gravities(void) {
    const struct {
        const char *gravity, *orientation;
        double view[2], picture[4];
    } cases[] = {
        {"resize", "landscapeRight", {640, 640}, {0, 0, 640, 640}},       {NULL, "landscapeRight", {640, 640}, {0, 140, 640, 360}},
        {"resizeAspect", "portrait", {640, 640}, {140, 0, 360, 640}},     {"resizeAspect", "portrait", {450, 1600}, {0, 400, 450, 800}},
        {"resizeAspectFill", "portrait", {450, 1600}, {-225, 0, 900, 1600}},
        {"resizeAspectFill", "landscapeLeft", {640, 360}, {0, 0, 640, 360}},
    };
    camarb_preview preview;
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        const double *view = cases[at].view, *wanted = cases[at].picture;
        REQUIRE(camarb_preview_place(&preview, 1280, 720, view[0], view[1], cases[at].gravity, cases[at].orientation, "back", -1) == 0);
        REQUIRE(preview.x == wanted[0] && preview.y == wanted[1] && preview.width == wanted[2] && preview.height == wanted[3]);
    }
    const double flat[] = {0, -1, INFINITY, NAN};
    for (int at = 0; at < 4; at++) {
        REQUIRE(camarb_preview_place(&preview, flat[at], 1, 1, 1, NULL, "portrait", "back", 0) == -EINVAL);
        REQUIRE(camarb_preview_place(&preview, 1, 1, 1, flat[at], NULL, "portrait", "back", 0) == -EINVAL);
    }
    REQUIRE(camarb_preview_place(&preview, 1, 1, 1, 1, "fill", "portrait", "back", 0) == -EINVAL);
    REQUIRE(camarb_preview_place(&preview, 1, 1, 1, 1, NULL, "up", "back", 0) == -EINVAL);
    REQUIRE(camarb_preview_place(NULL, 1, 1, 1, 1, NULL, "portrait", "back", 0) == -EINVAL);
}

/* The points of the sensor at the view's top left, top right and bottom left, by camera and orientation. */
static void corners(void) {
    const camarb_point seen[] = {{0, 0}, {375, 0}, {0, 667}};
    const double back[4][3][2] = {{{0, 1}, {0, 0}, {1, 1}}, {{1, 0}, {1, 1}, {0, 0}}, {{0, 0}, {1, 0}, {0, 1}}, {{1, 1}, {0, 1}, {1, 0}}};
    const double front[4][3][2] = {{{0, 0}, {0, 1}, {1, 0}}, {{1, 1}, {1, 0}, {0, 1}}, {{0, 1}, {1, 1}, {0, 0}}, {{1, 0}, {0, 0}, {1, 1}}};
    for (int at = 0; at < 3; at++)
        for (int video = 0; video < 4; video++) {
            camarb_preview preview;
            REQUIRE(camarb_preview_place(&preview, 1280, 720, 375, 667, "resize", videos[video], positions[at], -1) == 0);
            for (int corner = 0; corner < 3; corner++) {
                const double *wanted = (at == 1 ? front : back)[video][corner];
                camarb_point sensor = camarb_preview_device_point(&preview, seen[corner]);
                camarb_point view = camarb_preview_view_point(&preview, sensor);
                REQUIRE(sensor.x == wanted[0] && sensor.y == wanted[1] && view.x == seen[corner].x && view.y == seen[corner].y);
            }
        }
    camarb_preview preview;
    REQUIRE(camarb_preview_place(&preview, 1280, 720, 640, 640, NULL, "landscapeRight", "back", 0) == 0);
    camarb_point beside = camarb_preview_device_point(&preview, (camarb_point){160, 50});
    REQUIRE(beside.x == 0.25 && beside.y == -0.25 && isnan(camarb_preview_device_point(NULL, beside).x));
}

int main(void) {
    static const struct unit units[] = {
        {"a device's orientation is a video's, with left and right exchanged; faceUp, faceDown and unknown leave the last", orientations},
        {"a file is turned by video − reference + π/2, a front camera's the other way, and Exif's number is its", files},
        {"a picture fills a view's shape, keeps its own inside, or keeps its own and stands out; without area there is none", gravities},
        {"a view's corners are those of the sensor, by camera and orientation, and back; a front camera is mirrored", corners},
    };
    return units_run(units, sizeof units / sizeof *units, NULL, NULL);
}
