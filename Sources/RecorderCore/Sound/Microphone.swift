package import ArbiterProtocol
import CLinux
import Synchronization

/// A microphone that a client has attached: the recorder core's end of its socket, read by a thread of its own.
///
/// Nothing that the client does with it concerns anybody else. What it sends is looked at, and kept for two seconds; so much
/// and so many packets as sound can be are read, and a client that sends more waits itself. Descriptors that it sends along are
/// the kernel's to close, on that thread: nowhere is room for them. The first problem is told, once.
///
/// Whoever makes one closes it. Any thread may call; nothing here waits.
package final class Microphone: Sendable {
    package let sampleRate: Int
    package let channels: Int

    /// Sound is kept for so long, in nanoseconds. A recording's beginning waits for sound for 1 s, and uses no older.
    package static let keptMax: Int64 = 2_000_000_000
    /// A packet's time may be so much ahead of now, in nanoseconds: more is another clock.
    package static let aheadMax: Int64 = 1_000_000_000
    /// The fewest frames that sound cards give at a time are 32, at 96 kHz three thousand times a second.
    package static let packetsASecond = 4_096
    private let clock: CaptureClock
    private let onFault: @Sendable (SoundProblem) -> Void
    private let state: Mutex<State>

    private struct State {
        /// Nil once it is closed, or its client has closed it.
        var ends: MicrophoneReader.Ends?
        var packets: [SoundPacket] = []
        var frames = 0
        var firstTime: Int64?
        /// The latest time that a packet has said.
        var newest: Int64 = 0
        var hasFault = false
        var isClosed = false
    }

    /// - Parameters:
    ///   - socket: a connected `SOCK_SEQPACKET` socket; this object's from here on, also where it throws. It is read until
    ///     `close`, or until its client closes it.
    ///   - clock: what packets' times are compared with.
    ///   - onFault: told the first problem, on the reader's thread or on that of `report`; must not block.
    /// - Throws: `.outOfResources` where there can be no thread, `.limitExceeded` where too many are stuck.
    package init(
        socket: Int32, sampleRate: Int, channels: Int, clock: CaptureClock = .real,
        onFault: @escaping @Sendable (SoundProblem) -> Void
    ) throws(BrokerError) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.clock = clock
        self.onFault = onFault
        let ends = MicrophoneReader.Ends(socket: socket, wake: camarb_eventfd())
        state = Mutex(State(ends: ends))
        try MicrophoneReader.start(ends, for: self)
    }

    /// The capture time of the first packet that came and was right; nil before.
    package var firstTime: Int64? { state.withLock { $0.firstTime } }

    /// The latest capture time that a packet said; 0 before the first.
    package var newestTime: Int64 { state.withLock { $0.newest } }

    /// What has come since the last call, as it came: two seconds of it at the most.
    package func take() -> [SoundPacket] {
        state.withLock { state in
            defer { (state.packets, state.frames) = ([], 0) }
            return state.packets
        }
    }

    /// Tells a problem, if it is the first; also one that others saw.
    package func report(_ problem: SoundProblem) {
        let isFirst = state.withLock { state in
            guard !state.isClosed, !state.hasFault else { return false }
            state.hasFault = true
            return true
        }
        if isFirst { onFault(problem) }
    }

    /// The client finds its end closed at once, and nothing is told any more. May be called again.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.ends?.end()
            state.ends = nil
        }
    }

    /// What the reader got; on its thread.
    func received(_ packet: SoundPacket) {
        let now = clock.now
        if packet.time - now > Self.aheadMax { return report(.ahead(by: packet.time - now)) }
        if now - packet.time > Self.keptMax { return report(.old(by: now - packet.time)) }
        let back = state.withLock { state in
            let back = state.newest - packet.time
            state.newest = max(state.newest, packet.time)
            state.firstTime = state.firstTime ?? packet.time
            state.packets.append(packet)
            state.frames += packet.samples.count / channels
            forgetOld(&state)
            return back
        }
        if Double(back) / 1e9 > SourceClock.overlapMin { report(.runsBack(by: back)) }
    }

    /// The reader has gone, or is about to; on its thread. From here on the descriptors are its alone.
    func hasEnded() { state.withLock { $0.ends = nil } }

    private func forgetOld(_ state: inout State) {
        let framesMax = sampleRate * Int(Self.keptMax / 1_000_000_000)
        let packetsMax = Self.packetsASecond * Int(Self.keptMax / 1_000_000_000)
        // A quarter too much, and then all of it at once: forgetting one by one would move all others each time.
        guard state.frames > framesMax * 5 / 4 || state.packets.count > packetsMax * 5 / 4 else { return }
        var forgotten = 0
        while state.frames > framesMax || state.packets.count - forgotten > packetsMax {
            state.frames -= state.packets[forgotten].samples.count / channels
            forgotten += 1
        }
        state.packets.removeFirst(forgotten)
    }
}
