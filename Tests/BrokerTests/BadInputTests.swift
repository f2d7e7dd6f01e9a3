import ArbiterProtocol
import CLinux
import Glibc
import Testing

@Suite struct BadInputTests {
    @Test func valuesThatCannotBeMeantAreRefusedWithWhatIsAllowed() throws {
        let process = try BrokerProcess(policy: "kiosk")
        let client = try process.client("photos")
        refused(.unknownCamera, "nowhere", "front") { _ = try client.session("nowhere") }
        refused(.unsupportedConfiguration, "colour") { _ = try client.session("front", ["colour": .string("blue")]) }
        let session = try client.session()
        refused(.unsupportedConfiguration, "videoZoomFactor") {
            try session.call("Configure", .dictionary(["videoZoomFactor": .double(1e6)]))
        }
        refused(.unsupportedConfiguration, "activeFormat", "420v 1x1") {
            try session.call("Configure", .dictionary(["activeFormat": .string("420v 1x1")]))
        }
        refused(.invalidValue, "presence", "slide-over") {
            try client.broker("DeclarePresence", .string("sideways"), .boolean(false))
        }
        refused(.priorityRaised, "safety") { try client.broker("LowerPriority", .string("safety")) }
        refused(.invalidValue, "emperor", "attract") { try client.broker("LowerPriority", .string("emperor")) }
        refused(.invalidValue, "colour", "kind") {
            try process.client().broker("DeclareClient", .dictionary(["colour": .string("blue")]))
        }
        refused(.unknownDecision, "999999") { try client.broker("Explain", .uint64(999_999)) }
        refused(.invalidValue, "plan") { try client.broker("Plan", .string("photos dances")) }
        refused(.invalidValue, "shell, agent") { try client.shell("Attach", .string("king")) }
        refused(.notTrusted, "Attach") {
            try client.shell("PlaceApp", .string("x"), .string("split"), .boolean(true))
        }
        refused(.unknownCamera, "nowhere") { try client.shell("Plug", .string("nowhere"), .boolean(true)) }
        // Nothing of all that changed anything.
        try session.run()
        #expect(session.names == ["DidStartRunning"])
    }

    @Test func requestsOutOfOrderAreRefused() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        refused(.notInsideConfiguration) { try session.call("CommitConfiguration") }
        try session.call("BeginConfiguration")
        refused(.insideConfiguration) { try session.call("StartRunning") }
        try session.call("CommitConfiguration")
        // A stop of a session that does not ask to run is no error.
        try session.call("StopRunning")
        refused(.notRunning) { try session.call("OpenStream") }
        refused(.notRecording) { try session.call("StopRecording") }
        try session.run()
        try session.call("Close")
        refused(.unknownSession) { try session.call("StartRunning") }
    }

    @Test func onlyAWritableRegularFileCanBeRecordedTo() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        var pipes: [Int32] = [-1, -1]
        #expect(pipe(&pipes) == 0)
        let sealed = camarb_memfd("test", 4096)
        #expect(camarb_memfd_seal(sealed) == 0)
        let unsuitable: [(descriptor: Int32, word: String)] = [
            (pipes[1], "regular"), (open("/dev/null", O_WRONLY), "regular"),
            (open(process.directory, O_RDONLY | O_DIRECTORY), "regular"),
            (try process.file("a", O_RDONLY), "not open for writing"),
            (try process.file("a", O_WRONLY | O_APPEND), "appending"),
            (open(process.directory + "/a", 0o10000000), "O_PATH"), (sealed, "sealed"),
            (open("/proc/self/comm", O_WRONLY), "kernel"),
        ]
        for (descriptor, word) in unsuitable {
            #expect(descriptor >= 0, "\(word)")
            refused(.unsuitableFile, word, "regular file") {
                try session.call("StartRecording", .fileDescriptor(descriptor), .dictionary([:]))
            }
            refused(.unsuitableFile, word) {
                try session.call("CapturePhoto", .fileDescriptor(descriptor), .dictionary([:]))
            }
            close(descriptor)
        }
        close(pipes[0])
        #expect(session.names == ["DidStartRunning"])
    }

    @Test func aFileIsRecordedToOnce() throws {
        let process = try BrokerProcess(cameras: ["front=simulated", "back=simulated"])
        let front = try process.client("photos").session("front")
        let back = try process.client("video").session("back")
        try front.run()
        try back.run()
        let file = try process.file("a")
        let other = try process.file("b")
        let again = try process.file("a", O_RDWR)
        defer { for descriptor in [file, other, again] { close(descriptor) } }
        try front.call("StartRecording", .fileDescriptor(file), .dictionary([:]))
        refused(.alreadyRecording) { try front.call("StartRecording", .fileDescriptor(other), .dictionary([:])) }
        refused(.unsuitableFile, "already") {
            try back.call("StartRecording", .fileDescriptor(again), .dictionary([:]))
        }
        // A photo would destroy it as well, whichever camera takes it.
        for session in [front, back] {
            refused(.unsuitableFile, "already") {
                try session.call("CapturePhoto", .fileDescriptor(again), .dictionary([:]))
            }
        }
        try front.call("StopRecording")
        try front.wait("RecordingFinished")
        // It may be used anew once it is whole.
        try back.call("StartRecording", .fileDescriptor(again), .dictionary([:]))
        try back.wait("RecordingStarted")
    }

    @Test func aSessionAnswersItsOwnClientOnly() throws {
        let process = try BrokerProcess()
        let session = try process.client("photos").session()
        try session.run()
        let thief = TestSession(client: try process.client("thief"), path: session.path)
        for member in ["StartRunning", "StopRunning", "OpenStream", "StopRecording", "Continue", "Close"] {
            refused(.accessDenied, "another client") { try thief.call(member) }
        }
        refused(.accessDenied) { _ = try thief.client.property(session.path, InterfaceName.session, "Running") }
        #expect(session.names == ["DidStartRunning"])
    }

    @Test func whatIsNotThereIsSaidWithWhatIs() throws {
        let process = try BrokerProcess()
        let client = try process.client()
        let broker = ObjectPath.broker
        refused(.unknownObject, "/org/camarb/Broker1") {
            try client.call("/org/nothing", InterfaceName.broker, "Watch")
        }
        refused(.unknownInterface, "org.camarb.Broker1") { try client.call(broker, "org.camarb.Broker2", "Watch") }
        refused(.unknownMethod, "CreateSession") { try client.call(broker, InterfaceName.broker, "MakeSession") }
        refused(.invalidArguments, "sa{sv}") { try client.broker("CreateSession", .int32(3)) }
        refused(.invalidArguments, "no arguments") { try client.broker("GetStatus", .int32(3)) }
        let properties = "org.freedesktop.DBus.Properties"
        refused(.unknownProperty, "PolicyName") {
            try client.call(broker, properties, "Get", [.string(InterfaceName.broker), .string("Colour")])
        }
        refused(.unknownInterface) { try client.call(broker, properties, "GetAll", [.string("org.camarb.Nothing")]) }
        refused(.unknownObject) { try client.call("/org/camarb/camera/nowhere", properties, "GetAll", [.string("")]) }
        refused(.unknownMethod) { try client.call(broker, "org.freedesktop.DBus", "Reboot") }
    }

    @Test func aClientHasAtMostSixtyFourSessions() throws {
        let process = try BrokerProcess()
        let client = try process.client("photos")
        var sessions: [TestSession] = []
        for _ in 0..<64 { sessions.append(try client.session()) }
        refused(.limitExceeded, "64") { _ = try client.session() }
        try sessions[0].call("Close")
        _ = try client.session()
    }
}
