import ArbiterProtocol
import Broker
import Testing

/// `--camera` for cameras of the machine.
@Suite struct CameraOptionTests {
    @Test("--camera v4l2 follows all cameras, and those that are named keep their names beside")
    func follows() throws {
        guard
            case .run(let options) = BrokerOptions.read(["--camera", "v4l2", "--camera", "desk=v4l2:usb-046d:082d-A"])
        else { return #expect(Bool(false), "the options were not taken") }
        #expect(options.followsCameras)
        #expect(options.cameras.map(\.spec) == ["v4l2:usb-046d:082d-A"])
        #expect(options.cameras.map(\.id.name) == ["desk"])
    }

    @Test("Without cameras of its own a broker that follows has no simulated one")
    func noSimulated() throws {
        guard case .run(let options) = BrokerOptions.read(["--camera=v4l2"]) else {
            return #expect(Bool(false), "the option was not taken")
        }
        #expect(options.cameras.isEmpty)
    }

    @Test(
        "A service without cameras of its own follows those of the machine, and any other broker has the simulated one")
    func service() throws {
        for (arguments, follows, specs) in [
            (["--service", "--trace=x"], true, []), (["--service", "--camera", "front=none"], false, ["none"]),
            (["--trace=x"], false, ["simulated"]),
        ] {
            guard case .run(let options) = BrokerOptions.read(arguments) else {
                return #expect(Bool(false), "the options were not taken")
            }
            #expect(options.followsCameras == follows)
            #expect(options.cameras.map(\.spec) == specs)
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

    @Test("A camera's id is a word in which a shell sees nothing to do, and every identity of the machine's is one")
    func plainIDs() {
        for id in [
            "front", "usb-046d:082d-4C1F3A9E", "pci-0000:00:14.0-usb-0:1.4:1.0", "platform-vivid.0-vivid-000-vid-cap",
            "_9",
        ] {
            guard case .run(let options) = BrokerOptions.read(["--camera", "\(id)=none"]) else {
                #expect(Bool(false), "\(id) was refused")
                continue
            }
            #expect(options.cameras.map(\.id.name) == [id])
        }
        let active = "$`();&|<>'\"\\*?[]{}~#! \n\t\r\u{1b}%@+,/^\u{202e}ä"
        for id in active.map({ "a\($0)b" }) + ["-x", "--policy", "$(id)"] {
            guard case .mistake(let said) = BrokerOptions.read(["--camera", "\(id)=none"]) else {
                #expect(Bool(false), "\(id) was taken")
                continue
            }
            #expect(
                said
                    == "--camera gives a camera the id \(id.quotedShort); an id has letters (A to Z, a to z), digits, “.”, “_”, "
                    + "“:” and “-”, which is not the first.")
        }
    }

    @Test("A camera that cannot be meant is refused with what to write", arguments: mistakes)
    func refused(text: String, sentence: String) {
        guard case .mistake(let said) = BrokerOptions.read(["--camera", text]) else {
            return #expect(Bool(false), "\(text) was taken")
        }
        #expect(said == sentence)
    }
}
