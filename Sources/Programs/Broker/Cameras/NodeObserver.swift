package import ArbiterProtocol
import Glibc
package import System

package protocol NodeObserverOwner: AnyObject {
    /// Adds a watch of the camera's node to the queue of `descriptor`.
    func watchNode(_ descriptor: Int32, _ done: @escaping (Result<Void, BrokerError>) -> Void)
    /// A recorder core looks whether any program streams, and which one has the node open ("" where that cannot be seen). While a
    /// session has the camera the device is left alone.
    func lookAtNode(_ done: @escaping (Result<String, BrokerError>) -> Void)
    var nodeUse: NodeObserver.OwnUse { get }
    var isHeldOutside: Bool { get }
    /// An upper bound of open files of the node; `nil` where it is not known.
    var nodeUsersMost: Int? { get }
    /// - Parameter program: it has the node open without streaming; `nil` where none has any more.
    func nodeIsOpen(in program: String?)
}

/// Finds programs that open a camera's node without asking the broker.
///
/// ```
///   news of the node ──settle──▶ somebody beside us? ──no──▶ open in nobody
///                                        │yes
///                                        ▼
///        look (a recorder core asks the device) ──▶ streams: held outside, until a look after a close says otherwise
///                                        │
///                                        └────────▶ merely open: shown, blocks nobody, looked at again ever more rarely
/// ```
///
/// The broker may not read the node, so its recorder core adds the watch to the broker's queue. That core's own opens
/// are known by their time: the number is believed only while none of its own uses is under way, and outside of a grant
/// only right after a look, whose own opening and closing are in the queue by the time it is answered.
package final class NodeObserver {
    package enum OwnUse: Hashable, Sendable { case none, opening, open }

    private unowned let owner: any NodeObserverOwner
    private let loop: EventLoop
    private var queue: OpenObserver?
    private var timer: Timer?
    private var openers = NodeOpeners()
    package private(set) var trouble: String?
    private var reported: String?
    private var isLooking = false
    private var lookedAt: Int64?
    private var pause = pauses.lowerBound

    /// News within so many nanoseconds count as one: a program opens a camera several times while it looks for one.
    static let settleTime: Int64 = 100_000_000
    /// Between two looks at a device that is merely open, in nanoseconds: growing. The lower one holds also where programs open and
    /// close it without end: each look is a call of the driver, and at times starts a process.
    package static let pauses: ClosedRange<Int64> = 250_000_000...60_000_000_000

    package init(_ owner: any NodeObserverOwner, on loop: EventLoop) {
        self.owner = owner
        self.loop = loop
    }

    package func begin() {
        end()
        openers = NodeOpeners(isOurs: owner.nodeUse == .open)
        do throws(SystemFault) {
            timer = try loop.addTimer { [unowned self] in timerRang() }
            let queue = try OpenObserver(on: loop) { [unowned self] news in take(news) }
            self.queue = queue
            owner.watchNode(queue.descriptor) { [weak self] result in
                guard let self, self.queue === queue else { return }
                switch result {
                // Only a look finds programs that had it open before.
                case .success: look()
                case .failure(let error):
                    self.queue = nil
                    trouble = error.message
                }
            }
        } catch { trouble = "\(error)" }
    }

    package func end() {
        queue = nil
        timer?.arm(at: nil)
        trouble = nil
        openers = NodeOpeners()
        isLooking = false
        report(nil)
    }

    package func ownUseChanged() { if queue != nil, !isLooking { arm(at: EventLoop.now + Self.settleTime) } }

    private func take(_ news: OpenNews) {
        openers.isOurs = owner.nodeUse == .open
        openers.take(news, atMost: owner.nodeUsersMost)
        guard !isLooking else { return }
        pause = Self.pauses.lowerBound
        // A session that waits for the other program to let go need not wait for things to settle.
        arm(at: EventLoop.now + (owner.isHeldOutside && news.closed > 0 ? 0 : Self.settleTime))
    }

    private func arm(at moment: Int64) {
        if let armed = timer?.deadline, armed <= moment { return }
        timer?.arm(at: moment)
    }

    private func timerRang() {
        guard queue != nil, !isLooking else { return }
        boundOpeners()
        switch owner.nodeUse {
        // It has its own news for whoever waits.
        case .opening: break
        case .none where openers.others == 0 && !owner.isHeldOutside: report(nil)
        case .open where openers.others == 0: report(nil)
        case .none, .open: look()
        }
    }

    private func boundOpeners() {
        openers.isOurs = owner.nodeUse == .open
        openers.bound(atMost: owner.nodeUsersMost)
    }

    private func look() {
        let now = EventLoop.now
        // No look begins before the pause is over, however often programs open and close the node.
        if let lookedAt, now < lookedAt + Self.pauses.lowerBound { return arm(at: lookedAt + Self.pauses.lowerBound) }
        lookedAt = now
        isLooking = true
        let asked = queue
        owner.lookAtNode { [weak self] result in
            guard let self, isLooking, queue === asked else { return }
            // The look's own opening and closing are in the queue by now.
            queue?.takeOne()
            isLooking = false
            found(try? result.get())
        }
    }

    private func found(_ program: String?) {
        boundOpeners()
        let isOpen = openers.others > 0
        if program != nil || !isOpen {
            let words = program.flatMap { $0.isEmpty ? nil : $0 } ?? "a program that cannot be seen from here"
            report(isOpen && !owner.isHeldOutside ? words : nil)
        }
        // A program that streams is followed by the recorder core that found it, and by the next close.
        guard isOpen, owner.nodeUse == .none, !owner.isHeldOutside else { return }
        arm(at: EventLoop.now + pause)
        pause = min(pause * 2, Self.pauses.upperBound)
    }

    private func report(_ program: String?) {
        guard program != reported else { return }
        reported = program
        owner.nodeIsOpen(in: program)
    }
}

/// The number of users of a driver's module, in sysfs: each open file of one of its nodes is one, so that no node has more.
/// A driver that is built into the kernel has no such number.
enum DriverUsers {
    static func path(ofNode sysPath: String) -> String { "\(sysPath)/device/driver/module/refcnt" }

    static func count(at path: String) -> Int? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A number of 64 bits and the end of its line.
        var bytes = [UInt8](repeating: 0, count: 24)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 != 0x0a }, as: UTF8.self)).map { max(0, $0) }
    }
}
