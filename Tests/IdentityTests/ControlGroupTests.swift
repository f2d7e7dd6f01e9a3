import Identity
import Loop
import Testing

/// The unit that a control group's path names: paths as systemd, container managers and attackers make them.
@Suite("What a control group's path names")
struct ControlGroupTests {
    private struct Case {
        var path: String
        var name: String?
        var isVerified: Bool

        init(_ path: String, _ name: String?, verified: Bool = false) {
            self.path = path
            self.name = name
            isVerified = verified
        }
    }

    private func check(_ cases: [Case]) {
        for one in cases {
            let unit = AppIdentity.unit(inControlGroup: one.path)
            #expect(unit.name == one.name, "\(one.path)")
            #expect(unit.isVerified == one.isVerified, "\(one.path)")
        }
    }

    @Test("A service that stands in the system's slice is vouched for, and so is an instance in its template's slice")
    func services() {
        check([
            Case("/system.slice/intercom.service", "intercom.service", verified: true),
            Case(
                "/system.slice/system-camrecorder.slice/camrecorder@7-42-994.service",
                "camrecorder@7-42-994.service", verified: true),
            Case("/system.slice/system-a.slice/system-a-b.slice/x.service", "x.service", verified: true),
            Case("/system.slice/snap.studio.daemon.service", "snap.studio.daemon.service", verified: true),
            // Names that the kernel could have for files of its own are escaped.
            Case("/system.slice/_cpu.service", "cpu.service", verified: true),
            Case("/system.slice/dev\\x2ddisk.service", "dev\\x2ddisk.service", verified: true),
        ])
    }

    @Test("What is below a service or a scope is at most that unit's, whatever it calls itself")
    func nested() {
        check([
            Case("/system.slice/ci-runner.service/evacuation.service", "ci-runner.service"),
            Case("/system.slice/ci-runner.service/system.slice/evacuation.service", "ci-runner.service"),
            Case("/system.slice/ci-runner.service/payload", "ci-runner.service"),
            Case("/system.slice/ci-runner.service/.control", "ci-runner.service"),
            Case("/machine.slice/machine-web.scope/system.slice/evacuation.service", "machine-web"),
            Case("/machine.slice/machine-web.scope/payload/system.slice/evacuation.service", "machine-web"),
            Case(
                "/machine.slice/systemd-nspawn@web.service/payload/system.slice/evacuation.service",
                "systemd-nspawn@web.service"),
            Case("/machine.slice/libpod-4f1e.scope/container/system.slice/evacuation.service", "libpod-4f1e"),
            Case("/system.slice/docker-4f1e.scope/system.slice/evacuation.service", "docker-4f1e"),
            Case("/system.slice/docker-4f1e.scope/init.scope", "docker-4f1e"),
            Case(
                "/kubepods.slice/kubepods-burstable.slice/cri-containerd-4f1e.scope/evacuation.service",
                "cri-containerd-4f1e"),
        ])
    }

    @Test("A group that another manager than systemd made names nobody, whatever is below it")
    func foreign() {
        check([
            Case("/docker/4f1e/system.slice/evacuation.service", nil),
            Case("/lxc.payload.web/system.slice/evacuation.service", nil),
            Case("/lxc/web/system.slice/evacuation.service", nil),
            Case("/system.slice/docker-4f1e/evacuation.service", nil),
        ])
    }

    @Test("A service in a slice that is not the system's own has a name and is not vouched for")
    func otherSlices() {
        check([
            Case("/machine.slice/evacuation.service", "evacuation.service"),
            Case("/lxc.payload.web.slice/system.slice/evacuation.service", "evacuation.service"),
            Case("/user.slice/user-1000.slice/evacuation.service", "evacuation.service"),
            // Not what its own name says it is below.
            Case("/system.slice/evil.slice/evacuation.service", "evacuation.service"),
            Case("/system-a.slice/evacuation.service", "evacuation.service"),
            Case("/_system.slice/evacuation.service", "evacuation.service"),
            Case("/evacuation.service", "evacuation.service"),
        ])
    }

    @Test("The units of a user's manager are that user's word, the outermost of them")
    func users() {
        let manager = "/user.slice/user-1000.slice/user@1000.service"
        check([
            Case("\(manager)/app.slice/app-gnome-firefox-1234.scope", "firefox"),
            Case("\(manager)/app.slice/app-flatpak-org.gnome.Snapshot-77.scope", "org.gnome.Snapshot"),
            Case("\(manager)/app.slice/app-gnome-google\\x2dchrome-4711.scope", "google-chrome"),
            Case(
                "\(manager)/app.slice/snap.mirror.mirror-3dcfaa86-60a3-4a4f-9f83-4b83a6f4a7c1.scope",
                "snap.mirror.mirror"),
            Case("\(manager)/app.slice/evacuation.service", "evacuation"),
            Case("\(manager)/app.slice/zoom.service/system.slice/evacuation.service", "zoom"),
            Case("\(manager)/user.slice/libpod-4f1e.scope/container/evacuation.service", "libpod-4f1e"),
            Case("\(manager)/init.scope", nil),
            Case(manager, nil),
            Case("/user.slice/user-1000.slice/session-2.scope", nil),
            Case("/user.slice/user-1000.slice/session-2.scope/evacuation.service", nil),
            Case("/init.scope", nil),
        ])
    }

    @Test("A path that is none, or leads out of what can be seen, names nobody")
    func noPaths() {
        check([
            Case("", nil), Case("/", nil), Case("system.slice/x.service", nil),
            Case("/../system.slice/x.service", nil), Case("/system.slice/../x.service", nil),
            Case("/system.slice/x.service/..", nil), Case("//system.slice/x.service", nil),
            Case("/system.slice//x.service", nil), Case("/system.slice/x.service/", nil),
            Case("/system.slice/./x.service", nil), Case("/system.slice/x.service (deleted)", nil),
            Case("/system.slice/.service", nil), Case("/system.slice/x@.service", nil),
            Case("/system.slice/@x.service", nil), Case("/system.slice/x y.service", nil),
            Case("/system.slice/x\n.service", nil), Case("/system.slice/ä.service", nil),
            Case("/system.slice", nil), Case("/.slice/x.service", nil),
            Case("/system.slice/\(String(repeating: "x", count: 300)).service", nil),
        ])
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
}
