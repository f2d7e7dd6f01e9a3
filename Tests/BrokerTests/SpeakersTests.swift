import ArbiterProtocol
import Broker
import System
import Testing

@Suite("Clients that speak for a user's desktop")
struct SpeakersTests {
    private static let manager = "/user.slice/user-1000.slice/user@1000.service"
    private static let shellUnit = "org.gnome.Shell@wayland.service"
    private let slot = Speakers.Slot(.shell, user: 1000)

    private func speaker(_ client: UInt64, user: UInt32 = 1000, _ path: String = "/") -> Speakers.Speaker {
        Speakers.Speaker(
            client: ClientID(client), process: Int32(client), user: user, name: "program-\(client)",
            origin: Speakers.Origin(ControlGroup(path: path), user: user))
    }

    private func isRefused(_ answer: Speakers.Answer, _ words: String...) -> Bool {
        guard case .refused(let sentence) = answer else { return false }
        return words.allSatisfy { sentence.contains($0) }
    }

    @Test("The first client keeps the role, and another hears which one has it")
    func first() {
        var speakers = Speakers()
        #expect(speakers.answer(speaker(1), slot, units: []) == .mayDisplacing(nil))
        speakers.assign(speaker(1), to: slot)
        #expect(speakers.answer(speaker(1), slot, units: []) == .speaks)
        #expect(isRefused(speakers.answer(speaker(2), slot, units: []), "Process 1", "program-1", "shell of user 1000"))
        for other in [Speakers.Slot(.shell, user: 1001), Speakers.Slot(.agent, user: 1000)] {
            #expect(speakers.answer(speaker(2), other, units: []) == .mayDisplacing(nil))
        }
        speakers.leave(ClientID(2), slot)
        #expect(speakers.isTaken(slot))
        speakers.leave(ClientID(1), slot)
        #expect(speakers.answer(speaker(2), slot, units: []) == .mayDisplacing(nil))
    }

    @Test("Whoever came first does not lock out the unit that the policy names, nor root")
    func displacing() {
        var speakers = Speakers()
        let squatter = speaker(1)
        let shell = speaker(2, "\(Self.manager)/session.slice/\(Self.shellUnit)")
        let root = speaker(3, user: 0)
        speakers.assign(squatter, to: slot)
        #expect(isRefused(speakers.answer(shell, slot, units: []), "Process 1"))
        #expect(speakers.answer(shell, slot, units: [Self.shellUnit]) == .mayDisplacing(squatter))
        #expect(speakers.answer(root, slot, units: []) == .mayDisplacing(squatter))
        speakers.assign(shell, to: slot)
        // A second process of the unit is no better than the first.
        let another = speaker(4, "\(Self.manager)/session.slice/\(Self.shellUnit)")
        #expect(isRefused(speakers.answer(another, slot, units: [Self.shellUnit]), "Process 2"))
        #expect(isRefused(speakers.answer(squatter, slot, units: [Self.shellUnit]), "Process 2"))
        // Root is displaced by root alone.
        speakers.assign(root, to: slot)
        #expect(isRefused(speakers.answer(shell, slot, units: [Self.shellUnit]), "Process 3"))
        #expect(speakers.answer(speaker(5, user: 0), slot, units: []) == .mayDisplacing(root))
    }

    @Test("An app or a sandbox speaks only where the policy names no unit, and falls silent when one is named")
    func apps() {
        let apps = [
            "app-gnome-zoom-12.scope", "app-zoom.service", "app-flatpak-us.zoom-12.scope", "snap.zoom.zoom-12.scope",
            "app-org.gnome.Terminal.slice/vte-spawn-12.scope", "dbus-:1.2-org.gnome.Maps@0.service",
        ].map { "\(Self.manager)/app.slice/\($0)" }
        for path in apps + [
            "/machine.slice/machine-web.scope/payload", "/system.slice/docker-12.scope",
            "/system.slice/snap.zoom.daemon.service",
        ] {
            var speakers = Speakers()
            let app = speaker(1, path)
            #expect(app.origin.isApp, "\(path)")
            #expect(speakers.answer(app, slot, units: []) == .mayDisplacing(nil), "\(path)")
            #expect(
                isRefused(speakers.answer(app, slot, units: [Self.shellUnit]), "sandbox", Self.shellUnit), "\(path)")
            speakers.assign(app, to: slot)
            #expect(speakers.shutOut { _ in [] }.isEmpty)
            #expect(speakers.shutOut { _ in [Self.shellUnit] }.map(\.speaker) == [app], "\(path)")
        }
        for path in [
            "/", "/user.slice/user-1000.slice/session-2.scope", "\(Self.manager)/session.slice/sway.service",
            "\(Self.manager)/app.slice/camagent.service", "/system.slice/kiosk-screen.service", "/init.scope",
        ] {
            let other = speaker(1, path)
            #expect(!other.origin.isApp, "\(path)")
            #expect(Speakers().answer(other, slot, units: [Self.shellUnit]) == .mayDisplacing(nil), "\(path)")
        }
        // The policy may name an app's own unit.
        let named = speaker(1, "\(Self.manager)/app.slice/app-zoom.service")
        #expect(Speakers().answer(named, slot, units: ["app-zoom.service"]) == .mayDisplacing(nil))
    }

    @Test("A unit is one of the user's own manager, or one that root named")
    func units() {
        for (path, user, unit) in [
            ("\(Self.manager)/app.slice/camagent.service", 1000, "camagent.service"),
            ("\(Self.manager)/app.slice/camagent.service", 1001, nil),
            ("\(Self.manager)/app.slice/ci.service/camagent.service", 1000, "ci.service"),
            ("/system.slice/kiosk-screen.service", 1000, "kiosk-screen.service"),
            ("/system.slice/ci-runner.service/camagent.service", 1000, nil),
            ("/machine.slice/web.scope/system.slice/camagent.service", 1000, nil),
        ] as [(String, UInt32, String?)] {
            #expect(Speakers.Origin(ControlGroup(path: path), user: user).unit == unit, "\(path)")
        }
    }

    @Test("Speakers are listed by role, the one for everybody first")
    func listed() {
        var speakers = Speakers()
        for (client, role) in [(1, .microphones), (1, .agent), (2, .shell)] as [(UInt64, Speakers.Role)] {
            speakers.assign(speaker(client), to: Speakers.Slot(role, user: 1000))
        }
        speakers.assign(speaker(3, user: 0), to: Speakers.Slot(.shell, user: nil))
        #expect(speakers.all.map(\.slot.role) == [.shell, .shell, .agent, .microphones])
        #expect(speakers.all.map(\.speaker.process) == [3, 2, 1, 1])
        #expect(speakers.speaks(ClientID(1), for: 1000))
        #expect(!speakers.speaks(ClientID(1), for: 1001))
        #expect(speakers.speaks(ClientID(3), for: 1001))
    }
}
