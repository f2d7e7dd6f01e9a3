import ArbiterProtocol
import CLinux
import Glibc
import PolicyFile
import RecorderCore
import System

/// `camrecorder`: one process, one camera. The broker starts it, and it ends when it is not needed.
@main enum CamRecorder {
    /// Without a grant and with nothing to write for this long, the recorder core ends: an unused camera is not held. Long
    /// enough for a handover between two apps to find it still there.
    static let idleLimit = Duration.seconds(3)

    static let help = """
        usage: camrecorder [--camera SPEC] [--fd N]

        Owns one camera and serves org.camarb.Recorder1 to the broker on a connected socket. camarbd starts it, or the
        service manager does when camarbd connects.

          --camera SPEC   simulated, simulated:MODEL (also a file /PATH/MODEL.toml), file:PATH (anything libav decodes,
                          looped), or v4l2:IDENTITY (a camera of the machine); without it, as the broker's first call says
                          models: \(CameraPlaces.names.joined(separator: ", "))
          --fd N          the socket's descriptor; 3 if not given, also where the service manager passes it
          --patience N    wait N times as long as usual for a broker, for work and for files. For tests
          --list-cameras  the machine's cameras: identity, node just now, name; tabs in between
          --fault NAME    misbehave, for tests: \(faultNames)
          --version, --help

        It ends with status 0 after \(idleLimit.components.seconds) seconds without a grant and anything to write, and
        when the broker's end of the socket closes and no grant outlives it, or SIGTERM comes, after finishing a
        recording. Status 1: the socket could not be used; 2: the command line was wrong.

        """
    private static var faultNames: String { Capture.Fault.allCases.map(\.rawValue).joined(separator: ", ") }

    struct Options {
        /// `nil` where the broker's first call (`Serve`) names it.
        var camera: CameraSpec?
        var descriptor: Int32 = 3
        var faults: Set<Capture.Fault> = []
        var patience: Int64 = 1
        var idleLimit: Duration { CamRecorder.idleLimit * Int(patience) }
    }

    static func main() {
        camarb_ignore_write_signals()
        let options: Options
        do throws(BrokerError) { options = try parse(Array(CommandLine.arguments.dropFirst())) } catch {
            write("camrecorder: \(error.message)", to: 2)
            exit(2)
        }
        do throws(SystemFault) {
            let loop = try EventLoop()
            var server: RecorderServer?
            // Before any thread starts, so that all of them have it blocked.
            try loop.addSignal(SIGTERM) { server?.finish() }
            try loop.addSignal(SIGINT) { server?.finish() }
            server = try RecorderServer(try connected(options), options, on: loop)
            exit(try loop.run())
        } catch {
            write("camrecorder: \(error)", to: 2)
            exit(1)
        }
    }

    /// The descriptor itself, or the first connection to it where the service manager passed a listening socket.
    private static func connected(_ options: Options) throws(SystemFault) -> Int32 {
        let descriptor = options.descriptor
        guard let listens = isListening(descriptor) else {
            throw SystemFault("use descriptor \(descriptor) as a socket", errno)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard listens else { return descriptor }
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = camarb_poll(&waited, 1, options.idleLimit.wholeNanoseconds)
        return try check(camarb_unix_accept(descriptor), "accept the broker's connection")
    }

    private static func parse(_ arguments: [String]) throws(BrokerError) -> Options {
        var options = Options()
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            if ["-h", "--help", "--version"].contains(flag) {
                write(flag == "--version" ? "camrecorder \(Release.version)" : help, to: 1)
                exit(0)
            }
            if flag == "--list-cameras" {
                for camera in MachineCamera.all() { write("\(camera.identity)\t\(camera.node)\t\(camera.name)", to: 1) }
                exit(0)
            }
            guard ["--camera", "--fd", "--fault", "--patience"].contains(flag) else {
                throw BrokerError(
                    .invalidValue,
                    "\(flag.quotedShort) is not an option; there are --camera, --fd, --list-cameras, --fault, --patience, --version, --help."
                )
            }
            guard let value = rest.popFirst() else { throw BrokerError(.invalidValue, "\(flag) takes a value.") }
            func refusal(_ takes: String) -> BrokerError {
                BrokerError(.invalidValue, "\(flag) is \(value.quotedShort); it takes \(takes).")
            }
            switch flag {
            case "--camera": options.camera = try CameraSpec(parsing: value)
            case "--fd":
                guard let number = Int32(value), number >= 0 else { throw refusal("a number from 0") }
                options.descriptor = number
            case "--patience":
                guard let number = Int64(value), (1...1_000_000).contains(number) else {
                    throw refusal("a number from 1 to 1000000")
                }
                options.patience = number
            default:
                guard let fault = Capture.Fault(rawValue: value) else { throw refusal(faultNames) }
                options.faults.insert(fault)
            }
        }
        return options
    }

    static func write(_ text: String, to descriptor: Int32) {
        let line = text.hasSuffix("\n") ? text : text + "\n"
        _ = line.utf8.withContiguousStorageIfAvailable { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
