import ArbiterProtocol
import BusTesting
import CLinux
import Glibc
import System
import Testing

@Suite struct DaemonTests {
    @Test func withoutAFolderOfDropInsThatWasAskedForItIsFirstComeAndSaysWhy() throws {
        let client = try BrokerProcess(policy: "kiosk", arguments: ["--policy-dir", "/nonexistent/d"]).client()
        let status = try client.status()
        #expect(status.policy == "first-come")
        #expect(status.degraded.contains("/nonexistent/d: it cannot be opened: No such file or directory"))
        #expect(try client.broker("GetPolicy").first?.string?.contains("first-come") == true)
    }

    @Test func withoutADescriptorLeftItRefusesAndDoesNotSpin() throws {
        let process = try BrokerProcess(arguments: ["--max-connections-per-user", "500"], descriptorsMax: 48)
        let client = try process.client()
        _ = try client.status()
        var sockets: [Int32] = []
        defer { for descriptor in sockets { close(descriptor) } }
        let before = switches(process.pid)
        for _ in 0..<100 {
            let descriptor = camarb_unix_connect(process.socket)
            if descriptor >= 0 { sockets.append(descriptor) }
        }
        // Each connection took two descriptors, until there were none; further ones were closed at once.
        try process.wait("refusals") { sockets.count { isClosed($0) } >= 70 }
        _ = try client.status()
        #expect(switches(process.pid) - before < 5000)
        #expect(process.said.contains("refused a connection"))
        for descriptor in sockets { close(descriptor) }
        sockets = []
        try process.wait("room for another") { (try? process.client().status()) != nil }
    }

    private func isClosed(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno == ECONNRESET)
    }

    private func switches(_ pid: Int32) -> Int {
        BrokerProcess.text("/proc/\(pid)/status").split(separator: "\n").reduce(0) { sum, line in
            line.contains("ctxt_switches") ? sum + (Int(line.split(separator: "\t").last ?? "") ?? 0) : sum
        }
    }

    @Test func aUserHasAtMostItsShareOfConnections() throws {
        let process = try BrokerProcess(arguments: ["--max-connections-per-user", "3"])
        let clients = try (0..<3).map { _ in try process.client() }
        for client in clients { _ = try client.status() }
        let fourth = camarb_unix_connect(process.socket)
        try process.wait("the refusal") { isClosed(fourth) }
        close(fourth)
        #expect(process.said.contains("--max-connections-per-user"))
        clients[0].close()
        try process.wait("room for another") { (try? process.client().status()) != nil }
    }

    @Test func aRecorderThatCannotBeStartedDegradesTheBrokerAndNothingElse() throws {
        let process = try BrokerProcess(recorder: "/nonexistent/recorder", arguments: ["--trust-claims"])
        let client = try process.client("photos")
        let status = try client.status()
        #expect(status.degraded.contains("/nonexistent/recorder") && status.cameras.isEmpty)
        #expect(status.degraded.contains("--trust-claims"))
        refused(.unknownCamera, "front") { _ = try client.session() }
    }

    @Test func theBusThatIsNotThereIsAnsweredFor() throws {
        let process = try BrokerProcess()
        let client = try process.client()
        func bus(_ member: String, _ arguments: WireValue...) throws -> [WireValue] {
            try client.call("/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
        }
        let name = try #require(try bus("Hello").first?.string)
        #expect(name.hasPrefix(":1."))
        #expect(try bus("AddMatch", .string("type='signal'")) == [])
        for (member, asked, answer) in [
            ("GetNameOwner", "org.camarb", .string(":1.0")), ("GetNameOwner", name, .string(name)),
            ("NameHasOwner", "org.camarb", .boolean(true)), ("NameHasOwner", "org.example.Booth", .boolean(false)),
            ("GetConnectionUnixProcessID", name, .uint32(UInt32(getpid()))),
            ("GetConnectionUnixProcessID", "org.camarb", .uint32(UInt32(process.pid))),
        ] as [(String, String, WireValue)] {
            #expect(try bus(member, .string(asked)) == [answer], "\(member) \(asked)")
        }
        refused(.accessDenied) { _ = try bus("RequestName", .string("org.example.Booth"), .uint32(4)) }
        refused(.nameHasNoOwner) { _ = try bus("GetNameOwner", .string("org.example.Booth")) }
        #expect(try bus("StartServiceByName", .string("org.camarb"), .uint32(0)) == [.uint32(2)])
        #expect(try client.call("/", "org.freedesktop.DBus.Peer", "Ping") == [])
        refused(.propertyReadOnly) {
            try client.setProperty(ObjectPath.broker, InterfaceName.broker, "PolicyName", "mine")
        }
    }
}
