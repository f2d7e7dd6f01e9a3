import ArbiterProtocol
import Broker
import CLinux
import Glibc
import Loop
import Testing

@Suite struct DaemonTests {
    @Test func aBadPolicyNeverReplacesAGoodOne() throws {
        let first = try BrokerProcess()
        let path = try first.write("name = \"one\"\nsummary = \"s\"\n[contention]\ntie = \"holder\"\n", to: "p.toml")
        let process = try BrokerProcess(policy: path)
        let client = try process.client()
        func name() throws -> WireValue? { try client.property(ObjectPath.broker, InterfaceName.broker, "PolicyName") }
        func degraded() throws -> String {
            try client.property(ObjectPath.broker, InterfaceName.broker, "Degraded")?.string ?? ""
        }
        #expect(try name() == .string("one"))
        #expect(try degraded() == "")
        _ = try first.write("name = \"two\"\nsummary = \"s\"\n[contention]\ntei = \"holder\"\n", to: "p.toml")
        process.signal(SIGHUP)
        try process.wait("the complaint") { try degraded().contains("tei") }
        #expect(try name() == .string("one"))
        #expect(process.said.contains("stays in force"))
        _ = try first.write("name = \"three\"\nsummary = \"s\"\n[contention]\ntie = \"holder\"\n", to: "p.toml")
        process.signal(SIGHUP)
        try process.wait("the third policy") { try name() == .string("three") }
        #expect(try degraded() == "")
    }

    @Test func withoutAValidPolicyItIsFirstComeAndSaysWhy() throws {
        let first = try BrokerProcess()
        let path = try first.write("name = 3\n", to: "p.toml")
        let process = try BrokerProcess(policy: path)
        let status = try process.client().status()
        #expect(status.policy == "first-come")
        #expect(status.degraded.contains(path))
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
        // Each connection took two descriptors, until there were none; those beyond were closed at once.
        try process.wait("refusals") { sockets.count { isClosed($0) } >= 70 }
        _ = try client.status()
        #expect(switches(process.pid) - before < 5000)
        #expect(process.said.contains("refused a connection"))
        for descriptor in sockets { close(descriptor) }
        sockets = []
        // It recovers.
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

    @Test func sigtermEndsItInOrderWithItsRecorders() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        let recorder = try #require(process.recorders.first)
        process.signal(SIGTERM)
        try process.wait("its end") { process.ending != nil }
        #expect(process.ending == .exited(0))
        #expect(access(process.socket, F_OK) != 0)
        try process.wait("the recorder's end") { kill(recorder, 0) != 0 }
        try process.wait("the end of the connection") { session.client.end != nil }
    }

    @Test func aRecorderThatCannotBeStartedDegradesTheBrokerAndNothingElse() throws {
        let process = try BrokerProcess(recorder: "/nonexistent/recorder")
        let client = try process.client("photos")
        let status = try client.status()
        #expect(status.degraded.contains("/nonexistent/recorder"))
        #expect(status.cameras.isEmpty)
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
        #expect(try bus("GetNameOwner", .string("org.camarb")) == [.string(":1.0")])
        #expect(try bus("GetNameOwner", .string(name)) == [.string(name)])
        #expect(try bus("NameHasOwner", .string("org.camarb")) == [.boolean(true)])
        #expect(try bus("NameHasOwner", .string("org.example.Booth")) == [.boolean(false)])
        refused(.unknownMethod) { _ = try bus("RequestName", .string("org.example.Booth"), .uint32(4)) }
        #expect(try bus("StartServiceByName", .string("org.camarb"), .uint32(0)) == [.uint32(2)])
        #expect(try bus("GetConnectionUnixProcessID", .string(name)) == [.uint32(UInt32(getpid()))])
        #expect(try bus("GetConnectionUnixProcessID", .string("org.camarb")) == [.uint32(UInt32(process.pid))])
        for object in ["/", "/org/camarb", ObjectPath.broker, "/org/camarb/camera/front"] {
            let xml = try client.call(object, "org.freedesktop.DBus.Introspectable", "Introspect").first?.string ?? ""
            #expect(xml.contains("<node"), "\(object)")
            #expect(try client.call(object, "org.freedesktop.DBus.Peer", "Ping") == [])
        }
        let tree = try client.call("/org/camarb", "org.freedesktop.DBus.Introspectable", "Introspect").first?.string
        #expect(tree?.contains("<node name=\"camera\"/>") == true)
        refused(.propertyReadOnly) {
            try client.setProperty(ObjectPath.broker, InterfaceName.broker, "PolicyName", "mine")
        }
    }

    @Test func claimsCountAsVerifiedOnlyWhereThatWasAskedFor() throws {
        let process = try BrokerProcess(policy: "kiosk", arguments: ["--trust-claims"])
        let evacuation = try process.client("evacuation.service").session()
        let other = try process.client("photos").session()
        try other.run()
        try evacuation.run()
        let status = try other.client.status()
        #expect(status.sessions.first?.rank == "safety")
        #expect(status.sessions.last?.rank == "other")
        #expect(status.degraded.contains("--trust-claims"))

        let strict = try BrokerProcess(policy: "kiosk")
        let pretender = try strict.client("evacuation.service").session()
        try pretender.run()
        #expect(try pretender.client.status().sessions.first?.rank == "other")
    }

    @Test func flagsAreReadAndMistakesNamed() throws {
        guard
            case .run(let options) = BrokerOptions.read([
                "--socket", "/s", "--camera=front=simulated:iphone5-back", "--camera", "back=file:/clip.mp4",
                "--max-connections",
                "7", "--trust-claims",
            ])
        else {
            Issue.record("The flags were not understood.")
            return
        }
        #expect(options.socket == "/s" && options.trustsClaims && options.connectionsMax == 7)
        #expect(options.cameras.map(\.id.name) == ["front", "back"])
        #expect(options.cameras.map(\.spec) == ["simulated:iphone5-back", "file:/clip.mp4"])
        let mistakes: [([String], String)] = [
            (["--sokcet", "/s"], "--sokcet"), (["--socket"], "nothing follows"), (["--camera", "front"], "ID=SPEC"),
            (["--trust-claims=no"], "--trust-claims takes no value"), (["--decisions=off"], "takes no value"),
            (["--camera", "a=none", "--camera", "a=simulated"], "twice"),
            (["--camera", "a=simulated:nokia"], "iphone6s-back"), (["--camera", "a=/dev/video0"], "file:PATH"),
            (["--camera", "a=file:"], "file:PATH"), (["--max-connections", "none"], "1000000"), (["x"], "x"),
        ]
        for (arguments, word) in mistakes {
            guard case .mistake(let sentence) = BrokerOptions.read(arguments) else {
                Issue.record("\(arguments) was accepted.")
                continue
            }
            #expect(sentence.contains(word), "\(sentence)")
        }
        guard case .show(let help) = BrokerOptions.read(["--help"]) else {
            Issue.record("There is no help.")
            return
        }
        for flag in ["--socket", "--policy", "--camera", "--recorder", "--trust-claims", "--max-connections"] {
            #expect(help.contains(flag))
        }
    }
}
