import Broker
import Identity
import Testing

/// Programs that may not answer for apps, and are named by their sandbox.
@Suite("What runs in a sandbox or as a service")
struct SandboxTests {
    private static let manager = "/user.slice/user-1000.slice/user@1000.service"

    @Test(
        "Flatpak's and Snap's scopes are sandboxes, and so is what a container manager made",
        arguments: [
            "\(manager)/app.slice/app-flatpak-org.mozilla.firefox-4711.scope",
            "\(manager)/app.slice/snap.firefox.firefox-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
            "\(manager)/user.slice/libpod-4711.scope",
            "/machine.slice/machine-web.scope", "/machine.slice/libpod-1234.scope",
        ])
    func sandboxes(_ path: String) {
        #expect(ControlGroup(path: path).isSandbox)
    }

    @Test(
        "What is in a sandbox is called as that is, at each start, with what systemd wrote otherwise",
        arguments: [
            ("app-flatpak-org.mozilla.firefox-4711.scope", "org.mozilla.firefox"),
            ("app-flatpak-org.foo.bar\\x2dbaz-4711.scope", "org.foo.bar-baz"),
            ("snap.firefox.firefox-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope", "snap.firefox.firefox"),
            ("app-gnome-cheese\\x-4711.scope", "cheese\\x"),
        ])
    func names(_ unit: String, _ name: String) {
        #expect(AppIdentity.unit(inControlGroup: "\(Self.manager)/app.slice/\(unit)").name == name)
    }

    @Test(
        "A user's own session is none, nor are the programs that a desktop starts in it",
        arguments: [
            "/user.slice/user-1000.slice/session-2.scope", "\(manager)/app.slice/app-gnome-firefox-4711.scope",
            "\(manager)/app.slice/camagent.service", "\(manager)/init.scope", "/", "/init.scope",
        ])
    func sessions(_ path: String) {
        #expect(!ControlGroup(path: path).isSandbox && !ControlGroup(path: path).isService)
    }

    @Test("A service of the system's is one, in a group of its own or below it")
    func services() {
        #expect(ControlGroup(path: "/system.slice/photobooth.service").isService)
        #expect(ControlGroup(path: "/system.slice/ci.service/job").isService)
        #expect(!ControlGroup(path: "\(Self.manager)/app.slice/camagent.service").isService)
    }
}
