"""An app that uses cameras through Qt's D-Bus module: peer to peer, or as if the socket were a bus."""
import os, sys

from PyQt5.QtCore import QCoreApplication, QObject, pyqtSignal, pyqtSlot
from PyQt5.QtDBus import QDBusConnection, QDBusError, QDBusMessage

from lines import listen, say, show

SESSION = "org.camarb.Session1"
PROPERTIES = "org.freedesktop.DBus.Properties"
SIGNALS = ("WasInterrupted", "InterruptionEnded", "DidStartRunning", "DidStopRunning")


class App(QObject):
    told = pyqtSignal(str)

    def __init__(self, connection, camera):
        super().__init__()
        self.connection = connection
        # Between peers there are no names.
        self.service = "org.camarb" if connection.baseService() else ""
        self.call("/org/camarb/Broker1", "org.camarb.Broker1", "DeclareClient", {"app": "photos"})
        (self.path,) = self.call("/org/camarb/Broker1", "org.camarb.Broker1", "CreateSession", camera, {})
        for name in SIGNALS:
            self.connect(SESSION, name, self.heard)
        # What it takes says what Qt makes of the dictionary.
        self.connect(PROPERTIES, "PropertiesChanged", self.changed)
        self.told.connect(self.do)
        listen(self.told.emit)
        request = self.message(self.path, PROPERTIES, "GetAll", SESSION)
        assert connection.callWithCallback(request, self.properties, self.failed)

    def message(self, path, interface, member, *arguments):
        message = QDBusMessage.createMethodCall(self.service, path, interface, member)
        message.setArguments(arguments)
        return message

    def call(self, path, interface, member, *arguments):
        answer = self.connection.call(self.message(path, interface, member, *arguments))
        assert answer.type() == QDBusMessage.ReplyMessage, f"{member}: {answer.errorName()}: {answer.errorMessage()}"
        return answer.arguments()

    def connect(self, interface, name, slot):
        assert self.connection.connect(self.service, self.path, interface, name, slot), name

    @pyqtSlot(QDBusMessage)
    def heard(self, message):
        say(signal=message.member(), body=message.arguments())
        if message.member() == "DidStartRunning":
            (stream,) = self.call(self.path, SESSION, "OpenStream")
            show(os.dup(stream.fileDescriptor()))

    @pyqtSlot("QString", "QVariantMap", "QStringList")
    def changed(self, interface, changed, named):
        say(changed=changed, named=named)

    @pyqtSlot("QVariantMap")
    def properties(self, properties):
        say(properties=properties)

    @pyqtSlot(QDBusError, QDBusMessage)
    def failed(self, error, message):
        say(failed=error.message())

    def do(self, word):
        if word == "start":
            self.call(self.path, SESSION, "StartRunning")
        elif word == "stop":
            self.call(self.path, SESSION, "StopRunning")
        else:
            self.call(self.path, SESSION, "Close")
            say(closed=self.path)
            QCoreApplication.quit()


def main(way, address, camera):
    application = QCoreApplication([])
    connect = {"peer": QDBusConnection.connectToPeer, "bus": QDBusConnection.connectToBus}[way]
    connection = connect(address, "cameras")
    assert connection.isConnected(), connection.lastError().message()
    app = App(connection, camera)
    application.exec_()
    del app


main(*sys.argv[1:])
