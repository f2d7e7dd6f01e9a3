/* Turns with the broker: an event is taken, or a due call is made, and the step is the streaming thread's next action. */
#include "camarbsrc.h"

#include <string.h>

#define MILLISECOND ((gint64)GST_MSECOND)
/* From the broker's first list of cameras to the one with the session's own. */
#define LEARN_TIME_MAX ((gint64)10 * GST_SECOND)
/* A camera takes that long to begin; before, a slate that says so would only flicker. */
#define STARTING_TIME (700 * MILLISECOND)
/* Frames of the former format may come so long after the broker agreed to another. */
#define SETTLE_TIME_MAX ((gint64)2 * GST_SECOND)
/* One gap event for so long: enough for a muxer or mixer to go on, and few enough to cost nothing. */
#define GAP_TIME (100 * MILLISECOND)
/* Rates that differ by less, of themselves, are no reason for other caps: 29.97 and 30. */
static const gdouble rate_difference_min = 0.005;

#define CAUSE_NEEDS_ACTION "sensitive-content-mitigation-activated"

static gint64 now(void) { return g_get_monotonic_time() * 1000; }

static gboolean ends_with(const char *name, const char *error) { return name && g_str_has_suffix(name, error); }

void step_error(struct step *step, const char *error_name, const char *text) {
    step->kind = STEP_ERROR;
    step->domain = GST_RESOURCE_ERROR;
    step->code = GST_RESOURCE_ERROR_FAILED;
    if (ends_with(error_name, ".UnknownCamera") || ends_with(error_name, ".Disconnected")) step->code = GST_RESOURCE_ERROR_NOT_FOUND;
    else if (ends_with(error_name, ".AccessDenied")) step->code = GST_RESOURCE_ERROR_NOT_AUTHORIZED;
    else if (ends_with(error_name, ".RefusedByPolicy")) step->code = GST_RESOURCE_ERROR_BUSY;
    else if (ends_with(error_name, ".UnsupportedConfiguration")) step->code = GST_RESOURCE_ERROR_SETTINGS;
    step->text = g_strdup(text);
    step->debug = g_strdup(error_name);
}

static void show_interrupted(CamarbSrc *self, gboolean is_interrupted) {
    GST_OBJECT_LOCK(self);
    self->is_interrupted = is_interrupted;
    GST_OBJECT_UNLOCK(self);
}

/* The session's camera, once the client knows it. */
static const camarb_camera *camera(CamarbSrc *self) {
    gsize count;
    const camarb_camera *cameras = camarb_client_cameras(self->client, &count);
    const char *id = camarb_session_camera(self->session);
    for (gsize i = 0; i < count; i++)
        if (strcmp(cameras[i].id, id) == 0) return &cameras[i];
    return NULL;
}

void turn_configure(CamarbSrc *self) {
    camarb_configuration *wanted = self->format ? camarb_configuration_new() : NULL;
    self->configure_call = -1;
    const camarb_camera *known = camera(self);
    GstStructure *facts = known && self->format ? settings_of_format(known, self->format->name) : NULL;
    GST_OBJECT_LOCK(self);
    g_clear_pointer(&self->format_facts, gst_structure_free);
    self->format_facts = facts;
    GST_OBJECT_UNLOCK(self);
    if (wanted) {
        gdouble rate = CLAMP(formats_rate(&self->info), self->format->min_frame_rate, self->format->max_frame_rate);
        camarb_configuration_set_word(wanted, "activeFormat", self->format->name);
        camarb_configuration_set_number(wanted, "frameRate", rate);
        self->configure_call = camarb_session_configure(self->session, wanted);
        self->phase = PHASE_CONFIGURING;
        camarb_configuration_free(wanted);
    }
}

static void start(CamarbSrc *self) {
    if (self->needs_action) camarb_session_continue(self->session);
    self->was_started = TRUE;
    self->started_at = now();
    self->slate_due = self->gap_begin = 0;
    self->is_discont = TRUE;
    camarb_session_set_pictures(self->session, true);
    self->start_call = camarb_session_start(self->session);
}

void turn_stop(CamarbSrc *self) {
    self->is_playing = FALSE;
    if (!self->was_started) return;
    self->was_started = FALSE;
    self->start_call = 0;
    camarb_session_set_pictures(self->session, false);
    camarb_session_stop(self->session);
    /* Sends it: while the element is PAUSED there are no turns. */
    camarb_client_dispatch(self->client);
    show_interrupted(self, FALSE);
}

static void learn(CamarbSrc *self, struct step *step) {
    const camarb_camera *known = camera(self);
    GstCaps *caps = known ? formats_caps(known) : NULL;
    if (!caps || gst_caps_is_empty(caps)) {
        gst_clear_caps(&caps);
        gsize count;
        camarb_client_cameras(self->client, &count);
        if (count > 0 && self->learn_by == 0) self->learn_by = now() + LEARN_TIME_MAX;
        if (self->learn_by != 0) step->until = self->learn_by;
        if (self->learn_by != 0 && now() >= self->learn_by) step_error(step, NULL, "The broker did not say which pictures the camera has.");
        return;
    }
    g_free(self->formats);
    self->format_count = known->format_count;
    self->formats = formats_copy(known);
    self->format = NULL;
    GST_OBJECT_LOCK(self);
    gst_caps_take(&self->offered, caps);
    g_free(self->camera_name);
    self->camera_name = g_strdup(known->name);
    GST_OBJECT_UNLOCK(self);
    if (self->phase == PHASE_LEARNING) self->phase = PHASE_NEGOTIATING;
    step->kind = STEP_AGAIN;
}

static void post(CamarbSrc *self, struct step *step, GstStructure *structure) {
    step->kind = STEP_POST;
    step->message = gst_message_new_element(GST_OBJECT(self), structure);
}

static void answered(CamarbSrc *self, struct step *step, const camarb_event *event) {
    gboolean is_refused = event->error_name[0] || event->error[0];
    if (event->call == self->configure_call) {
        self->configure_call = 0;
        /* A picture that runs goes on as it is where the session may not configure, or another app records it: its caps follow. */
        gboolean stays = self->was_started
            && (ends_with(event->error_name, ".AccessDenied") || ends_with(event->error_name, ".AlreadyRecording"));
        if (!is_refused || stays) {
            self->phase = PHASE_READY;
            self->settle_by = now() + SETTLE_TIME_MAX;
            return;
        }
        step_error(step, event->error_name, event->error);
    } else if (event->call == self->start_call) {
        self->start_call = 0;
        if (is_refused) step_error(step, event->error_name, event->error);
    } else if (event->call == self->declare_call && is_refused) {
        /* A refused name is an error only where the program chose it. */
        if (self->app_was_set) step_error(step, event->error_name, event->error);
        else GST_WARNING_OBJECT(self, "the broker does not take the program's name: %s", event->error);
    } else if (event->call == self->settings_call) {
        self->settings_call = 0;
        if (!is_refused) return;
        GError *error = g_error_new_literal(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, event->error);
        step->kind = STEP_POST;
        step->message = gst_message_new_warning(GST_OBJECT(self), error, event->error_name);
        g_error_free(error);
    } else if (event->call != self->declare_call && (is_refused || event->value)) {
        /* Photos, and what was refused of the rest. */
        post(self, step, settings_of_event(event));
    }
}

static void interrupted(CamarbSrc *self, struct step *step, const camarb_event *event) {
    self->needs_action = g_strv_contains(event->causes, CAUSE_NEEDS_ACTION);
    if (!self->was_started) return;
    show_interrupted(self, TRUE);
    GST_INFO_OBJECT(self, "interrupted: %s, by “%s”", event->reason, event->interrupter);
    /* As a text, which every tool prints: of a list of strings gst-launch-1.0 says NULL. */
    gchar *causes = g_strjoinv(",", (gchar **)event->causes);
    post(self, step,
        gst_structure_new(
            "camarb-interrupted", "reason", G_TYPE_STRING, event->reason, "causes", G_TYPE_STRING, causes, "interrupter",
            G_TYPE_STRING, event->interrupter, "rule", G_TYPE_STRING, event->rule, "message", G_TYPE_STRING, event->message,
            "interruption", G_TYPE_UINT64, (guint64)event->interruption, NULL));
    g_free(causes);
}

static void take(CamarbSrc *self, struct step *step, const camarb_event *event) {
    step->kind = STEP_AGAIN;
    switch (event->type) {
    case CAMARB_EVENT_ANSWERED: answered(self, step, event); break;
    case CAMARB_EVENT_DISCONNECTED:
    case CAMARB_EVENT_ENDED: step_error(step, event->error_name, event->error); break;
    case CAMARB_EVENT_CAMERAS_CHANGED:
        if (self->phase > PHASE_NEGOTIATING) break;
        learn(self, step);
        break;
    /* The same interruption with other causes has the same message. */
    case CAMARB_EVENT_WAS_INTERRUPTED:
    case CAMARB_EVENT_INTERRUPTION_CHANGED: interrupted(self, step, event); break;
    case CAMARB_EVENT_INTERRUPTION_ENDED:
        if (!event->will_resume || !self->was_started) break;
        self->is_discont = TRUE;
        show_interrupted(self, FALSE);
        post(self, step,
            gst_structure_new("camarb-resumed", "duration", G_TYPE_UINT64, (guint64)MAX(event->duration, 0), "interruption",
                G_TYPE_UINT64, (guint64)event->interruption, NULL));
        break;
    case CAMARB_EVENT_SESSION_STOPPED:
        if (!self->was_started) break;
        show_interrupted(self, FALSE);
        post(self, step,
            gst_structure_new(
                "camarb-stopped", "reason", G_TYPE_STRING, event->reason, "rule", G_TYPE_STRING, event->rule, "message", G_TYPE_STRING,
                event->message, NULL));
        break;
    case CAMARB_EVENT_DID_START_RUNNING: self->needs_action = FALSE; break;
    case CAMARB_EVENT_RUNTIME_ERROR: GST_WARNING_OBJECT(self, "%s: %s", event->error_name, event->error); break;
    case CAMARB_EVENT_CONFIGURATION_APPLIED: self->check_rate = TRUE; break;
    default: break;
    }
    GstStructure *told = event->type == CAMARB_EVENT_ANSWERED || step->kind != STEP_AGAIN ? NULL : settings_of_event(event);
    if (told) post(self, step, told);
}

/* The rate in force, which another app may have set. */
static gdouble rate_in_force(CamarbSrc *self) {
    double rate;
    const camarb_configuration *shown = camarb_session_configuration(self->session);
    return camarb_configuration_number(shown, "frameRate", &rate) == 0 && rate > 0 ? rate : formats_rate(&self->info);
}

static void show_frame(CamarbSrc *self, struct step *step, camarb_frame *frame) {
    const camarb_picture *picture = camarb_frame_picture(frame);
    step->kind = STEP_AGAIN;
    if (!pictures_fit(self, picture)) {
        /* The camera's own change; or still the former configuration, and the next frame fits. */
        if (self->phase != PHASE_READY || now() < self->settle_by) return;
        step->kind = STEP_NEGOTIATE;
        step->forced = formats_exact(picture->pixel_format, picture->width, picture->height, rate_in_force(self));
        return;
    }
    self->settle_by = 0;
    if (self->check_rate) {
        self->check_rate = FALSE;
        gdouble rate = rate_in_force(self), negotiated = formats_rate(&self->info);
        if (ABS(rate - negotiated) > rate_difference_min * negotiated) {
            step->kind = STEP_NEGOTIATE;
            step->forced = formats_exact(picture->pixel_format, picture->width, picture->height, rate);
            return;
        }
    }
    step->buffer = pictures_copy(self, frame);
    if (!step->buffer) return;
    step->kind = STEP_BUFFER;
    self->slate_due = self->gap_begin = 0;
}

/* Slates come at the rate that was negotiated. */
static void show_slate(CamarbSrc *self, struct step *step, const camarb_slate *slate) {
    gint64 interval = (gint64)self->interval, at = now();
    if (self->slate_due == 0) {
        self->slate_due = at;
        self->is_discont = TRUE;
    }
    if (at < self->slate_due) {
        step->until = self->slate_due;
        return;
    }
    step->kind = STEP_AGAIN;
    step->buffer = pictures_slate(self, slate, self->slate_due);
    if (step->buffer) step->kind = STEP_BUFFER;
    self->slate_due += interval;
    /* A slate that was delayed is not made up for. */
    if (self->slate_due + interval < at) self->slate_due = at + interval;
}

static void show_gap(CamarbSrc *self, struct step *step) {
    gint64 at = now();
    if (self->gap_begin == 0) self->gap_begin = at;
    self->is_discont = TRUE;
    step->until = self->gap_begin + GAP_TIME;
    if (at < step->until) return;
    step->kind = STEP_GAP;
    step->timestamp = pictures_time(self, self->gap_begin);
    step->duration = (GstClockTime)(at - self->gap_begin);
    self->gap_begin = at;
}

static void show(CamarbSrc *self, struct step *step) {
    camarb_frame *frame = camarb_session_next_frame(self->session);
    if (frame) {
        show_frame(self, step, frame);
        camarb_frame_release(frame);
        return;
    }
    camarb_slate slate;
    if (!camarb_session_slate(self->session, &slate)) return;
    if (slate.kind == CAMARB_SLATE_WAITING && now() < self->started_at + STARTING_TIME) {
        step->until = self->started_at + STARTING_TIME;
        return;
    }
    GST_OBJECT_LOCK(self);
    gboolean wants_slates = self->wants_slates;
    GST_OBJECT_UNLOCK(self);
    if (wants_slates) show_slate(self, step, &slate);
    else show_gap(self, step);
}

void turn(CamarbSrc *self, struct step *step) {
    *step = (struct step){.kind = STEP_WAIT, .until = G_MAXINT64};
    int result = camarb_client_dispatch(self->client);
    const camarb_event *event = camarb_client_next_event(self->client);
    if (event) {
        take(self, step, event);
        return;
    }
    if (result < 0) {
        step_error(step, camarb_client_error_name(self->client), camarb_client_error(self->client));
        return;
    }
    switch (self->phase) {
    case PHASE_LEARNING: learn(self, step); break;
    case PHASE_NEGOTIATING: step->kind = STEP_NEGOTIATE; break;
    case PHASE_CONFIGURING:
        if (self->configure_call < 0) step_error(step, NULL, "The camera's configuration could not be asked for.");
        else if (self->was_started) show(self, step);
        break;
    case PHASE_READY:
        if (self->was_started) {
            show(self, step);
        } else {
            start(self);
            step->kind = STEP_AGAIN;
        }
        break;
    }
}
