import ArbiterProtocol
import Broker
import System
import Testing

/// What a command line asks of a broker.
@Suite struct CameraOptionTests {
    private func options(_ arguments: String...) throws -> BrokerOptions {
        guard case .run(let options) = BrokerOptions.read(arguments) else {
            throw BrokerError(.failed, "\(arguments) was not understood.")
        }
        return options
    }

    private func mistake(_ arguments: [String], at place: SourceLocation = #_sourceLocation) -> String {
        guard case .mistake(let sentence) = BrokerOptions.read(arguments) else {
            Issue.record("\(arguments) was accepted.", sourceLocation: place)
            return ""
        }
        return sentence
    }

    @Test func flagsAreReadAndMistakesNamed() throws {
        let options = try options(
            "--socket", "/s", "--camera=front=simulated:iphone5-back", "--camera", "back=file:/clip.mp4",
            "--max-connections", "7", "--trust-claims")
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
        for (arguments, word) in mistakes { #expect(mistake(arguments).contains(word), "\(arguments)") }
        guard case .show(let help) = BrokerOptions.read(["--help"]) else {
            Issue.record("There is no help.")
            return
        }
        for flag in ["--socket", "--policy", "--camera", "--recorder", "--trust-claims", "--max-connections"] {
            #expect(help.contains(flag))
        }
    }

    @Test("--camera v4l2 follows all cameras, and those that are named keep their names beside; none is simulated")
    func follows() throws {
        let options = try options("--camera", "v4l2", "--camera", "desk=v4l2:usb-046d:082d-A")
        #expect(options.followsCameras)
        #expect(options.cameras.map(\.spec) == ["v4l2:usb-046d:082d-A"])
        #expect(options.cameras.map(\.id.name) == ["desk"])
        #expect(try self.options("--camera=v4l2").cameras.isEmpty)
    }

    @Test(
        "A service without cameras of its own follows those of the machine, and any other broker has the simulated one",
        arguments: [
            (["--service", "--trace=x"], true, []), (["--service", "--camera", "front=none"], false, ["none"]),
            (["--trace=x"], false, ["simulated"]),
        ] as [([String], Bool, [String])])
    func service(arguments: [String], follows: Bool, specs: [String]) throws {
        guard case .run(let options) = BrokerOptions.read(arguments) else {
            return #expect(Bool(false), "the options were not taken")
        }
        #expect(options.followsCameras == follows && options.cameras.map(\.spec) == specs)
    }

    @Test("An empty --policy-dir reads no drop-ins, and without one it is the usual folder")
    func policyFolder() throws {
        #expect(try options().policyFolder == "/etc/camarb/policy.d")
        #expect(try options("--policy-dir", "/d").policyFolder == "/d")
        #expect(try options("--policy-dir=").policyFolder == "")
    }

    @Test("A camera's id is a word in which a shell sees nothing to do, and every identity of the machine's is one")
    func plainIDs() throws {
        for id in [
            "front", "usb-046d:082d-4C1F3A9E", "pci-0000:00:14.0-usb-0:1.4:1.0", "platform-vivid.0-vivid-000-vid-cap",
            "_9",
        ] { #expect(try options("--camera", "\(id)=none").cameras.map(\.id.name) == [id]) }
        let active = "$`();&|<>'\"\\*?[]{}~#! \n\t\r\u{1b}%@+,/^\u{202e}ä"
        for id in active.map({ "a\($0)b" }) + ["-x", "--policy", "$(id)"] {
            #expect(
                mistake(["--camera", "\(id)=none"])
                    == "--camera gives a camera the id \(id.quotedShort); an id has letters (A to Z, a to z), digits, “.”, “_”, "
                    + "“:” and “-”, which is not the first.")
        }
    }

    static let mistakes: [(String, String)] = [
        (
            "front=v4l2:/dev/video0",
            "--camera front: “v4l2:/dev/video0” names a node, whose number changes from one plugging in to the next; write v4l2:IDENTITY, as camrecorder --list-cameras shows it."
        ),
        (
            "front=v4l2:a b",
            "--camera front: “v4l2:a b” is no identity of a camera, which has at most 200 printable ASCII characters without spaces; camrecorder --list-cameras shows them."
        ),
        (
            "V4L2",
            "--camera is “V4L2”; it takes ID=SPEC, such as front=simulated:iphone6s-front or back=file:/path/clip.mp4, or v4l2 for all cameras of the machine."
        ),
    ]

    @Test("A camera that cannot be meant is refused with what to write", arguments: mistakes)
    func refused(text: String, sentence: String) { #expect(mistake(["--camera", text]) == sentence) }
}
