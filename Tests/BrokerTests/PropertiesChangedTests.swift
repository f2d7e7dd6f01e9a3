import ArbiterProtocol
import Broker
import Bus
import BusTesting
import Glibc
import Testing

@Suite("Properties that change") struct PropertiesChangedTests {
    private static let policy = """
        name = "one"
        summary = "Heat and noise leave the same."
        sources = ["shell"]
        [[cause]]
        name = "It is warm"
        when = { pressure = "serious" }
        cause = "video-device-not-available-due-to-system-pressure"
        access = ["preview", "photo"]
        [[cause]]
        name = "It is loud"
        when = { microphone = "taken" }
        cause = "audio-device-in-use-by-another-client"
        access = ["preview", "photo"]
        [contention]
        tie = "holder"

        """

    @Test("A second cause that takes nothing more is told, though no notice tells of it")
    func silentCause() throws {
        let policy = try Scratch(Self.policy)
        let process = try BrokerProcess(policy: policy.path)
        let client = try process.client("photos")
        let shell = try process.client(as: "shell")
        let session = try client.session("front", ["usesAudio": .boolean(true)])
        try session.run()
        _ = try client.property(session.path, InterfaceName.session, "Causes")
        try shell.shell("SetPressure", .string("serious"))
        try session.wait("AccessChanged")
        try shell.shell("TakeMicrophone", .string("call"))
        try process.wait("the second cause") { client.changes(of: session.path).count { $0["Causes"] != nil } == 2 }
        let causes = client.changes(of: session.path).compactMap { $0["Causes"] }
        #expect(causes.last == (try client.property(session.path, InterfaceName.session, "Causes")))
        #expect(session.names.count { $0 == "AccessChanged" } == 1)
    }

    @Test("Each property is the same by itself as among all, and has the type of the table")
    func oneByOne() throws {
        let process = try BrokerProcess()
        let client = try process.client("photos")
        let session = try client.session()
        let objects: [(String, Interface)] = [
            (ObjectPath.broker, .broker), ("/org/camarb/camera/front", .camera), (session.path, .session),
            (ObjectPath.shell, .shell),
        ]
        for (path, interface) in objects {
            let all = try client.call(
                path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface.name)]
            ).first?.dictionary
            #expect(all?.keys == interface.properties.map(\.name))
            for property in interface.properties {
                #expect(all?[property.name]?.signature == property.type)
                let value = try client.get(path, interface.name, property.name)
                #expect(value == all?[property.name], "\(interface.name).\(property.name)")
            }
            refused(.unknownProperty, interface.name) { _ = try client.get(path, interface.name, "Colour") }
        }
    }

    @Test("The broker tells of another policy, of one that is no good, and of a shell")
    func broker() throws {
        let folder = try Scratch()
        let process = try BrokerProcess(policy: try folder.write(Self.policy, to: "p.toml"))
        let client = try process.client("photos")
        func told(_ name: String) -> [WireValue] { client.changes(of: ObjectPath.broker).compactMap { $0[name] } }
        #expect(try client.property(ObjectPath.broker, InterfaceName.broker, "PolicyName") == .string("one"))
        try folder.write("name = 3\n", to: "p.toml")
        process.signal(SIGHUP)
        try process.wait("the complaint") { told("Degraded").count == 1 }
        #expect(told("Degraded")[0].string?.contains("p.toml is not a valid policy") == true)
        try folder.write("name = \"two\"" + Self.policy.dropFirst("name = \"one\"".count), to: "p.toml")
        process.signal(SIGHUP)
        try process.wait("the other policy") { told("PolicyName") == [.string("two")] }
        #expect(told("Degraded").last == .string(""))
        let shell = try process.client(as: "shell")
        try process.wait("the shell") { told("PresenceKnown") == [.boolean(true)] }
        shell.close()
    }
}
