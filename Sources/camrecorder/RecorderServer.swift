import ArbiterProtocol
import Glibc
import RecorderCore
import Synchronization
import SystemdBus

/// Serves `Recorder1` to the broker on one connection.
///
/// Lives on the loop's thread. Answers and events of the capture's threads reach it through an outbox, in order.
final class RecorderServer: BusConnectionDelegate {
    private let loop: EventLoop
    private let idleLimit: Duration
    private let faults: Set<Capture.Fault>
    private let outbox: Outbox
    /// Nil until the camera is known.
    private var serving: (capture: Capture, service: RecorderService)?
    /// Why the camera that the broker wanted served is not.
    private var refusal: BrokerError?
    /// Ends a process that nobody tells its camera.
    private var patience: Timer?
    private var connection: BusConnection?
    /// Calls that are not answered yet, by a number of our own.
    private var unanswered: [UInt64: BusMessage] = [:]
    private var callCount: UInt64 = 0

    /// What the capture's threads leave for the loop.
    private final class Outbox: Sendable {
        enum Item: Sendable {
            case answer(UInt64, Result<[WireValue], BrokerError>)
            case event(RecorderEvent)
        }
        private let items = Mutex<[Item]>([])
        private let wakeup = Mutex<Wakeup?>(nil)

        func post(_ item: Item) {
            items.withLock { $0.append(item) }
            wakeup.withLock { $0?.signal() }
        }
        func takeAll() -> [Item] {
            items.withLock { items in
                defer { items = [] }
                return items
            }
        }
        func wake(_ wakeup: Wakeup) { self.wakeup.withLock { $0 = wakeup } }
    }

    init(
        descriptor: Int32, camera: CameraSpec?, idleLimit: Duration, faults: Set<Capture.Fault>, loop: EventLoop
    ) throws(SystemFault) {
        outbox = Outbox()
        self.loop = loop
        self.idleLimit = idleLimit
        self.faults = faults
        if let camera {
            serve(camera)
        } else {
            patience = try loop.addTimer { [unowned self] in if serving == nil { finish() } }
            patience?.arm(at: EventLoop.now + idleLimit.wholeNanoseconds)
        }
        outbox.wake(try loop.addWakeup { [unowned self] in self.empty() })
        // The broker's end of a socketpair belongs to whoever may start recorders: nobody to authenticate.
        connection = try BusConnection(adopting: descriptor, as: .server, on: loop, delegate: self, anonymous: true)
    }

    private func serve(_ camera: CameraSpec) {
        let capture = Capture(camera, idleLimit: idleLimit, faults: faults) { [outbox] in outbox.post(.event($0)) }
        serving = (capture, RecorderService(capture))
    }

    /// `Serve`: the answer names this process.
    private func serve(_ arguments: [WireValue]) throws(BrokerError) -> Int32 {
        var reader = WireReader("Serve", arguments)
        let text = try reader.string("camera")
        guard serving == nil else {
            throw BrokerError(.invalidValue, "The recorder core serves a camera already; it serves one.")
        }
        do throws(BrokerError) { serve(try CameraSpec(parsing: text)) } catch {
            refusal = error
            throw error
        }
        do throws(SystemFault) { return try ProcessHandle.descriptorOfThisProcess() } catch {
            throw BrokerError(.recorderFault, "\(error).")
        }
    }

    /// Finishes what is being written, then ends the loop.
    func finish() {
        serving?.capture.shutDown()
        empty()
        loop.exit(0)
    }

    func connectionReady(_ connection: BusConnection) {}

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        self.connection = nil
        unanswered = [:]
        finish()
    }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .call else { return }
        if message.interface == "org.freedesktop.DBus.Introspectable", message.member == "Introspect" {
            return message.answer([.string("<node>\n\(Interface.recorder.introspectionXML)</node>\n")])
        }
        guard message.path == ObjectPath.recorder else {
            return message.answer(
                BrokerError(.unknownObject, "There is no \(message.path.quotedShort); there is \(ObjectPath.recorder).")
            )
        }
        guard !message.hasInterface || message.interface == InterfaceName.recorder else {
            return message.answer(
                BrokerError(
                    .unknownInterface,
                    "A recorder has no interface \(message.interface.quotedShort); it has \(InterfaceName.recorder)."))
        }
        guard let method = Interface.recorder.method(message.member) else {
            return message.answer(
                BrokerError(.unknownMethod, "\(InterfaceName.recorder) has no method \(message.member.quotedShort)."))
        }
        guard message.signature == method.signatureTaken else {
            return message.answer(
                BrokerError(
                    .invalidArguments,
                    "\(method.name) takes “\(method.signatureTaken)”, not “\(message.signature)”."))
        }
        do throws(BrokerError) {
            let arguments = try message.arguments()
            if method.name == "Serve" {
                let process = try serve(arguments)
                message.answer([.fileDescriptor(process)])
                close(process)
                return
            }
            guard let service = serving?.service else {
                for case .fileDescriptor(let descriptor) in arguments { close(descriptor) }
                throw refusal ?? BrokerError(.recorderFault, "The recorder core has no camera yet: Serve comes first.")
            }
            callCount += 1
            let number = callCount
            unanswered[number] = message
            service.handle(method.name, arguments) { [outbox] in outbox.post(.answer(number, $0)) }
        } catch {
            message.answer(error)
        }
    }

    private func empty() {
        for item in outbox.takeAll() {
            switch item {
            case .answer(let number, let result): answer(number, result)
            case .event(.idle):
                // A call that came in the meantime is about to end the idleness.
                if unanswered.isEmpty { loop.defer { [self] in leave() } }
            // The broker asks the next one what was not answered.
            case .event(.spent): loop.defer { [self] in leave() }
            case .event(let event): send(event)
            }
        }
    }

    /// Ends for want of work, and says so: to the broker that is no fault.
    private func leave() {
        if let connection {
            _ = BusMessage.signal(
                on: connection, path: ObjectPath.recorder, interface: InterfaceName.recorder, member: "Leaving")?.send()
        }
        finish()
    }

    private func answer(_ number: UInt64, _ result: Result<[WireValue], BrokerError>) {
        let message = unanswered.removeValue(forKey: number)
        switch result {
        case .success(let values):
            message?.answer(values)
            // The message has duplicates; a stream whose caller is gone closes with its last descriptor.
            for case .fileDescriptor(let descriptor) in values { close(descriptor) }
        case .failure(let error): message?.answer(error)
        }
    }

    private func send(_ event: RecorderEvent) {
        guard let connection, let (member, arguments) = RecorderService.signal(event) else { return }
        let signal = BusMessage.signal(
            on: connection, path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member)
        for argument in arguments { signal?.append(argument) }
        _ = signal?.send()
    }
}
