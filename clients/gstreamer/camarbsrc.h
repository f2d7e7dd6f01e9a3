/* camarbsrc: a camera of camarbd as a live source of a GStreamer pipeline. What its files share.
 *
 * Threads. The client library is used by one thread at a time, and here by two kinds: the streaming thread, and whoever changes the
 * element's state. The streaming thread alone would not do: GStreamer blocks it inside the base class while the element is PAUSED, and
 * it is then that the camera has to be let go of. So there is one lock, `lock`, around all that is of the library. No thread waits while
 * holding it (camarb_client_dispatch never does; starting waits for a place in a full broker's queue for at most a second), or calls
 * the application, the bus or another pad under it: a state change therefore always gets it, whatever the broker does.
 *
 * Settings and what properties show are under the object's own lock, as everywhere in GStreamer. */
#ifndef CAMARBSRC_H
#define CAMARBSRC_H

#include "camarb.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#define CAMARB_TYPE_SRC (camarb_src_get_type())
G_DECLARE_FINAL_TYPE(CamarbSrc, camarb_src, CAMARB, SRC, GstPushSrc)

#define CAMARB_TYPE_PROVIDER (camarb_provider_get_type())
G_DECLARE_FINAL_TYPE(CamarbProvider, camarb_provider, CAMARB, PROVIDER, GstDeviceProvider)

GST_DEBUG_CATEGORY_EXTERN(camarb_debug);

/*     LEARNING ──the camera's formats──▶ NEGOTIATING ──caps──▶ CONFIGURING ──the broker agrees──▶ READY
 *                                                                  ▲                                │
 *                                                                  └──────────── other caps ────────┘
 *
 * Caps that come from the camera itself (another app's configuration) leave the phase as it is: they are in force already. */
enum phase { PHASE_LEARNING, PHASE_NEGOTIATING, PHASE_CONFIGURING, PHASE_READY };

/* The result of one turn with the broker: the next action of the streaming thread, without the lock. */
enum step_kind {
    STEP_WAIT,      /* until something comes, or `until` */
    STEP_AGAIN,     /* nothing to do outside */
    STEP_POST,      /* message */
    STEP_ERROR,     /* domain, code, text, debug */
    STEP_NEGOTIATE, /* to `forced` where that is set */
    STEP_BUFFER,    /* buffer: goes downstream */
    STEP_GAP,       /* timestamp, duration */
};

struct step {
    enum step_kind kind;
    gint64 until;
    GstMessage *message;
    GQuark domain;
    gint code;
    gchar *text, *debug;
    GstCaps *forced;
    GstBuffer *buffer;
    GstClockTime timestamp, duration;
};

struct _CamarbSrc {
    GstPushSrc parent;

    /* Under the object's lock: properties. */
    gchar *camera, *address, *app;
    GstStructure *configuration, *declaration; /* NULL: not set */
    GstStructure *format_facts;                /* NULL: no format yet */
    gboolean wants_slates;
    gboolean is_interrupted;
    gchar *camera_name;
    GstCaps *offered; /* the camera's; NULL: not known yet */
    GstCaps *forced;  /* while they are negotiated */
    GstClockTime interval;

    int wake; /* wakes whoever waits in the streaming thread; safe from every thread */
    int watched; /* the client's descriptor, from start to stop */

    GMutex lock;
    /* Under `lock`. */
    GCond changed; /* the next four */
    gboolean is_playing, is_pausing, is_unlocked;
    guint64 unlocks; /* from 1 */
    camarb_client *client;
    camarb_session *session;
    gboolean app_was_set;
    camarb_call declare_call, configure_call, settings_call, start_call;
    enum phase phase;
    gboolean was_started, needs_action, check_rate;
    gint64 learn_by, started_at, settle_by;
    camarb_format *formats;
    gsize format_count;
    GstVideoInfo info;
    const camarb_format *format;
    gint64 slate_due, gap_begin;
    gboolean is_discont;
    guint64 grant, sequence, count;
    GstClockTime last;
    gboolean has_segment;
};

#define RATE_USUAL 30 /* frames a second, where caps leave it open */

/* formats.c */
GstCaps *formats_caps(const camarb_camera *camera); /* a camera's formats as caps, the usual one first */
camarb_format *formats_copy(const camarb_camera *camera); /* a copy of the formats, in that order */
/* Caps of exactly one picture. */
GstCaps *formats_exact(const char *pixel_format, guint width, guint height, gdouble rate);
/* The first format that gives such pictures; NULL: there is none. */
const camarb_format *formats_find(const camarb_format *formats, gsize count, const GstVideoInfo *info);
gboolean formats_is_full_range(const GstVideoInfo *info);
/* Frames a second, and the time from one to the next. */
gdouble formats_rate(const GstVideoInfo *info);
GstClockTime formats_interval(const GstVideoInfo *info);

/* pictures.c: all under `lock`. */
GstClockTime pictures_time(CamarbSrc *self, gint64 moment);
/* A frame as a buffer of the pool; NULL: there is no room, or the camera was taken away meanwhile. */
GstBuffer *pictures_copy(CamarbSrc *self, camarb_frame *frame);
GstBuffer *pictures_slate(CamarbSrc *self, const camarb_slate *slate, gint64 moment);
gboolean pictures_fit(const CamarbSrc *self, const camarb_picture *picture);

/* settings.c */
/* The fields of a structure as keys; NULL where a value is no word, number, flag or array of numbers. */
camarb_configuration *settings_read(const GstStructure *from);
/* All that is known of a format, with the keys of docs/wire.md; NULL where the camera has none of that name. */
GstStructure *settings_of_format(const camarb_camera *camera, const char *name);
/* The fields of an event that are set; NULL: its message is not one of these. */
GstStructure *settings_of_event(const camarb_event *event);

/* turns.c: all under `lock`. */
void turn(CamarbSrc *self, struct step *step);
/* Has the broker configure what was negotiated. */
void turn_configure(CamarbSrc *self);
void turn_stop(CamarbSrc *self);
void step_error(struct step *step, const char *error_name, const char *text);

G_END_DECLS

#endif
