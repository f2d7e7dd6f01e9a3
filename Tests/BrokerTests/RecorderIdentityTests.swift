import ArbiterProtocol
import Broker
import Bus
import Glibc
import Loop
import Testing

/// Which processes a recorder core may name as its own, and what becomes of the others.
@Suite("The process that a recorder core names", .timeLimit(.minutes(10)))
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

    /// A broker whose recorder cores name what `named` gives.
    private func lying(
        _ arguments: [String] = [], naming named: @escaping (FakeRecorder) -> Int32?
    ) throws -> (BrokerProcess, FakeRecorders) {
        let recorders = try FakeRecorders()
        recorders.whenCalled = { recorder, message in
            guard message.member == "Serve" else { return false }
            if let descriptor = named(recorder) { message.answer([.fileDescriptor(descriptor)]) }
            return true
        }
        let process = try BrokerProcess(recorder: "unix:" + recorders.path, arguments: arguments)
        try recorders.listen(on: process.loop)
        return (process, recorders)
    }

    @Test("A recorder core that names the broker, or no process, is refused with a line in the journal")
    func refused() throws {
        var broker: Int32 = 0
        var handles: [ProcessHandle] = []
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var isFirst = true
        let (process, recorders) = try lying { _ in
            isFirst.toggle()
            if isFirst { return file }
            guard let handle = ProcessHandle(opening: broker) else { return nil }
            handles.append(handle)
            return handle.descriptor
        }
        broker = process.pid
        try process.wait("both to be refused") {
            process.said.contains("Serve named the broker itself") && process.said.contains("Serve named no process")
        }
        #expect(process.ending == nil)
        #expect(recorders.all.count >= 2)
    }

    @Test("As a service, a broker never signals a process that is no unit of its recorder cores")
    func neverSignalled() throws {
        var victim: ChildProcess?
        var ending: ChildProcess.Ending?
        let (process, recorders) = try lying(["--service"]) { _ in victim?.handle.descriptor }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        victim = try ChildProcess(path: "/bin/sleep", arguments: ["600"], passing: nothing, on: process.loop) {
            ending = $0
        }
        try process.wait("it to be refused, and another recorder core asked") {
            process.said.contains("which is no unit camrecorder@….service of the system's") && recorders.all.count >= 2
        }
        #expect(ending == nil && victim?.handle.isAlive == true)
        victim?.signal(SIGKILL)
        try process.wait("its end") { ending != nil }
    }
}
