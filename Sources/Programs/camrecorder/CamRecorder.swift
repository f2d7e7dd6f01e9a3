import ArbiterProtocol
import CLinux
import Glibc
import PolicyFile
import RecorderCore
import System

/// `camrecorder`: one process, one camera. The broker starts it, and it goes when it is not needed.
@main enum CamRecorder {
    /// Without a grant and with nothing to write for this long, the recorder goes: a camera that nobody uses is
    /// not held. Long enough for a handover between two apps to find it still there.
    static let idleLimit = Duration.seconds(3)

    static let help = """
        usage: camrecorder [--camera SPEC] [--fd N]

        Owns one camera and serves org.camarb.Recorder1 to the broker on a connected socket. camarbd starts it, or the
        service manager does when camarbd connects.

          --camera SPEC   simulated, simulated:MODEL (also a file /PATH/MODEL.toml), file:PATH (anything libav decodes,
                          looped), or v4l2:IDENTITY (a camera of the machine); without it, what the broker says first
                          models: \(CameraPlaces.names.joined(separator: ", "))
          --fd N          the socket's descriptor; 3 if not given, also where the service manager passes it
          --patience N    wait N times as long as usual for a broker, for work and for files. For tests
          --list-cameras  the machine's cameras: identity, node just now, name; tabs in between
          --fault NAME    misbehave, for tests: \(Capture.Fault.allCases.map(\.rawValue).joined(separator: ", "))
          --version, --help

        It ends with status 0 after \(idleLimit.components.seconds) seconds without a grant and anything to write, and
        when the broker's end of the socket closes and no grant outlives it, or SIGTERM comes, after finishing a
        recording. Status 1: the socket could not be used; 2: the command line was wrong.

        """

    private struct Options {
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
            say("camrecorder: \(error.message)", on: 2)
            exit(2)
        }
        do throws(SystemFault) {
            let loop = try EventLoop()
            var server: RecorderServer?
            // Before any thread starts, so that all of them have it blocked.
            try loop.addSignal(SIGTERM) { server?.finish() }
            try loop.addSignal(SIGINT) { server?.finish() }
            server = try RecorderServer(
                descriptor: try connected(options), camera: options.camera, idleLimit: options.idleLimit,
                patience: options.patience, faults: options.faults, loop: loop)
            exit(try loop.run())
        } catch {
            say("camrecorder: \(error)", on: 2)
            exit(1)
        }
    }

    /// The descriptor itself, or the first connection to it where the service manager passed a listening socket.
    private static func connected(_ options: Options) throws(SystemFault) -> Int32 {
        let descriptor = options.descriptor
        var listens: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 else {
            throw SystemFault("use descriptor \(descriptor) as a socket", errno)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard listens != 0 else { return descriptor }
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = camarb_poll(&waited, 1, options.idleLimit.wholeNanoseconds)
        let accepted = camarb_unix_accept(descriptor)
        guard accepted >= 0 else { throw SystemFault("accept the broker's connection", -accepted) }
        return accepted
    }

    private static func parse(_ arguments: [String]) throws(BrokerError) -> Options {
        var options = Options()
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            if ["-h", "--help", "--version"].contains(flag) {
                say(flag == "--version" ? "camrecorder \(Release.version)" : help, on: 1)
                exit(0)
            }
            if flag == "--list-cameras" {
                for camera in MachineCamera.all() { say("\(camera.identity)\t\(camera.node)\t\(camera.name)", on: 1) }
                exit(0)
            }
            guard ["--camera", "--fd", "--fault", "--patience"].contains(flag) else {
                throw BrokerError(
                    .invalidValue,
                    "\(flag.quotedShort) is no option; there are --camera, --fd, --list-cameras, --fault, --patience, --version, --help."
                )
            }
            guard let value = rest.popFirst() else { throw BrokerError(.invalidValue, "\(flag) takes a value.") }
            switch flag {
            case "--camera": options.camera = try CameraSpec(parsing: value)
            case "--fd":
                guard let number = Int32(value), number >= 0 else {
                    throw BrokerError(.invalidValue, "--fd is \(value.quotedShort); it takes a number from 0.")
                }
                options.descriptor = number
            case "--patience":
                guard let number = Int64(value), (1...1_000_000).contains(number) else {
                    throw BrokerError(
                        .invalidValue, "--patience is \(value.quotedShort); it takes a number from 1 to 1000000.")
                }
                options.patience = number
            default:
                guard let fault = Capture.Fault(rawValue: value) else {
                    let known = Capture.Fault.allCases.map(\.rawValue).joined(separator: ", ")
                    throw BrokerError(.invalidValue, "--fault is \(value.quotedShort); it takes \(known).")
                }
                options.faults.insert(fault)
            }
        }
        return options
    }

    private static func say(_ text: String, on descriptor: Int32) {
        let line = text.hasSuffix("\n") ? text : text + "\n"
        _ = line.utf8.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) }
    }
}
