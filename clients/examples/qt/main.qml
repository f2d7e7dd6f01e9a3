import QtQuick
import org.camarb

Window {
    width: 640
    height: 360
    visible: true
    title: view.status || qsTr("Camera")
    color: "black"

    CameraView {
        id: view
        objectName: "view"
        anchors.fill: parent
        app: "org.example.Viewer"
    }
}
