public import ArbiterProtocol
import Bus
import CLinux
import Glibc
import PolicyFile
public import System

/// camarbd's command line.
public struct BrokerOptions: Sendable {
    public struct Camera: Sendable {
        public var id: CameraID
        /// For its recorder core, such as `simulated:iphone6s-front` or `file:/path/clip.mp4`.
        public var spec: String
        public init(id: CameraID, spec: String) {
            (self.id, self.spec) = (id, spec)
        }
    }

    /// `nil` for the service manager's, else the usual one.
    public var socket: String?
    public var policy: String?
    /// Drop-ins over the policy; empty where none are read.
    public var policyFolder = usualPolicyFolder
    var dropIns: String? { policyFolder.isEmpty ? nil : policyFolder }
    public var cameras: [Camera] = []
    /// Every camera of the machine is served, beside the named ones.
    public var followsCameras = false
    public var recorder: String?
    /// The D-Bus address of the machine's bus, for logind and the broker's name; empty where it is not used, `nil` for the usual one.
    public var systemBus: String?
    var systemBusAddress: String { systemBus ?? MessageBus.Kind.systemAddress }
    /// The folder of the users' answers; `nil` where none are kept, as in tests.
    package var answers = AnswerStore.usualFolder
    /// The folder of the `proc` and `sys` with the machine's pressure; empty for the machine's own. For tests.
    public var machine = ""
    /// Started by the service manager for all users: root alone is believed about everybody, not its own user, and
    /// recorder cores are units of their own.
    public var isService = false
    public var trustsClaims = false
    /// Clients are known by their numbers, as on a kernel before 6.5; for tests.
    public var hasWeakIdentities = false
    /// A factor of its deadlines for recorder cores and keepers. For tests.
    public var patience: Int64 = 1
    public var printsDecisions = false
    /// The file for every step of the core.
    public var trace: String?
    /// Bytes behind a file's header that let the next one begin.
    public var traceSize = TraceFile.usualSize
    /// Reliability (a)7. Together with the reserve descriptor, a machine has so many to spare.
    public var connectionsMax = 512
    public var connectionsPerUserMax = 64

    public init() {}

    /// An administrator's or a package's drop-ins. It need not be there.
    public static let usualPolicyFolder = "/etc/camarb/policy.d"
    /// More cameras than a machine has; each may become a process.
    public static let camerasMax = 32

    /// Reads the arguments after the program's name.
    public static func read(_ arguments: [String]) -> Asked<BrokerOptions> {
        var options = BrokerOptions()
        var flags = Flags(arguments)
        do throws(Mistake) {
            while let flag = flags.next() {
                switch flag {
                case "-h", "--help": if try flags.isThere() { return .show(help) }
                case "--interface": return .show(try interface(try flags.value("an interface")))
                case "--version": if try flags.isThere() { return .show("camarbd \(Release.version)\n") }
                case "--socket": options.socket = try flags.value("a path")
                case "--policy": options.policy = try flags.value("a file")
                case "--policy-dir": options.policyFolder = try flags.value("a folder", mayBeEmpty: true)
                case "--camera": try options.addCamera(try flags.value("ID=SPEC"))
                case "--recorder": options.recorder = try flags.value("a program or unix:PATH")
                case "--system-bus":
                    options.systemBus = try address(flag, try flags.value("an address", mayBeEmpty: true))
                case "--machine": options.machine = try flags.value("a folder")
                case "--service": options.isService = try flags.isThere()
                case "--weak-identities": options.hasWeakIdentities = try flags.isThere()
                case "--patience": options.patience = Int64(try count(flag, try flags.value("a number")))
                case "--trust-claims": options.trustsClaims = try flags.isThere()
                case "--decisions": options.printsDecisions = try flags.isThere()
                case "--trace": options.trace = try flags.value("a file")
                case "--trace-size": options.traceSize = try size(flag, try flags.value("a size"))
                case "--max-connections": options.connectionsMax = try count(flag, try flags.value("a number"))
                case "--max-connections-per-user":
                    options.connectionsPerUserMax = try count(flag, try flags.value("a number"))
                default: throw flags.unknown(to: "camarbd")
                }
            }
        } catch { return .mistake(error.sentence) }
        if options.cameras.isEmpty, !options.followsCameras {
            // Whoever adds a flag to a service must not lose the machine's cameras by it.
            options.followsCameras = options.isService
            if !options.isService { options.cameras = [Camera(id: CameraID("simulated"), spec: "simulated")] }
        }
        return .run(options)
    }

    private typealias Mistake = Flags.Mistake

    private static func count(_ flag: String, _ text: String) throws(Mistake) -> Int {
        guard let number = Int(text), (1...1_000_000).contains(number) else {
            throw Mistake("\(flag) is “\(text)”; it takes a number from 1 to 1000000.")
        }
        return number
    }

    /// `1000000`, `64K`, `16M`.
    private static func size(_ flag: String, _ text: String) throws(Mistake) -> Int {
        let units = ["K": 10, "M": 20]
        let shift = text.last.flatMap { units[String($0)] }
        guard let number = Int(shift == nil ? text[...] : text.dropLast()), (1...1_000_000_000).contains(number),
            TraceFile.sizes.contains(number << (shift ?? 0))
        else {
            throw Mistake(
                "\(flag) is “\(text)”; it takes \(TraceFile.sizes.lowerBound >> 10)K to "
                    + "\(TraceFile.sizes.upperBound >> 20)M.")
        }
        return number << (shift ?? 0)
    }

    private static func address(_ flag: String, _ text: String) throws(Mistake) -> String {
        if text.isEmpty { return text }
        do throws(BrokerError) { _ = try SocketAddress.path(of: text) } catch {
            throw Mistake("\(flag): \(error.message)")
        }
        return text
    }

    private mutating func addCamera(_ text: String) throws(Mistake) {
        if text == "v4l2" {
            followsCameras = true
            return
        }
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
            text.index(after: equals) != text.endIndex
        else {
            throw Mistake(
                "--camera is “\(text)”; it takes ID=SPEC, such as front=simulated:iphone6s-front or back=file:/path/clip.mp4, or v4l2 for all cameras of the machine."
            )
        }
        let id = CameraID(String(text[..<equals]))
        guard PlainWord.isOne(id.name) else {
            throw Mistake("--camera gives a camera the id \(id.name.quotedShort); an id has \(PlainWord.alphabet).")
        }
        guard !cameras.contains(where: { $0.id == id }) else {
            throw Mistake("--camera gives “\(id.name)” twice; each camera has an id of its own.")
        }
        guard cameras.count < Self.camerasMax else {
            throw Mistake("--camera is there more than \(Self.camerasMax) times.")
        }
        let spec = String(text[text.index(after: equals)...])
        if spec != DryCamera.spec { try Self.check(spec, of: id) }
        cameras.append(Camera(id: id, spec: spec))
    }

    private static func check(_ text: String, of id: CameraID) throws(Mistake) {
        let spec: CameraSpec
        do throws(BrokerError) { spec = try CameraSpec(parsing: text) } catch {
            guard !text.hasPrefix("v4l2:") || text == "v4l2:" else {
                throw Mistake("--camera \(id.name): \(error.message)")
            }
            throw Mistake(
                "--camera \(id.name): “\(text)” is not a camera; it takes simulated, simulated:MODEL (\(CameraPlaces.names.joined(separator: ", "))), file:PATH, v4l2:IDENTITY, or none for no pictures."
            )
        }
        guard case .simulated(let model) = spec, CameraPlaces.path(of: model) == nil else { return }
        throw Mistake(
            "--camera \(id.name): there is no simulated camera “\(model)”; there are "
                + "\(CameraPlaces.names.joined(separator: ", ")), and files by their whole path.")
    }

    private static func interface(_ name: String) throws(Mistake) -> String {
        guard let found = Interface.publicInterfaces.first(where: { $0.name == name }) else {
            let names = Interface.publicInterfaces.map(\.name).joined(separator: ", ")
            throw Mistake("--interface is \(name.quotedShort); it takes \(names).")
        }
        return found.introspectionFile
    }

    static let help = """
        camarbd decides which app may use a camera, and interrupts and resumes the others.

        usage: camarbd [--socket PATH] [--policy FILE] [--policy-dir DIR] [--camera ID=SPEC]... [flags]

          --socket PATH     listen here; without it, on the sockets the service manager passes, else on
                            $CAMARB_SOCKET, /run/camarb/socket (root) or $XDG_RUNTIME_DIR/camarb/socket
          --policy FILE     who may have a camera; without it first come, first served. SIGHUP reads it again,
                            and a bad one never replaces a good one
          --policy-dir DIR  drop-ins: every *.toml in it is read over the policy, in the order of the names;
                            without it \(usualPolicyFolder), where that is there; "" reads none
          --camera ID=SPEC  a camera, as often as wanted; apps that name none get the back one, or where none is
                            there the first by its id. ID is a word of letters,
                            digits and . _ : -, and SPEC is
                              simulated[:MODEL]  a test picture with frame number and capture time, as a certain
                                                 camera would take it: iphone6s-back (the usual one), iphone5-back, …
                              file:/path/clip    footage, looped at its own pace
                              v4l2:IDENTITY      a camera of the machine, by its serial number or its port;
                                                 camrecorder --list-cameras shows them
                              none               no pictures: to try a policy by its notices alone
                            without any: simulated=simulated, or v4l2 with --service
          --camera v4l2     every camera of the machine, as they are plugged in and out, each under its identity
          --recorder PATH   the recorder core to start for each camera; without it, camrecorder beside camarbd.
                            unix:PATH instead is a socket where each connection gets a recorder core of its own, as
                            systemd does with camrecorder.socket
          --system-bus ADDRESS  where logind reports which login session is active and when the machine sleeps; without
                            it $DBUS_SYSTEM_BUS_ADDRESS or \(MessageBus.Kind.usualSystemAddress); "" asks nobody
          --service         started by the service manager, for all users: of facts that concern everybody, root alone
                            is believed, not this program's own user; a recorder core behind a socket has to be
                            a unit camrecorder@….service; and the broker has the name \(SystemName.name) on the system bus
          --machine FOLDER  read how hard the machine is pressed from FOLDER/proc and FOLDER/sys. For tests
          --weak-identities know clients by the numbers of their processes alone, as on Linux before 6.5. For tests
          --patience N      wait N times as long as usual for recorder cores, and start them so. For tests
          --trust-claims    believe what clients say their app is. For development and demonstrations: any program
                            can then pass for any app, and status says so
          --decisions       print every decision to standard error, in the scenario language
          --trace FILE      write every step of the core into FILE: `camclient trace replay` goes through it again.
                            An earlier FILE becomes FILE.1, up to FILE.4
          --trace-size SIZE begin the next file after so much (16M; 64K to 128M)
          --max-connections N           connections in all (512), an eighth of them for root
          --max-connections-per-user N  connections of one user, while others have few (64)
          --interface NAME  print the description of an interface, such as org.camarb.Broker1, for D-Bus tools
          --version, --help

        Try it:
          camarbd --socket $XDG_RUNTIME_DIR/my-camarb --policy policies/desktop.toml --camera front=simulated:iphone6s-front &
          camclient --socket $XDG_RUNTIME_DIR/my-camarb status
          busctl --address=unix:path=$XDG_RUNTIME_DIR/my-camarb introspect org.camarb /org/camarb/Broker1

        It ends with status 0 after SIGTERM or SIGINT, 1 when it cannot start, and 2 when it was called wrongly.

        """
}
