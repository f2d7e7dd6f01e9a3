import ArbiterProtocol
import CLinux
import Glibc
import Testing

@Suite struct BadInputTests {
    @Test func valuesThatCannotBeMeantAreRefusedWithWhatIsAllowed() throws {
        let client = try BrokerProcess(policy: "kiosk").client("photos")
        refused(.unknownCamera, "nowhere", "front") { _ = try client.session("nowhere") }
        refused(.unsupportedConfiguration, "colour") { _ = try client.session("front", ["colour": .string("blue")]) }
        let session = try client.session()
        refused(.unsupportedConfiguration, "activeFormat", "420v 1x1") {
            try session.call("Configure", .dictionary(["activeFormat": .string("420v 1x1")]))
        }
        refused(.invalidValue, "presence", "slide-over") {
            try client.broker("DeclarePresence", .string("sideways"), .boolean(false))
        }
        refused(.priorityRaised, "safety") { try client.broker("LowerPriority", .string("safety")) }
        refused(.invalidValue, "emperor", "attract") { try client.broker("LowerPriority", .string("emperor")) }
        refused(.invalidValue, "colour", "kind") {
            try client.process.client().broker("DeclareClient", .dictionary(["colour": .string("blue")]))
        }
        refused(.invalidValue, "plan") { try client.broker("Plan", .string("photos dances")) }
        refused(.invalidValue, "shell, agent") { try client.shell("Attach", .string("king")) }
        refused(.unknownCamera, "nowhere") { try client.shell("Plug", .string("nowhere"), .boolean(true)) }
        try session.run()
        #expect(session.names == ["DidStartRunning"])
    }

    /// Other kinds of descriptors are in the claims.
    @Test func onlyAWritableRegularFileCanBeRecordedTo() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        let sealed = camarb_memfd("test", 4096)
        #expect(camarb_memfd_seal(sealed) == 0)
        for (descriptor, word) in [
            (open(process.directory + "/log", 0o10000000), "O_PATH"), (sealed, "sealed"),
            (open("/proc/self/comm", O_WRONLY), "kernel"),
        ] as [(Int32, String)] {
            #expect(descriptor >= 0, "\(word)")
            for member in ["StartRecording", "CapturePhoto"] {
                refused(.unsuitableFile, word) {
                    try session.call(member, .fileDescriptor(descriptor), .dictionary([:]))
                }
            }
            close(descriptor)
        }
    }

    @Test func aFileIsRecordedToOnce() throws {
        let process = try BrokerProcess(cameras: ["front=simulated", "back=simulated"])
        let front = try process.client("photos").session("front")
        let back = try process.client("video").session("back")
        for session in [front, back] { try session.run() }
        try front.record()
        let again = try process.file("a", O_RDWR)
        defer { close(again) }
        refused(.unsuitableFile, "already") {
            try back.call("StartRecording", .fileDescriptor(again), .dictionary([:]))
        }
        // A photo would destroy the file, too, whichever camera takes it.
        for session in [front, back] {
            refused(.unsuitableFile, "already") {
                try session.call("CapturePhoto", .fileDescriptor(again), .dictionary([:]))
            }
        }
        try front.call("StopRecording")
        try front.wait("RecordingFinished")
        // The file may be used anew once it is whole.
        try back.call("StartRecording", .fileDescriptor(again), .dictionary([:]))
        try back.wait("RecordingStarted")
    }

    @Test func aSessionAnswersItsOwnClientOnly() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        refused(.notRunning) { try session.call("OpenStream") }
        try session.run()
        let thief = TestSession(client: try process.client("thief"), path: session.path)
        for member in ["StartRunning", "StopRunning", "OpenStream", "StopRecording", "Continue", "Close"] {
            refused(.accessDenied, "another client") { try thief.call(member) }
        }
        refused(.accessDenied) { _ = try thief.client.property(session.path, InterfaceName.session, "Running") }
        #expect(session.names == ["DidStartRunning"])
        try session.call("Close")
        refused(.unknownSession) { try session.call("StartRunning") }
    }

    @Test func whatIsNotThereIsSaidWithWhatIs() throws {
        let client = try BrokerProcess().client()
        let (broker, properties) = (ObjectPath.broker, "org.freedesktop.DBus.Properties")
        for (kind, word, path, interface, member, arguments) in [
            (.unknownObject, "/org/camarb/Broker1", "/org/nothing", InterfaceName.broker, "Watch", []),
            (.unknownInterface, "org.camarb.Broker1", broker, "org.camarb.Broker2", "Watch", []),
            (.unknownMethod, "CreateSession", broker, InterfaceName.broker, "MakeSession", []),
            (.invalidArguments, "sa{sv}", broker, InterfaceName.broker, "CreateSession", [.int32(3)]),
            (.invalidArguments, "no arguments", broker, InterfaceName.broker, "GetStatus", [.int32(3)]),
            (.unknownInterface, "", broker, properties, "GetAll", [.string("org.camarb.Nothing")]),
            (.unknownObject, "", "/org/camarb/camera/nowhere", properties, "GetAll", [.string("")]),
            (.unknownMethod, "", broker, "org.freedesktop.DBus", "Reboot", []),
        ] as [(BrokerError.Kind, String, String, String, String, [WireValue])] {
            refused(kind, word) { try client.call(path, interface, member, arguments) }
        }
    }

    @Test func aClientHasAtMostSixtyFourSessions() throws {
        let client = try BrokerProcess().client("photos")
        let sessions = try (0..<64).map { _ in try client.session() }
        refused(.limitExceeded, "64") { _ = try client.session() }
        try sessions[0].call("Close")
        _ = try client.session()
    }
}
