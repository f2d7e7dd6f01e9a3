// usage: viewer [--frames N] [--save PREFIX]
//
// A window that shows a camera, or why there is none. With --frames it ends after so many pictures of the camera; with --save it writes
// what the window shows to PREFIX-1.png, PREFIX-2.png, …: at each beginning and end of an interruption, and at its own end.
#include "cameraview.h"

#include <QCommandLineParser>
#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QQuickWindow>
#include <QTextStream>

#include <utility>

int main(int count, char **words) {
    QGuiApplication app(count, words);
    QCommandLineParser options;
    options.addOptions({{"frames", "End after N pictures of the camera.", "N", "0"},
        {"save", "Write what the window shows to PREFIX-1.png, ….", "PREFIX"}});
    options.addHelpOption();
    options.process(app);
    const int frames = options.value("frames").toInt();
    qmlRegisterType<CameraView>("org.camarb", 1, 0, "CameraView");
    QQmlApplicationEngine engine(QUrl("qrc:/main.qml"));
    if (engine.rootObjects().isEmpty()) return 1;
    auto *window = qobject_cast<QQuickWindow *>(engine.rootObjects().first());
    auto *view = window->findChild<CameraView *>("view");

    int saved = 0;
    const auto save = [&] {
        if (options.isSet("save")) window->grabWindow().save(QString("%1-%2.png").arg(options.value("save")).arg(++saved));
    };
    bool isNew = false; // It runs again, and shows no picture yet.
    const auto tell = [&] {
        const QString status = view->property("status").toString();
        QTextStream(stdout) << (status.isEmpty() ? "running" : status) << Qt::endl;
        isNew = status.isEmpty();
        if (!isNew) save(); // A slate is there at once.
    };
    QObject::connect(view, &CameraView::statusChanged, window, tell);
    QObject::connect(view, &CameraView::framesChanged, window, [&] {
        const int seen = view->property("frames").toInt();
        if (std::exchange(isNew, false)) save();
        if (frames == 0 || seen < frames) return;
        save();
        QTextStream(stdout) << seen << " frames" << Qt::endl;
        QCoreApplication::exit();
    });
    return QGuiApplication::exec();
}
