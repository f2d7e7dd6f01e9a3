#include "cameraview.h"

#include <QQuickWindow>
#include <QSGImageNode>

CameraView::CameraView(QQuickItem *parent) : QQuickItem(parent) { setFlag(ItemHasContents); }

void CameraView::componentComplete() {
    QQuickItem::componentComplete();
    camarb_client *made = nullptr;
    char why[512];
    if (camarb_client_new_explained(&made, nullptr, why, sizeof why) < 0) return setStatus(QString::fromUtf8(why));
    client.reset(made);
    camarb_client_declare_app(made, app.toUtf8().constData());
    session = camarb_session_new(made, camera.toUtf8().constData(), nullptr);
    camarb_session_set_pictures(session, true);
    camarb_session_start(session);
    notifier = std::make_unique<QSocketNotifier>(camarb_client_fd(made), QSocketNotifier::Read);
    connect(notifier.get(), &QSocketNotifier::activated, this, &CameraView::take);
    setStatus(tr("starting"));
}

void CameraView::take() {
    if (camarb_client_dispatch(client.get()) < 0) notifier->setEnabled(false);
    while (const camarb_event *event = camarb_client_next_event(client.get())) takeEvent(*event);
    // Nobody sees more than the newest one.
    if (camarb_frame *frame = camarb_session_newest_frame(session)) {
        show(*camarb_frame_picture(frame), frame);
        camarb_frame_release(frame);
    }
}

void CameraView::takeEvent(const camarb_event &event) {
    const QString reason = QString::fromUtf8(event.reason), interrupter = QString::fromUtf8(event.interrupter);
    switch (event.type) {
    case CAMARB_EVENT_DID_START_RUNNING: return setStatus({});
    case CAMARB_EVENT_WAS_INTERRUPTED:
    case CAMARB_EVENT_INTERRUPTION_CHANGED:
        return setStatus(interrupter.isEmpty() ? tr("interrupted: %1").arg(reason) : tr("interrupted: %1, by %2").arg(reason, interrupter));
    case CAMARB_EVENT_SESSION_STOPPED: return setStatus(tr("stopped: %1").arg(reason));
    case CAMARB_EVENT_ENDED:
    case CAMARB_EVENT_DISCONNECTED: return setStatus(QString::fromUtf8(event.error));
    default: return;
    }
}

// Draws the slate of the size that is shown, where the session calls for one, or there is no broker to have a session with.
void CameraView::setStatus(const QString &text) {
    const QByteArray words = text.toUtf8();
    camarb_slate slate{};
    slate.kind = CAMARB_SLATE_NO_BROKER;
    slate.reason = words.constData();
    if (!session || camarb_session_slate(session, &slate)) {
        image = QImage(image.isNull() ? QSize(1280, 720) : image.size(), QImage::Format_RGB32);
        uint8_t *planes[] = {image.bits()};
        const uint32_t strides[] = {uint32_t(image.bytesPerLine())};
        camarb_slate_draw(&slate, "BGRx", uint32_t(image.width()), uint32_t(image.height()), planes, strides);
        update();
    }
    if (status == text) return;
    status = text;
    emit statusChanged();
}

// NV12 to RGB by BT.601, in 1/256: of the video range (420v), where black is 16, or of the full range (420f).
void CameraView::show(const camarb_picture &picture, camarb_frame *frame) {
    const bool isFull = picture.pixel_format[3] == 'f';
    const int black = isFull ? 0 : 16, light = isFull ? 256 : 298, red = isFull ? 359 : 409, blue = isFull ? 454 : 516;
    const int greenU = isFull ? 88 : 100, greenV = isFull ? 183 : 208;
    QImage copy(int(picture.width), int(picture.height), QImage::Format_RGB32);
    for (int y = 0; y < copy.height(); y++) {
        const uint8_t *luma = picture.planes[0] + size_t(y) * picture.strides[0];
        const uint8_t *chroma = picture.planes[1] + size_t(y / 2) * picture.strides[1];
        auto *to = reinterpret_cast<QRgb *>(copy.scanLine(y));
        for (int x = 0; x < copy.width(); x++) {
            const int c = (luma[x] - black) * light + 128, u = chroma[x & ~1] - 128, v = chroma[x | 1] - 128;
            to[x] = qRgb(qBound(0, (c + red * v) >> 8, 255), qBound(0, (c - greenU * u - greenV * v) >> 8, 255),
                qBound(0, (c + blue * u) >> 8, 255));
        }
    }
    // The camera may have been taken away, and its memory blanked, meanwhile: half a picture is none.
    if (!camarb_frame_is_intact(frame)) return;
    image = copy;
    frames++;
    update();
    emit framesChanged();
}

// In the thread that draws, while this item's own waits.
QSGNode *CameraView::updatePaintNode(QSGNode *old, UpdatePaintNodeData *) {
    auto *node = static_cast<QSGImageNode *>(old);
    if (image.isNull()) return node;
    if (!node) {
        node = window()->createImageNode();
        node->setOwnsTexture(true);
    }
    node->setTexture(window()->createTextureFromImage(image));
    node->setFiltering(QSGTexture::Linear);
    const QSizeF size = QSizeF(image.size()).scaled(boundingRect().size(), Qt::KeepAspectRatio);
    node->setRect(QRectF(QPointF((width() - size.width()) / 2, (height() - size.height()) / 2), size));
    return node;
}
