// cameraview.h: a camera of camarb's as an item of Qt Quick. Copy the two files, and register the type as viewer.cpp does.
//
// It shows the camera's newest picture; while the camera is away, a slate that says why. It asks for the camera when it is complete:
// set `app` and `camera` (its id; none: the back camera, else the first) in QML.
#pragma once

#include <QImage>
#include <QQuickItem>
#include <QSocketNotifier>

#include <camarb.h>
#include <memory>

class CameraView : public QQuickItem {
    Q_OBJECT
    Q_PROPERTY(QString app MEMBER app)
    Q_PROPERTY(QString camera MEMBER camera)
    // Why there is no picture, as a text for the user; empty while the camera runs.
    Q_PROPERTY(QString status MEMBER status NOTIFY statusChanged)
    // How many pictures of the camera it has shown.
    Q_PROPERTY(int frames MEMBER frames NOTIFY framesChanged)

public:
    explicit CameraView(QQuickItem *parent = nullptr);
    void componentComplete() override;

signals:
    void statusChanged();
    void framesChanged();

protected:
    QSGNode *updatePaintNode(QSGNode *node, UpdatePaintNodeData *) override;

private:
    void take();
    void takeEvent(const camarb_event &event);
    void setStatus(const QString &text);
    void show(const camarb_picture &picture, camarb_frame *frame);

    QString app, camera, status;
    int frames = 0;
    QImage image;
    std::unique_ptr<camarb_client, decltype(&camarb_client_free)> client{nullptr, camarb_client_free};
    camarb_session *session = nullptr; // It is freed with the client.
    std::unique_ptr<QSocketNotifier> notifier; // It ends before the client, whose descriptor it watches.
};
