/* GStreamer's structures from and to the library's configurations, formats and events. */
#include "camarbsrc.h"

#include <string.h>

#define NUMBERS_MAX 3 /* a point's two numbers, or gains' three: <0.25,0.75> */

static gboolean number_of(const GValue *value, gdouble *number) {
    GValue as_double = G_VALUE_INIT;
    g_value_init(&as_double, G_TYPE_DOUBLE);
    gboolean is_number = !G_VALUE_HOLDS_STRING(value) && g_value_transform(value, &as_double);
    if (is_number) *number = g_value_get_double(&as_double);
    g_value_unset(&as_double);
    return is_number;
}

static int numbers_add(camarb_configuration *into, const gchar *key, const GValue *list) {
    gdouble numbers[NUMBERS_MAX];
    guint count = gst_value_array_get_size(list);
    for (guint i = 0; i < count; i++)
        if (i == NUMBERS_MAX || !number_of(gst_value_array_get_value(list, i), &numbers[i])) return -1;
    return camarb_configuration_set_numbers(into, key, numbers, count);
}

static gboolean add(GQuark field, const GValue *value, gpointer into) {
    const gchar *key = g_quark_to_string(field);
    gdouble number;
    if (G_VALUE_HOLDS_STRING(value)) return camarb_configuration_set_word(into, key, g_value_get_string(value)) == 0;
    if (G_VALUE_HOLDS_BOOLEAN(value)) return camarb_configuration_set_flag(into, key, g_value_get_boolean(value)) == 0;
    if (GST_VALUE_HOLDS_ARRAY(value)) return numbers_add(into, key, value) == 0;
    return number_of(value, &number) && camarb_configuration_set_number(into, key, number) == 0;
}

camarb_configuration *settings_read(const GstStructure *from) {
    camarb_configuration *made = camarb_configuration_new();
    if (!made || !from || gst_structure_foreach(from, add, made)) return made;
    camarb_configuration_free(made);
    return NULL;
}

static void add_numbers(GstStructure *into, const char *key, const double *numbers, int count) {
    GValue list = G_VALUE_INIT, number = G_VALUE_INIT;
    g_value_init(&list, GST_TYPE_ARRAY);
    g_value_init(&number, G_TYPE_DOUBLE);
    for (int i = 0; i < count; i++) {
        g_value_set_double(&number, numbers[i]);
        gst_value_array_append_value(&list, &number);
    }
    gst_structure_take_value(into, key, &list);
}

static GstStructure *settings_show(const camarb_configuration *from) {
    GstStructure *made = gst_structure_new_empty("camarb");
    const char *key;
    for (gsize i = 0; (key = camarb_configuration_key(from, i)); i++) {
        double number, numbers[NUMBERS_MAX];
        bool flag;
        int count = camarb_configuration_numbers(from, key, numbers, NUMBERS_MAX);
        const char *word = camarb_configuration_word(from, key);
        if (word) gst_structure_set(made, key, G_TYPE_STRING, word, NULL);
        else if (count > 0) add_numbers(made, key, numbers, count);
        else if (camarb_configuration_number(from, key, &number) == 0) gst_structure_set(made, key, G_TYPE_DOUBLE, number, NULL);
        else if (camarb_configuration_flag(from, key, &flag) == 0) gst_structure_set(made, key, G_TYPE_BOOLEAN, (gboolean)flag, NULL);
    }
    return made;
}

GstStructure *settings_of_format(const camarb_camera *camera, const char *name) {
    gsize at = 0;
    while (at < camera->format_count && strcmp(camera->formats[at].name, name) != 0) at++;
    const camarb_format_facts *facts = camarb_camera_format_facts(camera, at);
    if (!facts) return NULL;
    const camarb_format *format = &camera->formats[at];
    /* As texts, like the causes of an interruption. */
    gchar *modes = g_strjoinv(",", (gchar **)facts->video_stabilization_modes), *assumed = g_strjoinv(",", (gchar **)facts->assumed);
    GstStructure *made = gst_structure_new("camarb-format", "name", G_TYPE_STRING, format->name, "pixelFormat", G_TYPE_STRING,
        format->pixel_format, "width", G_TYPE_UINT, format->width, "height", G_TYPE_UINT, format->height, "minFrameRate", G_TYPE_DOUBLE,
        format->min_frame_rate, "maxFrameRate", G_TYPE_DOUBLE, format->max_frame_rate, "videoMaxZoomFactor", G_TYPE_DOUBLE,
        format->max_zoom_factor, "videoZoomFactorUpscaleThreshold", G_TYPE_DOUBLE, format->zoom_upscale_threshold, "isBinned",
        G_TYPE_BOOLEAN, (gboolean)format->is_binned, "fieldOfView", G_TYPE_DOUBLE, format->field_of_view, "highResolutionStillWidth",
        G_TYPE_UINT, format->high_resolution_still_width, "highResolutionStillHeight", G_TYPE_UINT,
        format->high_resolution_still_height, "autoFocusSystem", G_TYPE_STRING, facts->auto_focus_system, "minISO", G_TYPE_DOUBLE,
        facts->min_iso, "maxISO", G_TYPE_DOUBLE, facts->max_iso, "minExposureDuration", G_TYPE_DOUBLE, facts->min_exposure_duration,
        "maxExposureDuration", G_TYPE_DOUBLE, facts->max_exposure_duration, "videoStabilizationModes", G_TYPE_STRING, modes,
        "videoHDRSupported", G_TYPE_BOOLEAN, (gboolean)facts->video_hdr_supported, "assumed", G_TYPE_STRING, assumed, NULL);
    g_free(modes);
    g_free(assumed);
    return made;
}

/* The messages with all fields that are set; turns.c has the others. */
static const char *const names[] = {
    [CAMARB_EVENT_ANSWERED] = "camarb-answered",
    [CAMARB_EVENT_WILL_BE_INTERRUPTED] = "camarb-will-be-interrupted",
    [CAMARB_EVENT_INTERRUPTION_WITHDRAWN] = "camarb-interruption-withdrawn",
    [CAMARB_EVENT_ACCESS_CHANGED] = "camarb-access-changed",
    [CAMARB_EVENT_SHARERS_CHANGED] = "camarb-sharers-changed",
    [CAMARB_EVENT_PHOTO_CAPTURED] = "camarb-photo-captured",
    [CAMARB_EVENT_CONFIGURATION_APPLIED] = "camarb-configuration-applied",
    [CAMARB_EVENT_RAMP_FINISHED] = "camarb-ramp-finished",
    [CAMARB_EVENT_RUNTIME_ERROR] = "camarb-runtime-error",
    [CAMARB_EVENT_CAMERA_STATE_CHANGED] = "camarb-camera-state-changed",
};

enum kind { TEXT, WORDS, WHOLE, MOMENT, SIDE, NUMBER, SETTINGS };

#define FIELD(name, field, kind) {name, offsetof(camarb_event, field), kind}
static const struct field {
    const char *name;
    gsize offset;
    enum kind kind;
} fields[] = {
    FIELD("call", call, MOMENT),          FIELD("value", value, WHOLE),
    FIELD("interruption", interruption, WHOLE), FIELD("deadline", deadline, MOMENT),
    FIELD("reason", reason, TEXT),        FIELD("causes", causes, WORDS),
    FIELD("access", access, WORDS),       FIELD("sharers", sharers, WORDS),
    FIELD("rule", rule, TEXT),            FIELD("photo", photo, WHOLE),
    FIELD("width", width, SIDE),          FIELD("height", height, SIDE),
    FIELD("bytes", bytes, WHOLE),         FIELD("number", number, NUMBER),
    FIELD("asked", asked, SETTINGS),      FIELD("in-force", in_force, SETTINGS),
    FIELD("metadata", metadata, SETTINGS), FIELD("by", by, TEXT),
    FIELD("error", error, TEXT),          FIELD("error-name", error_name, TEXT),
    FIELD("message", message, TEXT),      FIELD("controller", controller, TEXT),
};

static void show(GstStructure *into, const char *name, enum kind kind, const void *value) {
    const char *text;
    const char *const *words;
    const camarb_configuration *settings;
    switch (kind) {
    case TEXT:
        text = *(const char *const *)value;
        if (text && text[0]) gst_structure_set(into, name, G_TYPE_STRING, text, NULL);
        break;
    case WORDS:
        words = *(const char *const *const *)value;
        if (!words || !words[0]) break;
        gchar *joined = g_strjoinv(",", (gchar **)words);
        gst_structure_set(into, name, G_TYPE_STRING, joined, NULL);
        g_free(joined);
        break;
    case WHOLE:
        if (*(const uint64_t *)value) gst_structure_set(into, name, G_TYPE_UINT64, (guint64) * (const uint64_t *)value, NULL);
        break;
    case MOMENT:
        if (*(const int64_t *)value) gst_structure_set(into, name, G_TYPE_INT64, (gint64) * (const int64_t *)value, NULL);
        break;
    case SIDE:
        if (*(const uint32_t *)value) gst_structure_set(into, name, G_TYPE_UINT, (guint) * (const uint32_t *)value, NULL);
        break;
    case NUMBER:
        if (*(const double *)value != 0) gst_structure_set(into, name, G_TYPE_DOUBLE, *(const double *)value, NULL);
        break;
    case SETTINGS:
        settings = *(const camarb_configuration *const *)value;
        if (!settings) break;
        GstStructure *shown = settings_show(settings);
        gst_structure_set(into, name, GST_TYPE_STRUCTURE, shown, NULL);
        gst_structure_free(shown);
        break;
    }
}

GstStructure *settings_of_event(const camarb_event *event) {
    if (event->type >= G_N_ELEMENTS(names) || !names[event->type]) return NULL;
    GstStructure *made = gst_structure_new_empty(names[event->type]);
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
        show(made, fields[i].name, fields[i].kind, (const char *)event + fields[i].offset);
    return made;
}
