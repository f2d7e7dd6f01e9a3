import ArbiterProtocol
import Bus
import CLinux
import Glibc
import RecorderCore
import System

/// Serves `Recorder1` to the broker on one connection. Lives on the loop's thread. Answers and events of the capture's
/// threads reach it through an outbox, in order.
final class RecorderServer: BusConnectionDelegate {
    private let loop: EventLoop
    private let options: CamRecorder.Options
    private let outbox = LoopQueue<Item>()
    /// `nil` until the camera is known.
    private var serving: (capture: Capture, service: RecorderService)?
    /// Why the broker's camera is not served.
    private var refusal: BrokerError?
    /// Ends a process that gets no `Serve`.
    private var cameraTimer: Timer?
    private var connection: BusConnection?
    /// Calls that are not answered yet, by a number of our own.
    private var unanswered: [UInt64: Call] = [:]
    private var callCount: UInt64 = 0
    /// The user that may be the next broker, beside root: the one whose process connected first.
    private let brokersUser: UInt32?
    private var kept: KeptGrant?
    private var memory = GrantMemory()

    private struct Call {
        /// `nil` once its caller is gone.
        var message: BusMessage?
        let member: String
        /// The recording that is to begin; else the grant.
        let about: UInt64
    }

    private enum Item: Sendable {
        case answer(UInt64, Result<[WireValue], BrokerError>)
        case event(RecorderEvent)
    }

    init(_ descriptor: Int32, _ options: CamRecorder.Options, on loop: EventLoop) throws(SystemFault) {
        (self.loop, self.options, brokersUser) = (loop, options, peerUser(descriptor))
        if let camera = options.camera {
            serve(camera)
        } else {
            cameraTimer = try loop.addTimer { [unowned self] in if serving == nil { finish() } }
            cameraTimer?.arm(at: EventLoop.now + options.idleLimit.wholeNanoseconds)
        }
        outbox.setWakeup(try loop.addWakeup { [unowned self] in self.empty() })
        try connect(descriptor)
    }

    /// The broker's end of a socketpair belongs to whoever may start recorder cores: nobody to authenticate.
    private func connect(_ descriptor: Int32) throws(SystemFault) {
        connection = try BusConnection(adopting: descriptor, as: .server, on: loop, delegate: self, anonymous: true)
    }

    private func serve(_ camera: CameraSpec) {
        let capture = Capture(
            camera, idleLimit: options.idleLimit, patience: options.patience, faults: options.faults
        ) { [outbox] in outbox.post(.event($0)) }
        serving = (capture, RecorderService(capture))
    }

    /// Finishes recordings and photos, then ends the loop.
    func finish() {
        serving?.capture.shutDown()
        empty()
        // The loop runs no deferred work any more.
        connection?.flush()
        loop.exit(0)
    }

    func connectionReady(_ connection: BusConnection) {}

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        self.connection = nil
        for number in unanswered.keys { unanswered[number]?.message = nil }
        guard let kept, kept.grant == memory.grant else { return finish() }
        kept.brokerEnded()
    }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .call else { return }
        if message.interface == "org.freedesktop.DBus.Introspectable", message.member == "Introspect" {
            return message.answer([.string("<node>\n\(Interface.recorder.introspectionXML)</node>\n")])
        }
        do throws(BrokerError) { try carryOut(message) } catch { message.answer(error) }
    }

    private func carryOut(_ message: BusMessage) throws(BrokerError) {
        guard message.path == ObjectPath.recorder else {
            throw BrokerError(
                .unknownObject, "There is no \(message.path.quotedShort); there is \(ObjectPath.recorder).")
        }
        guard !message.hasInterface || message.interface == InterfaceName.recorder else {
            throw BrokerError(
                .unknownInterface,
                "A recorder has no interface \(message.interface.quotedShort); it has \(InterfaceName.recorder).")
        }
        guard let method = Interface.recorder.method(message.member) else {
            throw BrokerError(.unknownMethod, "\(InterfaceName.recorder) has no method \(message.member.quotedShort).")
        }
        guard message.signature == method.signatureTaken else {
            throw BrokerError(
                .invalidArguments, "\(method.name) takes “\(method.signatureTaken)”, not “\(message.signature)”.")
        }
        let arguments = try message.arguments(descriptorsInLists: method.signatureTaken.holds("ah"))
        switch method.name {
        case "Serve": try serve(arguments, message)
        case "Keep":
            try keep(arguments)
            message.answer()
        case "Survey":
            try answer(
                message, with: .uint64(kept?.grant ?? 0), .array(type: "t", memory.recordings.map { .uint64($0) }))
            for event in memory.takeUntold() { send(event) }
        default:
            if let refusal = refusal(of: method.name) {
                for descriptor in arguments.flatMap(\.fileDescriptors) { close(descriptor) }
                throw refusal
            }
            handle(method.name, arguments, message)
        }
    }

    /// Answers with a pidfd of this process, and further values.
    private func answer(_ message: BusMessage, with values: WireValue...) throws(BrokerError) {
        do throws(SystemFault) {
            let process = try ProcessHandle.descriptorOfThisProcess()
            message.answer([.fileDescriptor(process)] + values)
            close(process)
        } catch { throw BrokerError(.recorderFault, "\(error).") }
    }

    private func serve(_ arguments: [WireValue], _ message: BusMessage) throws(BrokerError) {
        var reader = WireReader("Serve", arguments)
        let text = try reader.string("camera")
        guard serving == nil else {
            throw BrokerError(.invalidValue, "The recorder core serves a camera already; it serves one.")
        }
        do throws(BrokerError) { serve(try CameraSpec(parsing: text)) } catch {
            refusal = error
            throw error
        }
        try answer(message)
    }

    private func refusal(of member: String) -> BrokerError? {
        if serving == nil {
            return refusal ?? BrokerError(.recorderFault, "The recorder core has no camera yet: Serve comes first.")
        }
        // Calls behind a `Resume` are carried out behind it, as they are after any other.
        let isResumed = unanswered.values.contains { $0.member == "Resume" }
        if let kept, kept.isUndecided, !isResumed, !Self.beforeResume.contains(member) {
            return BrokerError(
                .staleGrant,
                "Grant \(kept.grant) outlived its broker: nothing but \(Self.beforeResume.sorted().joined(separator: ", ")) is carried out before Resume."
            )
        }
        return nil
    }

    /// Methods for a broker that has not taken the grant up: nothing begins with them.
    private static let beforeResume: Set<String> = [
        "Beat", "Complete", "Cut", "Describe", "Look", "PassOn", "Resume", "StopRecording", "WatchNode",
    ]

    private func handle(_ member: String, _ arguments: [WireValue], _ message: BusMessage) {
        callCount += 1
        let number = callCount
        let about = arguments.dropFirst(member == "StartRecording" ? 1 : 0).first?.uint64 ?? 0
        unanswered[number] = Call(message: message, member: member, about: about)
        switch member {
        case "Cut", "PassOn": memory.cut(about)
        case "StartRecording": memory.begun(about)
        default: break
        }
        serving?.service.handle(member, arguments) { [outbox] in outbox.post(.answer(number, $0)) }
    }

    /// - Parameter arguments: descriptors among them are this object's.
    private func keep(_ arguments: [WireValue]) throws(BrokerError) {
        var descriptors = arguments.compactMap(\.fileDescriptor)
        defer { for descriptor in descriptors { close(descriptor) } }
        guard let grant = arguments.first?.uint64, grant == memory.grant, let brokersUser, descriptors.count == 2 else {
            throw BrokerError(
                .staleGrant, "Grant \(arguments.first?.uint64 ?? 0) is not open, so that nothing of it can be kept.")
        }
        let (client, listener) = (descriptors[0], descriptors[1])
        descriptors = []
        do throws(SystemFault) {
            kept = try KeptGrant(
                grant, client: client, listener: listener, brokersUser: brokersUser, patience: options.patience,
                on: loop,
                onBroker: { [unowned self] in
                    do throws(SystemFault) { try connect($0) } catch { kept?.brokerEnded() }
                }, onOver: { [unowned self] in isOver($0) })
        } catch { throw BrokerError(.recorderFault, "\(error).") }
        camarb_outlive_parent()
    }

    private func isOver(_ why: String) {
        // For the unit's journal, or the terminal of whoever started the broker.
        CamRecorder.write("camrecorder: grant \(memory.grant ?? 0) ends, since \(why)", to: 2)
        connection?.close()
        finish()
    }

    private func empty() {
        for item in outbox.take() {
            switch item {
            case .answer(let number, let result): answer(number, result)
            // A call that came in the meantime is answered first, and may end the idleness.
            case .event(.idle) where !unanswered.isEmpty: break
            // After `spent` the broker repeats unanswered calls to the next process.
            case .event(.idle), .event(.spent): loop.defer { [self] in leave() }
            case .event(let event): send(event)
            }
        }
    }

    /// Ends for want of work, with a signal: to the broker that is no fault.
    private func leave() {
        signal("Leaving", [])
        finish()
    }

    private func answer(_ number: UInt64, _ result: Result<[WireValue], BrokerError>) {
        let call = unanswered.removeValue(forKey: number)
        switch result {
        case .success(let values):
            if let call { succeeded(call) }
            call?.message?.answer(values)
            // The message has duplicates; a stream whose caller is gone closes with its last descriptor.
            for case .fileDescriptor(let descriptor) in values { close(descriptor) }
        case .failure(let error):
            if let call, call.member == "StartRecording" { memory.refused(call.about) }
            call?.message?.answer(error)
        }
    }

    private func succeeded(_ call: Call) {
        switch call.member {
        case "Open": memory.opened(call.about)
        case "Cut", "PassOn": if kept?.grant == call.about { kept = nil }
        // From here on it is a grant as any other: another broker's end is the end of it, unless that one has kept it, too.
        case "Resume": if let kept, kept.grant == call.about, kept.isUndecided { self.kept = nil }
        default: break
        }
    }

    private func send(_ event: RecorderEvent) {
        memory.note(event, isConnected: connection != nil)
        if let (member, arguments) = RecorderService.signal(event) { signal(member, arguments) }
    }

    private func signal(_ member: String, _ arguments: [WireValue]) {
        connection?.signal(path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member, arguments)
    }
}
