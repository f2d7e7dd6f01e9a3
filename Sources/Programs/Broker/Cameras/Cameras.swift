import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import Glibc
import System

/// The cameras that there are, in the order of the command line and then of their appearing, and what waits until they are known.
final class Cameras: BrokerPart {
    private var links: [CameraID: CameraLink] = [:]
    private(set) var order: [CameraLink] = []
    /// Questions about cameras that came before the cameras were known, the first first; each is in its user's budget.
    private(set) var untilKnown: [(client: BrokerClient, work: () -> Void)] = []
    private var knownTimer: Timer?
    private var followed: CamerasFollowed?
    private let origin: RecorderOrigin

    /// How long a question about cameras waits for them after a start, in nanoseconds: a recorder core that has not
    /// described its camera by then has hung in it, and is killed.
    static let knownTimeMax = RecorderLife.answerTimeMax

    init(_ broker: Broker, recorders origin: RecorderOrigin) {
        self.origin = origin
        super.init(of: broker)
    }

    subscript(camera: CameraID) -> CameraLink? { links[camera] }

    func add(_ id: CameraID, spec: String) -> CameraLink {
        let link =
            spec == DryCamera.spec
            ? DryCamera(broker, id, spec: spec, origin: origin) : CameraLink(broker, id, spec: spec, origin: origin)
        links[id] = link
        order.append(link)
        return link
    }

    func begin() throws(SystemFault) {
        for link in order where !link.isFollowed { link.describe() }
        knownTimer = try broker.loop.addTimer { [unowned self] in areKnown() }
        knownTimer?.arm(at: EventLoop.now + Self.knownTimeMax)
        guard broker.options.followsCameras || order.contains(where: \.isFollowed) else { return }
        followed = CamerasFollowed(broker, followsAll: broker.options.followsCameras)
        if order.isEmpty { broker.loop.defer { [unowned self] in becameKnown() } }
    }

    func stop() { for link in order { link.stop() } }

    /// Nil for "".
    func named(_ name: String) throws(BrokerError) -> CameraLink? {
        if name.isEmpty { return nil }
        guard let link = links[CameraID(name)] else {
            throw .unknownCamera(name, among: order.map(\.camera.name).sorted())
        }
        return link
    }

    var paths: [String] { order.filter { $0.capabilities != nil }.map { ObjectPath.camera($0.camera) } }

    /// The file that a photo or a recording is to go into. Not one that is recorded to, by whichever camera: either would
    /// destroy the other.
    func outputFile(_ descriptor: Int32, _ message: BusMessage) throws(BrokerError) -> ClientFile {
        let file = try ClientFile(adopting: descriptor, of: message)
        guard !order.contains(where: { $0.outputs.isRecording(to: file.identity) }) else {
            throw BrokerError(.unsuitableFile, "The file is being recorded to already. Pass another regular file.")
        }
        return file
    }

    func outputFiles(_ reader: inout WireReader, _ message: BusMessage) throws(BrokerError) -> [ClientFile] {
        var left = try reader.fileDescriptors("files")
        defer { for descriptor in left { close(descriptor) } }
        var files: [ClientFile] = []
        while !left.isEmpty {
            let file = try outputFile(left.removeFirst(), message)
            guard !files.contains(where: { $0.identity == file.identity }) else {
                throw BrokerError(.unsuitableFile, "Two photos of the bracket have one file. Pass one for each.")
            }
            files.append(file)
        }
        return files
    }

    var areQuietForSleep: Bool {
        order.allSatisfy { link in
            guard !link.outputs.hasFiles else { return false }
            let tenancy = broker.arbiter.status(of: link.camera)?.tenancy
            return tenancy == nil || tenancy == .free || tenancy == .reserved
        }
    }

    /// A broker that has just started does not know its cameras yet. Questions about them wait, a little, in their order.
    func whenKnown(
        _ client: BrokerClient, about camera: CameraID? = nil, _ work: @escaping () -> Void
    ) throws(BrokerError) {
        if knownTimer == nil && untilKnown.isEmpty { return work() }
        if let camera, self[camera]?.isKnown == true, broker.desktops.logins?.isSettled != false { return work() }
        try broker.clients.charge(
            .questions, to: client, "The cameras are being asked what they are; ask again in a moment.")
        untilKnown.append((client, work))
    }

    func becameKnown() { if order.allSatisfy(\.isKnown), broker.desktops.logins?.isSettled != false { areKnown() } }

    /// When the last recorder core has left for want of work, the broker has been idle for seconds, and is likely to be
    /// for longer: what serving took is given back, half of the memory it has.
    func recorderLeft() { if order.allSatisfy(\.isAtRest) { camarb_give_back_start() } }

    func areKnown() {
        guard knownTimer != nil else { return }
        knownTimer = nil
        answerWaiting()
        ServiceManager.status(broker.publisher.statusLine)
        camarb_give_back_start()
    }

    /// Questions answered in one turn of the loop, which has others to serve between.
    static let answersPerTurnMax = 4

    private func answerWaiting() {
        for (client, work) in untilKnown.prefix(Self.answersPerTurnMax) {
            broker.clients.release(.questions, 1, of: client)
            work()
        }
        untilKnown.removeFirst(min(Self.answersPerTurnMax, untilKnown.count))
        if !untilKnown.isEmpty { broker.loop.defer { [unowned self] in answerWaiting() } }
    }

    func forgetQuestions(of client: BrokerClient) {
        let before = untilKnown.count
        if before == 0 { return }
        untilKnown.removeAll { $0.client === client }
        broker.clients.release(.questions, before - untilKnown.count, of: client)
    }
}
