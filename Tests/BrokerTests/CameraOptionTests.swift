import ArbiterProtocol
import Broker
import System
import Testing

@Suite struct CameraOptionTests {
    private func options(_ arguments: String...) throws -> BrokerOptions { try options(arguments) }

    private func options(_ arguments: [String]) throws -> BrokerOptions {
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
        for (arguments, word) in [
            (["--sokcet", "/s"], "--sokcet"), (["--socket"], "nothing follows"), (["--camera", "front"], "ID=SPEC"),
            (["--trust-claims=no"], "--trust-claims takes no value"), (["--decisions=off"], "takes no value"),
            (["--camera", "a=none", "--camera", "a=simulated"], "twice"),
            (["--camera", "a=simulated:nokia"], "iphone6s-back"), (["--camera", "a=/dev/video0"], "file:PATH"),
            (["--camera", "a=file:"], "file:PATH"), (["--max-connections", "none"], "1000000"), (["x"], "x"),
            (["--camera", "V4L2"], "or v4l2 for all cameras of the machine"),
            (["--camera", "front=v4l2:/dev/video0"], "names a node, whose number changes"),
            (["--camera", "front=v4l2:a b"], "at most 200 printable ASCII characters without spaces"),
        ] as [([String], String)] { #expect(mistake(arguments).contains(word), "\(arguments)") }
    }

    @Test(
        "A service without cameras of its own follows those of the machine, and any other broker has the simulated one",
        arguments: [
            (["--service", "--trace=x"], true, []), (["--service", "--camera", "front=none"], false, ["none"]),
            (["--trace=x"], false, ["simulated"]), (["--camera=v4l2"], true, []),
            // All of them, and named ones keep their names beside; none is simulated.
            (["--camera", "v4l2", "--camera", "desk=v4l2:usb-046d:082d-A"], true, ["v4l2:usb-046d:082d-A"]),
        ] as [([String], Bool, [String])])
    func service(arguments: [String], follows: Bool, specs: [String]) throws {
        let options = try options(arguments)
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
}
