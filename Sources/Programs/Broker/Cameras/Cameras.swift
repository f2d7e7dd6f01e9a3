import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import Glibc
import System

/// All cameras, in the order of the command line and then of their appearing, and the questions that wait until they are known.
final class Cameras: BrokerPart {
    private var links: [CameraID: CameraLink] = [:]
    private(set) var order: [CameraLink] = []
    /// Each is in its user's budget.
    private(set) var untilKnown: [(request: Request, work: () throws(BrokerError) -> Void)] = []
    private var knownTimer: Timer?
    private var followed: CamerasFollowed?
    private let origin: RecorderOrigin

    /// From a start until questions wait no longer, in nanoseconds: a recorder core that has not
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
            ? DryCamera(broker, id, spec: spec, origin: .dry) : CameraLink(broker, id, spec: spec, origin: origin)
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

    /// - Returns: `nil` for "".
    func named(_ name: String) throws(BrokerError) -> CameraLink? {
        if name.isEmpty { return nil }
        guard let link = links[CameraID(name)] else {
            throw .unknownCamera(name, among: order.map(\.camera.name).sorted())
        }
        return link
    }

    var paths: [String] { order.filter { $0.capabilities != nil }.map { ObjectPath.camera($0.camera) } }

    /// The file of a photo or a recording. Two recordings to one file would destroy each other.
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

    /// Does a request's work once the cameras are known. After a start that takes a moment; the work is then done in its order.
    func whenKnown(
        _ request: Request, about camera: CameraID? = nil, _ work: @escaping () throws(BrokerError) -> Void
    ) throws(BrokerError) {
        let areKnown = knownTimer == nil && untilKnown.isEmpty
        let isKnown = camera.map { self[$0]?.isKnown == true && desktops.logins?.isSettled != false } ?? false
        if areKnown || isKnown { return request.carryOut(work) }
        try clients.charge(
            .questions, to: request.client, "The cameras are being asked what they are; ask again in a moment.")
        request.answerLater()
        untilKnown.append((request, work))
    }

    func becameKnown() { if order.allSatisfy(\.isKnown), desktops.logins?.isSettled != false { areKnown() } }

    /// When the last recorder core has left for want of work, the broker has been idle for seconds, and is likely to be
    /// for longer: half of its memory is given back.
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
        for (request, work) in untilKnown.prefix(Self.answersPerTurnMax) {
            clients.release(.questions, 1, of: request.client.uid)
            request.carryOut(work)
        }
        untilKnown.removeFirst(min(Self.answersPerTurnMax, untilKnown.count))
        if !untilKnown.isEmpty { broker.loop.defer { [unowned self] in answerWaiting() } }
    }

    func forgetQuestions(of client: BrokerClient) {
        let before = untilKnown.count
        if before == 0 { return }
        untilKnown.removeAll { $0.request.client === client }
        clients.release(.questions, before - untilKnown.count, of: client.uid)
    }
}
