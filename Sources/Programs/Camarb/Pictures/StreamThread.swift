import ArbiterProtocol
import Synchronization
import System

/// The one thread that reads the streams of all sessions of a client, begun when there is a first. It waits in the
/// kernel, for frames of streams that somebody looks at and for nothing else. It ends with its client.
final class StreamThread: Sendable {
    private enum Order: Sendable {
        case read(PictureStream)
        case ignore(PictureStream)
    }

    private struct State {
        var hasBegun = false
        var isOver = false
        var orders: [Order] = []
        var wakeup: Wakeup?
    }

    private let state = Mutex(State())

    /// Reads this stream from now on, until it is over or `ignore`d.
    /// - Throws: `.outOfResources` where there can be no thread.
    func read(_ stream: PictureStream) throws(BrokerError) {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        order(.read(stream))
        guard isFirst else { return }
        // It keeps this object, which ends it: the client has the other reference.
        guard startThread({ [self] in StreamLoop(self).run() }) else {
            state.withLock { ($0.hasBegun, $0.orders) = (false, []) }
            throw BrokerError(.outOfResources, "No thread could be started for the camera's pictures.")
        }
    }

    func ignore(_ stream: PictureStream) { order(.ignore(stream)) }

    func end() {
        state.withLock { state in
            state.isOver = true
            state.wakeup?.signal()
        }
    }

    private func order(_ order: Order) {
        state.withLock { state in
            guard state.hasBegun, !state.isOver else { return }
            state.orders.append(order)
            if state.orders.count == 1 { state.wakeup?.signal() }
        }
    }

    private final class StreamLoop {
        private let shared: StreamThread
        private var loop: EventLoop?
        private var reading: [ObjectIdentifier: (stream: PictureStream, source: IOSource)] = [:]

        init(_ shared: StreamThread) { self.shared = shared }

        func run() {
            var fault: SystemFault?
            do throws(SystemFault) {
                let loop = try EventLoop()
                self.loop = loop
                let wakeup = try loop.addWakeup { [unowned self] in self.takeOrders() }
                let isOver = shared.state.withLock { state in
                    state.wakeup = wakeup
                    return state.isOver
                }
                takeOrders()
                if !isOver { _ = try loop.run() }
                wakeup.cancel()
            } catch { fault = error }
            // Sources go before what they read.
            reading = [:]
            let left = shared.state.withLock { state in
                defer { (state.wakeup, state.hasBegun, state.orders) = (nil, false, []) }
                return state.orders
            }
            let why = fault?.description ?? "the client is gone"
            for case .read(let stream) in left { stream.cannotBeRead(why) }
        }

        private func takeOrders() {
            let (orders, isOver) = shared.state.withLock { state in
                defer { state.orders = [] }
                return (state.orders, state.isOver)
            }
            for order in orders {
                switch order {
                case .read(let stream): read(stream)
                case .ignore(let stream): reading[ObjectIdentifier(stream)] = nil
                }
            }
            if isOver { loop?.exit() }
        }

        private func read(_ stream: PictureStream) {
            guard let loop, reading[ObjectIdentifier(stream)] == nil else { return }
            do throws(SystemFault) {
                let source = try loop.addIO(stream.descriptor, .readable) { [unowned self] _ in
                    if !stream.read() { self.reading[ObjectIdentifier(stream)] = nil }
                }
                reading[ObjectIdentifier(stream)] = (stream, source)
            } catch { stream.cannotBeRead(error.description) }
        }
    }
}
