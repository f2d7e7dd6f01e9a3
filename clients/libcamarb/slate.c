/* Slates: pictures in a camera's place that say why it is not there, for programs that cannot be told otherwise.
 *
 * A slate is text on one colour: the camera's name, why it is away, which app has it if that is wanted, and what happens next. The colour
 * is its kind's: what the user has switched off must not look like what comes back by itself. So is the sign behind the text, for those who
 * see the picture small, or mirrored, as many programs show their user. White dots are set in the luma alone, so that all formats show the
 * same picture; colour has half its resolution anyway. */
#include "camarb-slate.h"

#include "slate-font.h"
#include "utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    WIDTH_MIN = 64,
    HEIGHT_MIN = 48,
    SIDE_MAX = 16384,
    /* From this size on a letter's dot is one pixel more: 40 columns and 11 rows are there at every multiple of it. */
    LEGIBLE_WIDTH = 320,
    LEGIBLE_HEIGHT = 180,
    COLUMNS_MAX = 80,
    ROWS_MAX = 40,
    /* Of one text, in letters: what is longer ends in an ellipsis. Names come from others, and leave room for what the slate is there to say:
     * two names of two lines, a sentence of five and one of two are the rows of the smallest legible picture. */
    LETTERS_MAX = 160,
    NAME_LETTERS_MAX = 48,
    PARAGRAPHS = 4,
    /* Stands for what the font lacks: a box. Private use, and so in no font. */
    BOX = 0xe000,
    ELLIPSIS = 0x2026,
};

/* In video range, and as BGR for the formats that have no luma. */
struct paint {
    uint8_t y, u, v, blue, green, red;
};

static const struct paint letters = {235, 128, 128, 255, 255, 255};

/* ── What it says ───────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct sentence {
    const char *cause, *why, *next;
};

static const char by_itself[] = "It comes back by itself.";

/* By the causes and the terminal stops of docs/semantics.md. */
static const struct sentence sentences[] = {
    {"video-device-not-available-in-background", "This app is in the background.", "The picture comes back when it is in front."},
    {"audio-device-in-use-by-another-client", "Another app has the microphone.", by_itself},
    {"video-device-in-use-by-another-client", "Another app has the camera.", by_itself},
    {"video-device-not-available-with-multiple-foreground-apps", "Several apps are in front, and one may have the camera.", by_itself},
    {"video-device-not-available-due-to-system-pressure", "This machine is too hot or too busy.", by_itself},
    {"sensitive-content-mitigation-activated", "The picture was found to be sensitive.", "Stop the camera in this app and start it again."},
    {"video-device-disconnected", "The camera is unplugged.", "Plug it in, and the picture comes back."},
    {"video-device-blocked-by-privacy", "The camera is switched off for privacy.", "Switch it on, and the picture comes back."},
    {"login-session-inactive", "This login session is locked or not in front.", by_itself},
    {"system-sleep", "This machine goes to sleep.", by_itself},
    {"device-error", "The camera has a fault and is tried again.", by_itself},
    {"recorder-reset", "The camera had a fault and is started again.", by_itself},
    {"broker-restarted", "The camera service was started again.", by_itself},
    {"waiting-for-permission", "You are asked whether this app may use the camera.", "Allow it, and the picture comes."},
    {"evicted", "Another app has taken the camera.", "Start the camera again in this app."},
    {"lease-expired", "This app's time with the camera is over.", "Start the camera again in this app."},
    {"denied-by-policy", "This app may not use the camera.", "This machine's administrator may allow it."},
    {"configuration-lost", "The camera that came back lacks this format.", "Start the camera again in this app."},
    {"stopped-by-user", "You have stopped the camera in this app.", "Start the camera again in this app."},
    {"denied-by-user", "You have said that this app may not use the camera.", "camclient apps allow changes that; then start it again."},
    {"recorder-failed", "The camera fails again and again.", "Plug it in anew, then start it again in this app."},
};

/* By kind: its ground, and what it says where no cause is known: why, where there is no reason either, and what happens next. */
static const struct kind {
    struct paint ground;
    const char *why, *next;
} kinds[] = {
    [CAMARB_SLATE_WAITING] = {{40, 128, 128, 28, 28, 28}, "The camera is being started.", ""}, /* grey */
    [CAMARB_SLATE_INTERRUPTED] = {{56, 152, 116, 87, 47, 31}, "The camera is away.", by_itself}, /* blue */
    [CAMARB_SLATE_SWITCHED_OFF] = /* red */
        {{64, 112, 180, 24, 19, 139}, "The camera is switched off.", "Switch it on, and the picture comes back."},
    [CAMARB_SLATE_NO_ACCESS] = /* brown */
        {{70, 100, 150, 7, 56, 98}, "This app may not use the camera.", "This machine's administrator may allow it."},
    [CAMARB_SLATE_NO_BROKER] = /* violet */
        {{56, 146, 146, 84, 26, 76}, "The camera service does not run.", "The picture comes back when it runs again."},
    /* A later version's. */
    {{40, 128, 128, 28, 28, 28}, "", by_itself},
};

static const struct kind *kind_of(const camarb_slate *slate) {
    const size_t last = sizeof kinds / sizeof *kinds - 1;
    return &kinds[(size_t)slate->kind < last ? (size_t)slate->kind : last];
}

static struct sentence says(const camarb_slate *slate) {
    const char *reason = slate->reason ? slate->reason : "";
    for (size_t at = 0; at < sizeof sentences / sizeof *sentences; at++)
        if (strcmp(reason, sentences[at].cause) == 0) return sentences[at];
    const struct kind *kind = kind_of(slate);
    return (struct sentence){"", *reason ? reason : kind->why, kind->next};
}

/* ── Letters ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static const struct slate_glyph *glyph(uint16_t letter) {
    static const struct slate_glyph box = {0x0000007e42424242, 0x4242427e00000000};
    size_t before = 0;
    for (size_t run = 0; run < sizeof slate_runs / sizeof *slate_runs; before += slate_runs[run++].count) {
        uint32_t at = (uint32_t)letter - slate_runs[run].first;
        if (at < slate_runs[run].count) return &slate_glyphs[before + at];
    }
    return &box;
}

static bool is_lit(const struct slate_glyph *glyph, uint32_t row, uint32_t column) {
    return (row < 8 ? glyph->upper : glyph->lower) >> (63 - row % 8 * 8 - column) & 1;
}

/* A text's letters; spaces of any kind are one space, and an accent that stands by itself is left out: its letter says enough. */
static size_t letters_of(const char *text, uint16_t found[LETTERS_MAX], size_t most) {
    size_t count = 0;
    for (size_t bytes; *text; text += bytes) {
        uint32_t letter;
        bytes = utf8_letter(text, &letter);
        /* Malformed UTF-8 is a box, a byte at a time. */
        if (!bytes) bytes = 1, letter = BOX;
        if (letter >= 0x300 && letter < 0x370) continue;
        if (letter == '\t' || letter == '\n' || letter == '\r' || letter == 0xa0) letter = ' ';
        if (letter < 0x20 || letter == 0x7f || letter > 0xffff) letter = BOX;
        if (letter == ' ' && (!count || found[count - 1] == ' ')) continue;
        if (count == most) {
            found[most - 1] = ELLIPSIS;
            break;
        }
        found[count++] = (uint16_t)letter;
    }
    while (count && found[count - 1] == ' ') count--;
    return count;
}

/* ── Lines ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct page {
    size_t columns, rows; /* that there is room for */
    size_t count;
    struct line {
        uint16_t letters[COLUMNS_MAX];
        size_t count;
    } lines[ROWS_MAX];
};

struct text {
    const char *said;
    size_t most; /* letters of it */
};

/* Adds a text, broken between words, and within a word only where that alone is longer than a line. */
static void add(struct page *page, const struct text *text) {
    uint16_t found[LETTERS_MAX];
    size_t count = letters_of(text->said, found, text->most);
    for (size_t start = 0; start < count && page->count < page->rows;) {
        size_t end = count - start <= page->columns ? count : start + page->columns;
        if (end < count && found[end] != ' ') {
            size_t word = end;
            while (word > start && found[word - 1] != ' ') word--;
            if (word > start) end = word;
        }
        struct line *line = &page->lines[page->count++];
        line->count = end - start;
        while (line->count && found[start + line->count - 1] == ' ') line->count--;
        memcpy(line->letters, found + start, line->count * sizeof *found);
        for (start = end; start < count && found[start] == ' ';) start++;
    }
}

/* With an empty line between paragraphs where there is room for them. */
static void compose(struct page *page, const struct text texts[PARAGRAPHS]) {
    for (int spaced = 1; spaced >= 0; spaced--) {
        page->count = 0;
        size_t room = page->rows, wanted = 0;
        for (size_t at = 0; at < PARAGRAPHS; at++) {
            if (!*texts[at].said) continue;
            if (spaced && page->count && page->count < room) page->lines[page->count++].count = 0;
            size_t before = page->count;
            add(page, &texts[at]);
            wanted += page->count > before;
        }
        size_t there = 0;
        for (size_t at = 0; at < PARAGRAPHS; at++) there += *texts[at].said != 0;
        if (wanted == there && page->count < room) return;
    }
}

/* ── Drawing ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

enum layout { NV12, YU12, YUYV, BGRX, RGB3, NONE };

static enum layout layout_of(const char fourcc[4]) {
    static const struct {
        char fourcc[5];
        enum layout layout;
    } known[] = {{"NV12", NV12}, {"YU12", YU12}, {"YUYV", YUYV}, {"BGRx", BGRX}, {"XR24", BGRX}, {"RGB3", RGB3}};
    for (size_t at = 0; at < sizeof known / sizeof *known; at++)
        if (memcmp(fourcc, known[at].fourcc, 4) == 0) return known[at].layout;
    return NONE;
}

struct canvas {
    enum layout layout;
    uint32_t width, height;
    uint8_t *const *planes;
    const uint32_t *strides;
};

/* Bytes of one pixel's own from the next one's, and what they are. */
static uint32_t step_of(enum layout layout) {
    return layout == YUYV ? 2 : layout == BGRX ? 4 : layout == RGB3 ? 3 : 1;
}

static int is_possible(const struct canvas *canvas) {
    uint32_t half = (canvas->width + 1) / 2;
    uint32_t rows[3] = {canvas->width * step_of(canvas->layout), 0, 0};
    if (canvas->layout == YUYV) rows[0] = half * 4;
    if (canvas->layout == NV12) rows[1] = half * 2;
    if (canvas->layout == YU12) rows[1] = rows[2] = half;
    for (int plane = 0; plane < 3 && rows[plane]; plane++)
        if (!canvas->planes[plane] || canvas->strides[plane] < rows[plane]) return 0;
    return 1;
}

/* Repeats each plane's pattern over whole rows, padding included; the first row is written, the others are copies of it. */
static void fill(const struct canvas *canvas, struct paint ground) {
    const struct {
        uint32_t length;
        uint8_t bytes[4];
    } patterns[NONE][3] = {
        [NV12] = {{1, {ground.y}}, {2, {ground.u, ground.v}}},
        [YU12] = {{1, {ground.y}}, {1, {ground.u}}, {1, {ground.v}}},
        [YUYV] = {{4, {ground.y, ground.u, ground.y, ground.v}}},
        [BGRX] = {{4, {ground.blue, ground.green, ground.red, 255}}},
        [RGB3] = {{3, {ground.red, ground.green, ground.blue}}},
    }, *pattern = patterns[canvas->layout];
    for (int at = 0; at < 3 && pattern[at].length; at++) {
        uint8_t *plane = canvas->planes[at];
        uint32_t stride = canvas->strides[at], rows = at ? (canvas->height + 1) / 2 : canvas->height;
        for (uint32_t byte = 0; byte < stride; byte++) plane[byte] = pattern[at].bytes[byte % pattern[at].length];
        for (uint32_t row = 1; row < rows; row++) memcpy(plane + (size_t)row * stride, plane, stride);
    }
}

/* A square of a letter's, or what of it is in the picture. */
static void dot(const struct canvas *canvas, uint32_t x, uint32_t y, uint32_t side) {
    uint32_t step = step_of(canvas->layout), coloured = canvas->layout == BGRX || canvas->layout == RGB3 ? 3 : 1;
    for (uint32_t row = y; row < y + side && row < canvas->height; row++)
        for (uint32_t column = x; column < x + side && column < canvas->width; column++)
            memset(
                canvas->planes[0] + (size_t)row * canvas->strides[0] + (size_t)column * step,
                coloured == 3 ? letters.red : letters.y, coloured);
}

static void draw_line(const struct canvas *canvas, const struct line *line, uint32_t x, uint32_t y, uint32_t side) {
    for (size_t at = 0; at < line->count; at++, x += SLATE_GLYPH_WIDTH * side) {
        const struct slate_glyph *letter = glyph(line->letters[at]);
        for (uint32_t row = 0; row < SLATE_GLYPH_HEIGHT; row++)
            for (uint32_t column = 0; column < SLATE_GLYPH_WIDTH; column++)
                if (is_lit(letter, row, column)) dot(canvas, x + column * side, y + row * side, side);
    }
}

/* ── The sign ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Of the picture's shorter side, and what the ground is lighter by there: letters on it stay legible. */
enum { SIGN_QUARTERS = 3, SIGN_LUMA = 44, SIGN_COLOUR = 51 };

/* Whether a point belongs to a kind's sign: x to either side of its middle, y down from it, each up to 64. */
static int is_in_sign(enum camarb_slate_kind kind, int32_t x, int32_t y) {
    int32_t square = x * x + y * y, height = y < 0 ? -y : y, off_cross = height < x ? x - height : height - x;
    switch (kind) {
    case CAMARB_SLATE_WAITING: /* three dots */ return square <= 12 * 12 || (x - 44) * (x - 44) + y * y <= 12 * 12;
    case CAMARB_SLATE_INTERRUPTED: /* the two bars of a pause */ return x >= 14 && x <= 40 && height <= 60;
    case CAMARB_SLATE_SWITCHED_OFF: /* a camera from the front, crossed out */
        if (off_cross <= 13) return off_cross <= 6 && x <= 56;
        if (square >= 16 * 16 && square <= 26 * 26) return 0;
        return (x <= 60 && height <= 40) || (x <= 22 && y <= 0 && y >= -52);
    case CAMARB_SLATE_NO_ACCESS: /* no entry */ return square <= 60 * 60 && (height > 11 || x > 40);
    case CAMARB_SLATE_NO_BROKER: /* an exclamation mark */
        return (x <= 11 && y >= -60 && y <= 22) || x * x + (y - 47) * (y - 47) <= 13 * 13;
    }
    return 0;
}

/* Columns of a row, up to `to`. */
static void lighten(const struct canvas *canvas, uint32_t y, uint32_t from, uint32_t to, struct paint ground) {
    uint8_t *row = canvas->planes[0] + (size_t)y * canvas->strides[0];
    const uint8_t luma = ground.y + SIGN_LUMA;
    const uint8_t colours[] = {ground.blue + SIGN_COLOUR, ground.green + SIGN_COLOUR, ground.red + SIGN_COLOUR};
    switch (canvas->layout) {
    case NV12:
    case YU12: memset(row + from, luma, to - from); break;
    case YUYV:
        for (uint32_t x = from; x < to; x++) row[(size_t)x * 2] = luma;
        break;
    case BGRX:
        for (uint32_t x = from; x < to; x++) memcpy(row + (size_t)x * 4, colours, 3);
        break;
    case RGB3:
        for (uint32_t x = from; x < to; x++)
            for (int at = 0; at < 3; at++) row[(size_t)x * 3 + at] = colours[2 - at];
        break;
    case NONE: break;
    }
}

/* In the picture's middle, the right half as the left one. What is as far from the middle, in 64ths, is looked at once a row. */
static void draw_sign(const struct canvas *canvas, const camarb_slate *slate) {
    struct paint ground = kind_of(slate)->ground;
    uint32_t width = canvas->width, height = canvas->height, side = (width < height ? width : height) / 4 * SIGN_QUARTERS;
    /* How many columns from the left are so far from the middle, or farther. */
    uint32_t columns[65];
    for (uint32_t far = 0; far <= 64; far++) columns[far] = (width - 1 - (far * side + 63) / 64) / 2 + 1;
    for (uint32_t y = (height - side) / 2; y < (height + side) / 2; y++) {
        /* To the middle of a pixel, both doubled, since either middle may be half a pixel. */
        int32_t down = ((int32_t)(2 * y + 1) - (int32_t)height) * 64 / (int32_t)side;
        for (int32_t far = 0; far < 64; far++) {
            if (!is_in_sign(slate->kind, far, down)) continue;
            lighten(canvas, y, columns[far + 1], columns[far], ground);
            lighten(canvas, y, width - columns[far], width - columns[far + 1], ground);
        }
    }
}

/* ── The whole ──────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The page of a slate for a picture of that size; a dot's side and the margin, in pixels. */
static void lay_out(struct page *page, const camarb_slate *slate, uint32_t width, uint32_t height, uint32_t *side, uint32_t *margin) {
    uint32_t across = width / LEGIBLE_WIDTH, down = height / LEGIBLE_HEIGHT;
    *side = across < down ? across : down;
    if (!*side) *side = 1;
    /* A letter's width on each side, and none where there is little room anyway. */
    *margin = width < LEGIBLE_WIDTH ? 0 : SLATE_GLYPH_WIDTH * *side;
    page->columns = (width - 2 * *margin) / (SLATE_GLYPH_WIDTH * *side);
    page->rows = height / (SLATE_GLYPH_HEIGHT * *side);
    if (page->columns > COLUMNS_MAX) page->columns = COLUMNS_MAX;
    if (page->rows > ROWS_MAX) page->rows = ROWS_MAX;

    struct sentence said = says(slate);
    /* Room for the letters that are shown, of four bytes at most, and one more, by which they are seen to go on. */
    char by[(NAME_LETTERS_MAX + 1) * 4 + sizeof "By: "] = "";
    if (slate->shows_interrupter && slate->interrupter && *slate->interrupter) {
        strcpy(by, "By: ");
        strncat(by, slate->interrupter, sizeof by - sizeof "By: ");
    }
    /* The advice that belongs to a cause may contradict a policy's own words. */
    bool has_message = slate->message && *slate->message;
    const char *next = !has_message ? said.next : slate->kind == CAMARB_SLATE_INTERRUPTED ? by_itself : "";
    const struct text texts[PARAGRAPHS] = {
        {slate->camera ? slate->camera : "", NAME_LETTERS_MAX},
        {has_message ? slate->message : said.why, LETTERS_MAX},
        {by, NAME_LETTERS_MAX},
        {next, LETTERS_MAX},
    };
    compose(page, texts);
}

int camarb_slate_draw(
    const camarb_slate *slate, const char fourcc[4], uint32_t width, uint32_t height, uint8_t *const planes[],
    const uint32_t strides[]) {
    if (!slate || !fourcc || !planes || !strides) return -EINVAL;
    if (width < WIDTH_MIN || height < HEIGHT_MIN || width > SIDE_MAX || height > SIDE_MAX) return -EINVAL;
    struct canvas canvas = {layout_of(fourcc), width, height, planes, strides};
    if (canvas.layout == NONE || !is_possible(&canvas)) return -EINVAL;

    struct page page;
    uint32_t side, margin;
    lay_out(&page, slate, width, height, &side, &margin);

    fill(&canvas, kind_of(slate)->ground);
    draw_sign(&canvas, slate);
    uint32_t y = (height - (uint32_t)page.count * SLATE_GLYPH_HEIGHT * side) / 2;
    for (size_t at = 0; at < page.count; at++, y += SLATE_GLYPH_HEIGHT * side)
        draw_line(&canvas, &page.lines[at], margin, y, side);
    return 0;
}
