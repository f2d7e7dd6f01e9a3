/* Reads slates back: letter by letter, out of what camarb_slate_draw has made, in each format, at several sizes and strides. To be built
 * with AddressSanitizer: planes have not a byte more than they need.
 *
 * usage: slate          exits with 0 and says how many pictures it has read */
#include "../../libcamarb/camarb-slate.h"
#include "../../libcamarb/slate-font.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *test = "";

#define REQUIRE(condition, ...)                                                                                                            \
    do {                                                                                                                                   \
        if (!(condition)) {                                                                                                                \
            fprintf(stderr, "FAILED %s:%d: %s: ", __FILE__, __LINE__, test);                                                               \
            fprintf(stderr, __VA_ARGS__);                                                                                                  \
            fprintf(stderr, "\n");                                                                                                         \
            exit(1);                                                                                                                       \
        }                                                                                                                                  \
    } while (0)

struct picture {
    char fourcc[5];
    uint32_t width, height;
    uint8_t *planes[4];
    uint32_t strides[4], rows[4];
    uint32_t count, step;
};

static struct picture make(const char *fourcc, uint32_t width, uint32_t height, uint32_t more, int filling) {
    struct picture made = {.width = width, .height = height, .count = 1, .step = 1};
    memcpy(made.fourcc, fourcc, 5);
    uint32_t half = (width + 1) / 2;
    made.strides[0] = width;
    made.rows[0] = height;
    if (strcmp(fourcc, "NV12") == 0) {
        made.count = 2;
        made.strides[1] = half * 2;
    } else if (strcmp(fourcc, "YU12") == 0) {
        made.count = 3;
        made.strides[1] = made.strides[2] = half;
    } else if (strcmp(fourcc, "YUYV") == 0) {
        made.step = 2;
        made.strides[0] = half * 4;
    } else {
        made.step = strcmp(fourcc, "RGB3") == 0 ? 3 : 4;
        made.strides[0] = width * made.step;
    }
    for (uint32_t plane = 0; plane < made.count; plane++) {
        if (plane) made.rows[plane] = (height + 1) / 2;
        made.strides[plane] += more;
        size_t bytes = (size_t)made.strides[plane] * made.rows[plane];
        made.planes[plane] = malloc(bytes);
        REQUIRE(made.planes[plane], "no memory");
        memset(made.planes[plane], filling, bytes);
    }
    return made;
}

static struct picture draw(const camarb_slate *slate, const char *fourcc, uint32_t width, uint32_t height, uint32_t more, int filling) {
    struct picture made = make(fourcc, width, height, more, filling);
    REQUIRE(camarb_slate_draw(slate, fourcc, width, height, made.planes, made.strides) == 0, "it was not drawn");
    return made;
}

static void drop(struct picture *picture) {
    for (uint32_t plane = 0; plane < picture->count; plane++) free(picture->planes[plane]);
}

static int is_lit(const struct picture *picture, uint32_t x, uint32_t y) {
    return picture->planes[0][(size_t)y * picture->strides[0] + (size_t)x * picture->step] > 200;
}

static uint64_t half(const uint8_t *rows) {
    uint64_t all = 0;
    for (int row = 0; row < 8; row++) all = all << 8 | rows[row];
    return all;
}

/* The letter of a cell, whose every pixel has to be right; 0: an empty one; -1: none. */
static int letter_at(const struct picture *picture, uint32_t left, uint32_t top, uint32_t side) {
    uint8_t rows[SLATE_GLYPH_HEIGHT] = {0};
    for (uint32_t y = 0; y < SLATE_GLYPH_HEIGHT * side; y++)
        for (uint32_t x = 0; x < SLATE_GLYPH_WIDTH * side; x++) {
            int lit = is_lit(picture, left + x, top + y), corner = is_lit(picture, left + x / side * side, top + y / side * side);
            if (lit != corner) return -1;
            if (lit) rows[y / side] |= 0x80 >> x / side;
        }
    static const uint8_t none[SLATE_GLYPH_HEIGHT];
    if (memcmp(rows, none, sizeof rows) == 0) return 0;
    const struct slate_glyph *glyph = slate_glyphs;
    for (size_t run = 0; run < sizeof slate_runs / sizeof *slate_runs; run++)
        for (int at = 0; at < slate_runs[run].count; at++, glyph++)
            if (half(rows) == glyph->upper && half(rows + 8) == glyph->lower) return slate_runs[run].first + at;
    /* A box: two full rows and nothing else but sides. */
    if (rows[3] == 0x7e && rows[11] == 0x7e && rows[5] == 0x42) return '#';
    return -1;
}

/* The picture's whole text, lines joined by spaces; latin letters of one byte only ('?' for others). */
static const char *text_of(const struct picture *picture) {
    static char text[4096];
    uint32_t across = picture->width / 320, down = picture->height / 180;
    uint32_t side = across < down ? across : down;
    if (!side) side = 1;
    uint32_t margin = picture->width < 320 ? 0 : SLATE_GLYPH_WIDTH * side;
    /* Lines are whole ones around the middle, so that their tops are known but for half a line. */
    for (uint32_t parity = 0; parity < 2; parity++) {
        size_t count = 0;
        int good = 1, any = 0;
        uint32_t line = SLATE_GLYPH_HEIGHT * side, columns = (picture->width - 2 * margin) / (SLATE_GLYPH_WIDTH * side);
        uint32_t lines = picture->height / line;
        if (lines % 2 != parity) lines--;
        uint32_t top = (picture->height - lines * line) / 2;
        for (uint32_t row = 0; row < lines && good; row++) {
            if (count && text[count - 1] != ' ') text[count++] = ' ';
            for (uint32_t column = 0; column < columns && good; column++) {
                int letter = letter_at(picture, margin + column * SLATE_GLYPH_WIDTH * side, top + row * line, side);
                if (letter < 0) good = 0;
                if (letter > 0) any = 1;
                if (letter == 0 && (!count || text[count - 1] == ' ')) continue;
                text[count++] = letter == 0 ? ' ' : letter < 0x80 ? (char)letter : letter == 0xe9 ? 'e' : '?';
            }
        }
        while (count && text[count - 1] == ' ') count--;
        text[count] = 0;
        if (good && any) return text;
    }
    return "(unreadable)";
}

static unsigned pictures;

static void reads(const camarb_slate *slate, const char *fourcc, uint32_t width, uint32_t height, uint32_t more, const char *expected) {
    char name[128];
    snprintf(name, sizeof name, "%s %ux%u+%u", fourcc, width, height, more);
    test = name;
    struct picture first = draw(slate, fourcc, width, height, more, 0x00), second = draw(slate, fourcc, width, height, more, 0xff);
    for (uint32_t plane = 0; plane < first.count; plane++)
        REQUIRE(
            memcmp(first.planes[plane], second.planes[plane], (size_t)first.strides[plane] * first.rows[plane]) == 0,
            "something of what was there is kept in plane %u", plane);
    const char *text = text_of(&first);
    REQUIRE(strncmp(text, expected, strlen(expected)) == 0, "it says “%s”, not “%s”", text, expected);
    pictures++;
    drop(&first);
    drop(&second);
}

/* A pixel of the first plane as it is in a slate: the ground, the sign, or a letter. */
enum { GROUND, SIGN, LETTER };

static int part_of(const struct picture *picture, uint32_t x, uint32_t y) {
    if (is_lit(picture, x, y)) return LETTER;
    return picture->planes[0][(size_t)y * picture->strides[0] + (size_t)x * picture->step] == picture->planes[0][0] ? GROUND : SIGN;
}

/* Each kind's sign, and that it is no other kind's. */
static void mirrors(const char *fourcc, const uint32_t size[3]) {
    char name[128];
    snprintf(name, sizeof name, "the sign in %s %ux%u", fourcc, size[0], size[1]);
    test = name;
    struct picture drawn[CAMARB_SLATE_NO_BROKER + 1];
    for (int kind = CAMARB_SLATE_WAITING; kind <= CAMARB_SLATE_NO_BROKER; kind++) {
        camarb_slate slate = {.kind = (enum camarb_slate_kind)kind, .camera = "front", .reason = "", .interrupter = ""};
        struct picture picture = drawn[kind] = draw(&slate, fourcc, size[0], size[1], size[2], 0);
        uint64_t signs = 0;
        for (uint32_t y = 0; y < size[1]; y++)
            for (uint32_t x = 0; x < size[0]; x++) {
                int part = part_of(&picture, x, y), other = part_of(&picture, size[0] - 1 - x, y);
                REQUIRE(part == other || part == LETTER || other == LETTER, "kind %d is another in a mirror at %u,%u", kind, x, y);
                signs += part == SIGN;
            }
        REQUIRE(signs * 100 > (uint64_t)size[0] * size[1] * 2, "kind %d has a sign of %lu pixels", kind, (unsigned long)signs);
        for (int before = CAMARB_SLATE_WAITING; before < kind; before++) {
            uint64_t differing = 0;
            for (uint32_t y = 0; y < size[1]; y++)
                for (uint32_t x = 0; x < size[0]; x++) {
                    int one = part_of(&picture, x, y), other = part_of(&drawn[before], x, y);
                    differing += one != other && one != LETTER && other != LETTER;
                }
            REQUIRE(differing * 100 > (uint64_t)size[0] * size[1] * 2, "kind %d has the sign of %d", kind, before);
        }
        pictures++;
    }
    for (int kind = CAMARB_SLATE_WAITING; kind <= CAMARB_SLATE_NO_BROKER; kind++) drop(&drawn[kind]);
}

int main(void) {
    static const char *const formats[] = {"NV12", "YU12", "YUYV", "BGRx", "XR24", "RGB3"};
    static const uint32_t sizes[][3] = {{320, 180, 0}, {320, 180, 13}, {321, 181, 1}, {640, 480, 64}, {1280, 720, 0}, {1919, 1079, 7}};
    const camarb_slate used = {
        .kind = CAMARB_SLATE_INTERRUPTED, .camera = "Caf\xc3\xa9 camera", .reason = "video-device-in-use-by-another-client", .interrupter = "booth",
        .shows_interrupter = 1};
    const char *said = "Cafe camera Another app has the camera. By: booth It comes back by itself.";
    for (size_t format = 0; format < sizeof formats / sizeof *formats; format++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            reads(&used, formats[format], sizes[size][0], sizes[size][1], sizes[size][2], said);
    /* The interrupter is named only where shows_interrupter, since others may look on. */
    camarb_slate nameless = used;
    nameless.shows_interrupter = 0;
    reads(&nameless, "NV12", 640, 480, 0, "Cafe camera Another app has the camera. It comes back by itself.");
    /* A policy's own words stand in the place of the cause's, and no advice beside them that could contradict them. */
    camarb_slate closed = nameless;
    closed.reason = "video-device-not-available-in-background";
    closed.message = "Closed until 8:00.";
    reads(&closed, "NV12", 640, 480, 0, "Cafe camera Closed until 8:00. It comes back by itself.");
    closed.kind = CAMARB_SLATE_NO_ACCESS;
    reads(&closed, "NV12", 640, 480, 0, "Cafe camera Closed until 8:00.");
    /* Where there is little room, the beginning. */
    reads(&used, "YUYV", 64, 48, 0, "Cafe");
    reads(&used, "NV12", 65, 49, 3, "Cafe");
    reads(&used, "NV12", 160, 120, 0, "Cafe camera Another app has");

    /* Each cause of docs/semantics.md has a sentence, and not its own name. */
    static const char *const causes[] = {
        "video-device-not-available-in-background", "audio-device-in-use-by-another-client", "video-device-in-use-by-another-client",
        "video-device-not-available-with-multiple-foreground-apps", "video-device-not-available-due-to-system-pressure",
        "sensitive-content-mitigation-activated", "video-device-disconnected", "video-device-blocked-by-privacy", "login-session-inactive",
        "system-sleep", "device-error", "recorder-reset", "broker-restarted", "evicted", "lease-expired", "denied-by-policy",
        "configuration-lost", "recorder-failed", "waiting-for-permission", "stopped-by-user", "denied-by-user"};
    char before[512] = "";
    for (size_t at = 0; at < sizeof causes / sizeof *causes; at++) {
        camarb_slate slate = {.kind = CAMARB_SLATE_INTERRUPTED, .camera = "front", .reason = causes[at], .interrupter = ""};
        test = causes[at];
        struct picture picture = draw(&slate, "NV12", 320, 180, 0, 0);
        const char *text = text_of(&picture);
        REQUIRE(strncmp(text, "front ", 6) == 0 && strlen(text) > 30 && text[strlen(text) - 1] == '.', "it says “%s”", text);
        REQUIRE(!strstr(text, causes[at]) && strcmp(text, before) != 0, "it says “%s”", text);
        snprintf(before, sizeof before, "%s", text);
        drop(&picture);
        pictures++;
    }

    /* The slate of a privacy switch looks like no other. */
    uint8_t grounds[5][3];
    for (int kind = CAMARB_SLATE_WAITING; kind <= CAMARB_SLATE_NO_BROKER; kind++) {
        camarb_slate slate = {.kind = (enum camarb_slate_kind)kind, .camera = "front", .reason = "", .interrupter = ""};
        test = "kinds";
        struct picture picture = draw(&slate, "RGB3", 320, 180, 0, 0);
        memcpy(grounds[kind], picture.planes[0], 3);
        for (int other = CAMARB_SLATE_WAITING; other < kind; other++)
            REQUIRE(memcmp(grounds[kind], grounds[other], 3) != 0, "%d looks like %d", kind, other);
        drop(&picture);
        pictures++;
    }

    /* Behind its words each has a sign of its own, which is the same in a mirror. */
    for (size_t format = 0; format < sizeof formats / sizeof *formats; format++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            if (format == 0 || sizes[size][0] == 321) mirrors(formats[format], sizes[size]);

    /* Names come from others: any bytes, any length. */
    char name[2001];
    unsigned chance = 1;
    for (int round = 0; round < 200; round++) {
        size_t length = (size_t)round * 10;
        for (size_t at = 0; at < length; at++) {
            chance = chance * 1103515245 + 12345;
            name[at] = (char)(chance >> 16 ? chance >> 16 : 1);
            if (!name[at]) name[at] = 'x';
        }
        name[length] = 0;
        camarb_slate slate = {.kind = CAMARB_SLATE_NO_ACCESS, .camera = name, .reason = name, .interrupter = name};
        test = "any bytes";
        struct picture picture = draw(&slate, "YU12", 64 + (uint32_t)round, 48 + (uint32_t)round * 2, 1, 0);
        drop(&picture);
        pictures++;
    }
    const camarb_slate boxed = {.kind = CAMARB_SLATE_WAITING, .camera = "a\xe6\x97\xa5z\xff!", .reason = "", .interrupter = ""};
    reads(&boxed, "NV12", 320, 180, 0, "a#z#! The camera is being started.");

    /* However long the names that others have given themselves: why, and what happens next, is still said where it is just legible. */
    memset(name, 'x', sizeof name - 1);
    for (size_t at = 5; at < sizeof name; at += 7) name[at] = ' ';
    name[sizeof name - 1] = 0;
    for (size_t at = 0; at < sizeof causes / sizeof *causes; at++) {
        camarb_slate slate = {.kind = CAMARB_SLATE_INTERRUPTED, .camera = "front", .reason = causes[at], .interrupter = ""};
        test = causes[at];
        struct picture picture = draw(&slate, "NV12", 320, 180, 0, 0);
        snprintf(before, sizeof before, "%s", text_of(&picture) + sizeof "front");
        slate.camera = slate.interrupter = name;
        slate.shows_interrupter = 1;
        REQUIRE(camarb_slate_draw(&slate, "NV12", 320, 180, picture.planes, picture.strides) == 0, "it was not drawn");
        const char *text = text_of(&picture), *stop = strchr(before, '.') + 1;
        REQUIRE(strlen(text) > strlen(stop) && strcmp(text + strlen(text) - strlen(stop), stop) == 0, "it says “%s”", text);
        before[stop - before] = 0;
        REQUIRE(strstr(text, before) && strstr(text, " By: xxxxx"), "it says “%s”", text);
        drop(&picture);
        pictures++;
    }

    test = "refusals";
    struct picture small = make("NV12", 64, 48, 0, 0);
    REQUIRE(camarb_slate_draw(&used, "NV12", 63, 48, small.planes, small.strides) == -EINVAL, "63 pixels are too few");
    REQUIRE(camarb_slate_draw(&used, "NV12", 64, 47, small.planes, small.strides) == -EINVAL, "47 pixels are too few");
    REQUIRE(camarb_slate_draw(&used, "MJPG", 64, 48, small.planes, small.strides) == -EINVAL, "MJPG is no raw format");
    REQUIRE(camarb_slate_draw(&used, "NV12", 66, 48, small.planes, small.strides) == -EINVAL, "the stride is too short");
    REQUIRE(camarb_slate_draw(NULL, "NV12", 64, 48, small.planes, small.strides) == -EINVAL, "NULL");
    drop(&small);
    printf("%u slates read\n", pictures);
    return 0;
}
