/* camarb-paintable.h: a camera of camarb's as a GdkPaintable, which GtkPicture and other widgets of GTK 4 show. Copy the two files.
 *
 * Its picture is the camera's newest one; while the camera is away, a slate that says why. Property:
 *
 *   status   a text for the user, read-only: why there is no picture; "" while the camera runs
 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define CAMARB_TYPE_PAINTABLE (camarb_paintable_get_type())
G_DECLARE_FINAL_TYPE(CamarbPaintable, camarb_paintable, CAMARB, PAINTABLE, GObject)

/* Asks for a camera in the name of an app, and shows it from then on. camera: its id; "": the back camera, else the first.
 * NULL, with a sentence in the error: there is no broker. */
CamarbPaintable *camarb_paintable_new(const char *app, const char *camera, GError **error);
const char *camarb_paintable_get_status(CamarbPaintable *self);
/* How many pictures of the camera it has shown. */
guint camarb_paintable_get_frames(CamarbPaintable *self);

G_END_DECLS
