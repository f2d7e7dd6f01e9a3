import CLinux
import Glibc
import RecorderCore
import System

/// A grant that may outlive the broker, from `Keep` until a broker has taken it up with `Resume`, or it is over.
///
///     kept ──the broker's end──▶ alone ──a broker connects──▶ surveyed ──Resume──▶ over: a grant as any other
///                                 ▲  │                          │
///                                 │  └─ 3 s, the client's end   └─ 10 s: over, and its recording is finished
///                                 └────── the broker's end ─────┘
///
/// It decides nothing about the camera: it only determines when the recorder core ends. While it is `alone` no call can come,
/// since nobody is connected; while it is `surveyed` the recorder core begins nothing for it.
final class KeptGrant {
    /// How long it goes on without a broker, in nanoseconds: a service manager starts the next one within a fraction of a
    /// second, and a client that finds none within this time reports an interruption (`ReconnectingTransport`).
    static let aloneMax: Int64 = 3_000_000_000
    /// How long brokers may take from the first one's end until one of them has taken the grant up or cut it, in nanoseconds.
    /// A reservation ends sooner; brokers that die one after the other must not keep a camera capturing for nobody.
    static let undecidedMax: Int64 = 10_000_000_000
    /// Refused connections by others than a broker, after which the listener is closed. It is in a folder of the broker's own,
    /// so such a connection is a mistake.
    static let refusalsMax = 16

    let grant: UInt64
    private let loop: EventLoop
    private let brokersUser: UInt32
    private let patience: Int64
    private let client: ProcessHandle
    private let listener: Int32
    private let onBroker: (Int32) -> Void
    private let onOver: (String) -> Void
    private var clientSource, listenerSource: IOSource?
    private var timer: Timer?
    /// When the first broker ended.
    private var aloneSince: Int64?
    private var refusals = 0

    /// Its broker has ended, and no other one has taken it up.
    var isUndecided: Bool { aloneSince != nil }

    /// - Parameter client: a pidfd of the holder's process; this object's from here on, as the listener is, also when it throws.
    /// - Parameter onOver: the recorder core has to end, and why: a clause. Called once, never before the broker's end.
    init(
        _ grant: UInt64, client: Int32, listener: Int32, brokersUser: UInt32, patience: Int64,
        on loop: EventLoop, onBroker: @escaping (Int32) -> Void, onOver: @escaping (String) -> Void
    ) throws(SystemFault) {
        self.grant = grant
        self.client = ProcessHandle(owning: client)
        (self.listener, self.brokersUser, self.patience) = (listener, brokersUser, patience)
        (self.loop, self.onBroker, self.onOver) = (loop, onBroker, onOver)
        guard self.client.isAlive else { throw SystemFault("keep a grant for a client whose process is gone", ESRCH) }
        guard isListening(listener) == true else {
            throw SystemFault("listen for the next broker on a descriptor that is not a listening socket", EINVAL)
        }
        timer = try loop.addTimer { [unowned self] in end("no broker has taken the camera up in time") }
    }

    deinit {
        clientSource?.cancel()
        listenerSource?.cancel()
        close(listener)
    }

    /// The broker has ended, the first one or one that had not taken the grant up.
    func brokerEnded() {
        let now = EventLoop.now
        let since = aloneSince ?? now
        aloneSince = since
        do throws(SystemFault) {
            // An earlier broker's end may have added it: a descriptor is watched once.
            if clientSource == nil {
                clientSource = try loop.addIO(client.descriptor, .readable) { [unowned self] _ in
                    end("its client has ended")
                }
            }
            listenerSource = try loop.addIO(listener, .readable) { [unowned self] _ in accept() }
        } catch {
            // Not from inside the connection's own end.
            return loop.defer { [self] in end("\(error)") }
        }
        timer?.arm(at: min(now + patience * Self.aloneMax, since + patience * Self.undecidedMax))
    }

    private func accept() {
        let accepted = camarb_unix_accept(listener)
        guard accepted >= 0 else { return }
        guard let user = peerUser(accepted), user == brokersUser || user == 0 else {
            close(accepted)
            refusals += 1
            if refusals >= Self.refusalsMax { listenerSource = nil }
            return
        }
        // One broker at a time.
        listenerSource = nil
        if let aloneSince { timer?.arm(at: aloneSince + patience * Self.undecidedMax) }
        onBroker(accepted)
    }

    private func end(_ why: String) {
        (clientSource, listenerSource) = (nil, nil)
        timer?.arm(at: nil)
        onOver(why)
    }
}

/// `nil` where the descriptor is no socket; `errno` then contains the reason.
func isListening(_ socket: Int32) -> Bool? {
    var listens: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 ? listens != 0 : nil
}

func peerUser(_ socket: Int32) -> UInt32? {
    var user: uid_t = 0
    return camarb_peer_user(socket, &user) == 0 ? user : nil
}

/// The facts about the open grant for the next broker: its number, its recordings, and events that no broker received. A
/// value without any I/O. An event that was sent may have reached no broker that acted on it: the end of the last recording is
/// kept, and sent again to the next broker, which finds out by its number whether it is news.
struct GrantMemory {
    /// Events kept while there is no broker: the ends of recordings and photos of one grant, and a few seconds' events of a
    /// failing device. Further ones are left out.
    static let untoldMax = 64

    /// Open, and not being cut.
    private(set) var grant: UInt64?
    private var running: [UInt64] = []
    private var lastEnd: RecorderEvent?
    /// The last event of an unusual device.
    private var device: RecorderEvent?
    private var untold: [RecorderEvent] = []

    mutating func opened(_ grant: UInt64) { (self.grant, lastEnd) = (grant, nil) }
    mutating func cut(_ grant: UInt64) { if self.grant == grant { self.grant = nil } }
    /// It is ordered: a survey before its beginning includes it.
    mutating func begun(_ recording: UInt64) { running.append(recording) }
    mutating func refused(_ recording: UInt64) { running.removeAll { $0 == recording } }

    /// Running recordings, and the ones whose end is sent again.
    var recordings: [UInt64] {
        var all = running
        for event in untold + [lastEnd].compactMap(\.self) {
            if case .recordingFinished(let end) = event, !all.contains(end.id) { all.append(end.id) }
        }
        return all
    }

    /// Notes an event, and keeps it where no broker is connected.
    mutating func note(_ event: RecorderEvent, isConnected: Bool) {
        switch event {
        case .recordingFinished(let end):
            refused(end.id)
            lastEnd = event
        case .deviceChanged(let state, _): device = state == "ok" ? nil : event
        default: break
        }
        if !isConnected, untold.count < Self.untoldMax { untold.append(event) }
    }

    mutating func takeUntold() -> [RecorderEvent] {
        var told = untold
        untold = []
        for event in [device, lastEnd].compactMap(\.self) where !told.contains(event) { told.append(event) }
        return told
    }
}
