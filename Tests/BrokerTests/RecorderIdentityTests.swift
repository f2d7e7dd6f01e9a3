import Broker
import Testing

@Suite("The process that a recorder core names")
struct RecorderIdentityTests {
    private func seen(_ group: String?, process: Int32 = 7, user: UInt32? = 990) -> RecorderIdentity.Seen {
        RecorderIdentity.Seen(process: process, user: user, controlGroup: group)
    }

    private static let unit = "/system.slice/system-camrecorder.slice/camrecorder@3-42-994.service"

    @Test("A service's recorder cores are units of their own, and nothing else is one")
    func units() {
        let expected = RecorderIdentity.unit
        #expect(expected.objection(to: seen(Self.unit), broker: 1) == nil)
        #expect(expected.objection(to: seen(Self.unit), broker: 7) == "the broker itself")
        #expect(expected.objection(to: nil, broker: 1) == "no process that is there")
        for path in [
            nil, "/", "/system.slice/camarbd.service", "/system.slice/camrecorder@3.service",
            "/system.slice/system-camrecorder.slice/other@3.service",
            "/system.slice/system-camrecorder.slice/camrecorder@3.service/below",
            "/system.slice/system-camrecorder.slice/camrecorder@.service",
            "/machine.slice/web.scope/system.slice/system-camrecorder.slice/camrecorder@3.service",
            "/user.slice/user-1000.slice/user@1000.service/system-camrecorder.slice/camrecorder@3.service",
        ] as [String?] {
            let objection = expected.objection(to: seen(path), broker: 1)
            #expect(objection?.hasPrefix("process 7 in") == true, "\(path ?? "none"): \(objection ?? "nothing")")
        }
    }

    @Test("Behind anybody's socket it is a process of whoever listens there, and never the broker")
    func processes() {
        let expected = RecorderIdentity.process(ofUser: 990)
        #expect(expected.objection(to: seen("/"), broker: 1) == nil)
        #expect(expected.objection(to: seen("/"), broker: 7) == "the broker itself")
        #expect(expected.objection(to: seen("/", user: 0), broker: 1)?.contains("user 0") == true)
        #expect(expected.objection(to: seen("/", user: nil), broker: 1) != nil)
        // The service manager listens as root, and its units are another user's.
        #expect(expected.objection(to: seen(Self.unit, user: 991), broker: 1) != nil)
        #expect(RecorderIdentity.process(ofUser: 0).objection(to: seen(Self.unit, user: 991), broker: 1) == nil)
        #expect(RecorderIdentity.process(ofUser: 0).objection(to: seen("/", user: 991), broker: 1) != nil)
    }
}
