import CLinux
import Glibc
import System

/// A grant that may outlive the broker, from `Keep` until a broker has taken it up with `Resume`, or it is over.
///
///     kept ──the broker's end──▶ alone ──a broker connects──▶ surveyed ──Resume──▶ over: a grant as any other
///                                 ▲  │                          │
///                                 │  └─ 3 s, the client's end   └─ 10 s: over, and its recording is finished
///                                 └────── the broker's end ─────┘
///
/// It decides nothing about the camera: it only says when the recorder core is to end. While it is `alone` nothing can be
/// asked for, since nobody is connected; while it is `surveyed` the recorder core begins nothing for it.
final class KeptGrant {
    /// How long it goes on without a broker, in nanoseconds: a service manager starts the next one within a fraction of a
    /// second, and a client that finds none within this time is told that it is interrupted (`ReconnectingTransport`).
    static let aloneMax: Int64 = 3_000_000_000
    /// How long brokers may take from the first one's end until one of them has taken the grant up or cut it, in nanoseconds.
    /// A reservation ends sooner; brokers that die one after the other must not keep a camera capturing for nobody.
    static let undecidedMax: Int64 = 10_000_000_000
    /// Connections by others than a broker that are refused; then nobody is listened to any more. The listener is in a
    /// folder of the broker's own, and so there is one only by mistake.
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
    /// When the first broker ended; nil: it has not.
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
        var listens: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens != 0 else {
            throw SystemFault("listen for the next broker on what is no listening socket", EINVAL)
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
            // There already where an earlier broker has ended, too: a descriptor is watched once.
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
        var user: uid_t = 0
        guard camarb_peer_user(accepted, &user) == 0, user == brokersUser || user == 0 else {
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
        clientSource = nil
        listenerSource = nil
        timer?.arm(at: nil)
        onOver(why)
    }
}
