import System
import Testing

/// The unit that a control group's path names: paths as systemd, container managers and attackers make them.
@Suite("What a control group's path names")
struct ControlGroupTests {
    /// - Parameter named: paths, and the names that they come to; nil: nobody's.
    private func check(verified: Bool = false, _ named: [(String, String?)]) {
        for (path, name) in named {
            let unit = AppIdentity.unit(inControlGroup: path)
            #expect(unit.name == name && unit.isVerified == verified, "\(path)")
        }
    }

    @Test("A service that stands in the system's slice is vouched for, and so is an instance in its template's slice")
    func services() {
        check(
            verified: true,
            [
                ("/system.slice/intercom.service", "intercom.service"),
                (
                    "/system.slice/system-camrecorder.slice/camrecorder@7-42-994.service",
                    "camrecorder@7-42-994.service"
                ), ("/system.slice/system-a.slice/system-a-b.slice/x.service", "x.service"),
                ("/system.slice/snap.studio.daemon.service", "snap.studio.daemon.service"),
                // Names that the kernel could have for files of its own are escaped.
                ("/system.slice/_cpu.service", "cpu.service"),
                ("/system.slice/dev\\x2ddisk.service", "dev\\x2ddisk.service"),
            ])
    }

    @Test("What is below a service or a scope is at most that unit's, whatever it calls itself")
    func nested() {
        check([
            ("/system.slice/ci-runner.service/evacuation.service", "ci-runner.service"),
            ("/system.slice/ci-runner.service/system.slice/evacuation.service", "ci-runner.service"),
            ("/system.slice/ci-runner.service/payload", "ci-runner.service"),
            ("/system.slice/ci-runner.service/.control", "ci-runner.service"),
            ("/machine.slice/machine-web.scope/system.slice/evacuation.service", "machine-web"),
            ("/machine.slice/machine-web.scope/payload/system.slice/evacuation.service", "machine-web"),
            (
                "/machine.slice/systemd-nspawn@web.service/payload/system.slice/evacuation.service",
                "systemd-nspawn@web.service"
            ), ("/machine.slice/libpod-4f1e.scope/container/system.slice/evacuation.service", "libpod-4f1e"),
            ("/system.slice/docker-4f1e.scope/system.slice/evacuation.service", "docker-4f1e"),
            ("/system.slice/docker-4f1e.scope/init.scope", "docker-4f1e"),
            (
                "/kubepods.slice/kubepods-burstable.slice/cri-containerd-4f1e.scope/evacuation.service",
                "cri-containerd-4f1e"
            ),
        ])
    }

    @Test("A group that another manager than systemd made names nobody, whatever is below it")
    func foreign() {
        check([
            ("/docker/4f1e/system.slice/evacuation.service", nil),
            ("/lxc.payload.web/system.slice/evacuation.service", nil),
            ("/lxc/web/system.slice/evacuation.service", nil),
            ("/system.slice/docker-4f1e/evacuation.service", nil),
        ])
    }

    @Test("A service in a slice that is not the system's own has a name and is not vouched for")
    func otherSlices() {
        check(
            [
                "/machine.slice/", "/lxc.payload.web.slice/system.slice/", "/user.slice/user-1000.slice/",
                // Not what its own name says it is below.
                "/system.slice/evil.slice/", "/system-a.slice/", "/_system.slice/", "/",
            ].map { ("\($0)evacuation.service", "evacuation.service") })
    }

    @Test("The units of a user's manager are that user's word, the outermost of them")
    func users() {
        let manager = "/user.slice/user-1000.slice/user@1000.service"
        check([
            ("\(manager)/app.slice/app-gnome-firefox-1234.scope", "firefox"),
            ("\(manager)/app.slice/app-flatpak-org.gnome.Snapshot-77.scope", "org.gnome.Snapshot"),
            ("\(manager)/app.slice/app-flatpak-org.foo.bar\\x2dbaz-4711.scope", "org.foo.bar-baz"),
            ("\(manager)/app.slice/app-gnome-google\\x2dchrome-4711.scope", "google-chrome"),
            ("\(manager)/app.slice/app-gnome-cheese\\x-4711.scope", "cheese\\x"),
            (
                "\(manager)/app.slice/snap.mirror.mirror-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
                "snap.mirror.mirror"
            ), ("\(manager)/app.slice/evacuation.service", "evacuation"),
            ("\(manager)/app.slice/zoom.service/system.slice/evacuation.service", "zoom"),
            ("\(manager)/user.slice/libpod-4f1e.scope/container/evacuation.service", "libpod-4f1e"),
            ("\(manager)/init.scope", nil), (manager, nil), ("/user.slice/user-1000.slice/session-2.scope", nil),
            ("/user.slice/user-1000.slice/session-2.scope/evacuation.service", nil), ("/init.scope", nil),
        ])
    }

    @Test("A path that is none, or leads out of what can be seen, names nobody")
    func noPaths() {
        check(
            [
                "", "/", "system.slice/x.service", "/../system.slice/x.service", "/system.slice/../x.service",
                "/system.slice/x.service/..", "//system.slice/x.service", "/system.slice//x.service",
                "/system.slice/x.service/", "/system.slice/./x.service", "/system.slice/x.service (deleted)",
                "/system.slice/.service", "/system.slice/x@.service", "/system.slice/@x.service",
                "/system.slice/x y.service", "/system.slice/x\n.service", "/system.slice/ä.service", "/system.slice",
                "/.slice/x.service", "/system.slice/\(String(repeating: "x", count: 300)).service",
            ].map { ($0, nil) })
    }

    @Test("A user's unit is of the manager that stands in that user's own slice, and of no other")
    func managers() {
        let own = ControlGroup(path: "/user.slice/user-1000.slice/user@1000.service/session.slice/shell.service")
        #expect(own.userUnit?.user == 1000)
        #expect(own.userUnit?.slices == ["session.slice"])
        #expect(own.userUnit?.name == "shell.service")
        for path in [
            "/user.slice/user-1001.slice/user@1000.service/shell.service",
            "/system.slice/user@1000.service/shell.service",
            "/user.slice/user-1000.slice/user@1000.service/payload/shell.service",
            "/machine.slice/web.scope/user.slice/user-1000.slice/user@1000.service/shell.service",
        ] {
            #expect(ControlGroup(path: path).userUnit == nil, "\(path)")
        }
    }

    // MARK: Programs that may not answer for apps, and are named by their sandbox

    private static let app = "/user.slice/user-1000.slice/user@1000.service/app.slice"

    @Test(
        "Flatpak's and Snap's scopes are sandboxes, and so is what a container manager made; a user's session is none")
    func sandboxes() {
        for path in [
            "\(Self.app)/app-flatpak-org.mozilla.firefox-4711.scope",
            "\(Self.app)/snap.firefox.firefox-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-4711.scope",
            "/machine.slice/machine-web.scope", "/machine.slice/libpod-1234.scope",
        ] { #expect(ControlGroup(path: path).isSandbox, "\(path)") }
        // Nor is what a desktop starts in it.
        for path in [
            "/user.slice/user-1000.slice/session-2.scope", "\(Self.app)/app-gnome-firefox-4711.scope",
            "\(Self.app)/camagent.service", "/user.slice/user-1000.slice/user@1000.service/init.scope", "/",
            "/init.scope",
        ] { #expect(!ControlGroup(path: path).isSandbox && !ControlGroup(path: path).isService, "\(path)") }
    }

    @Test("A service of the system's is one, in a group of its own or below it")
    func isService() {
        #expect(ControlGroup(path: "/system.slice/photobooth.service").isService)
        #expect(ControlGroup(path: "/system.slice/ci.service/job").isService)
    }
}
