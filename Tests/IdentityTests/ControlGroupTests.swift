import System
import Testing

@Suite("What a control group's path names")
struct ControlGroupTests {
    private static let manager = "/user.slice/user-1000.slice/user@1000.service"

    /// - Parameter named: paths below one, and the names that they come to; nil: nobody's.
    private func check(below parent: String = "", verified: Bool = false, _ named: [(String, String?)]) {
        for (path, name) in named {
            let unit = AppIdentity.unit(inControlGroup: parent + path)
            #expect(unit.name == name && unit.isVerified == verified, "\(parent)\(path)")
        }
    }

    @Test("A service that stands in the system's slice is vouched for, and so is an instance in its template's slice")
    func services() {
        check(
            below: "/system.slice/", verified: true,
            [
                ("intercom.service", "intercom.service"), ("system-a.slice/system-a-b.slice/x.service", "x.service"),
                ("system-camrecorder.slice/camrecorder@7-42-994.service", "camrecorder@7-42-994.service"),
                ("snap.studio.daemon.service", "snap.studio.daemon.service"),
                // Names that the kernel could have for files of its own are escaped.
                ("_cpu.service", "cpu.service"), ("dev\\x2ddisk.service", "dev\\x2ddisk.service"),
            ])
    }

    @Test("What is below a service or a scope is at most that unit's, whatever it calls itself")
    func nested() {
        let evacuation = "system.slice/evacuation.service"
        check(
            below: "/system.slice/ci-runner.service/",
            ["evacuation.service", evacuation, "payload", ".control"].map { ($0, "ci-runner.service") })
        check(
            below: "/machine.slice/",
            [
                ("machine-web.scope/\(evacuation)", "machine-web"),
                ("machine-web.scope/payload/\(evacuation)", "machine-web"),
                ("systemd-nspawn@web.service/payload/\(evacuation)", "systemd-nspawn@web.service"),
                ("libpod-4f1e.scope/container/\(evacuation)", "libpod-4f1e"),
            ])
        check([
            ("/system.slice/docker-4f1e.scope/\(evacuation)", "docker-4f1e"),
            ("/system.slice/docker-4f1e.scope/init.scope", "docker-4f1e"),
            ("/kubepods.slice/kubepods-b.slice/cri-containerd-4f1e.scope/evacuation.service", "cri-containerd-4f1e"),
            // A group that another manager than systemd made names nobody, whatever is below it.
            ("/docker/4f1e/\(evacuation)", nil), ("/lxc.payload.web/\(evacuation)", nil),
            ("/lxc/web/\(evacuation)", nil), ("/system.slice/docker-4f1e/evacuation.service", nil),
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
        check(
            below: "\(Self.manager)/app.slice/",
            [
                ("app-gnome-firefox-1234.scope", "firefox"),
                ("app-flatpak-org.gnome.Snapshot-77.scope", "org.gnome.Snapshot"),
                ("app-flatpak-org.foo.bar\\x2dbaz-4711.scope", "org.foo.bar-baz"),
                ("app-gnome-google\\x2dchrome-4711.scope", "google-chrome"),
                ("app-gnome-cheese\\x-4711.scope", "cheese\\x"),
                ("snap.mirror.mirror-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope", "snap.mirror.mirror"),
                ("evacuation.service", "evacuation"), ("zoom.service/system.slice/evacuation.service", "zoom"),
            ])
        check(
            below: Self.manager,
            [
                ("/user.slice/libpod-4f1e.scope/container/evacuation.service", "libpod-4f1e"), ("/init.scope", nil),
                ("", nil),
            ])
        check([
            ("/user.slice/user-1000.slice/session-2.scope", nil), ("/init.scope", nil),
            ("/user.slice/user-1000.slice/session-2.scope/evacuation.service", nil),
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
        let own = ControlGroup(path: "\(Self.manager)/session.slice/shell.service").userUnit
        #expect(own?.user == 1000 && own?.slices == ["session.slice"] && own?.name == "shell.service")
        for path in [
            "/user.slice/user-1001.slice/user@1000.service/shell.service",
            "/system.slice/user@1000.service/shell.service", "\(Self.manager)/payload/shell.service",
            "/machine.slice/web.scope\(Self.manager)/shell.service",
        ] { #expect(ControlGroup(path: path).userUnit == nil, "\(path)") }
    }

    @Test(
        "Flatpak's and Snap's scopes are sandboxes, and so is what a container manager made; a user's session is none, nor a service, as what is in or below one of the system's"
    )
    func sandboxes() {
        for path in [
            "\(Self.manager)/app.slice/app-flatpak-org.mozilla.firefox-4711.scope",
            "\(Self.manager)/app.slice/snap.firefox.firefox-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
            "\(Self.manager)/user.slice/libpod-4711.scope",
            "/machine.slice/machine-web.scope", "/machine.slice/libpod-1234.scope",
        ] { #expect(ControlGroup(path: path).isSandbox, "\(path)") }
        // Nor is what a desktop starts in it.
        for path in [
            "/user.slice/user-1000.slice/session-2.scope", "\(Self.manager)/app.slice/app-gnome-firefox-4711.scope",
            "\(Self.manager)/app.slice/camagent.service", "\(Self.manager)/init.scope", "/",
            "/init.scope",
        ] { #expect(!ControlGroup(path: path).isSandbox && !ControlGroup(path: path).isService, "\(path)") }
        for path in ["/system.slice/photobooth.service", "/system.slice/ci.service/job"] {
            #expect(ControlGroup(path: path).isService, "\(path)")
        }
    }
}
