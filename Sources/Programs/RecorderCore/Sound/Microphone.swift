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
    package let sampleRate, channels: Int

    private let clock: CaptureClock
    private let onFault: @Sendable (SoundProblem) -> Void
    private let state: Mutex<State>

    private struct State {
        /// Nil once it is closed, or its client has closed it.
        var ends: MicrophoneReader.Ends?
        var sound: KeptSound
        var hasFault = false
        var isClosed = false
    }

    /// - Parameter socket: a connected `SOCK_SEQPACKET` socket; this object's from here on, also where it throws. It is read until
    ///   `close`, or until its client closes it.
    /// - Parameter onFault: told the first problem, on the reader's thread or on that of `report`; must not block.
    package init(
        socket: Int32, sampleRate: Int, channels: Int, clock: CaptureClock = .real,
        onFault: @escaping @Sendable (SoundProblem) -> Void
    ) throws(BrokerError) {
        (self.sampleRate, self.channels, self.clock) = (sampleRate, channels, clock)
        self.onFault = onFault
        let ends = MicrophoneReader.Ends(socket: socket, wake: camarb_eventfd())
        state = Mutex(State(ends: ends, sound: KeptSound(sampleRate: sampleRate, channels: channels)))
        try MicrophoneReader.start(ends, for: self)
    }

    package var firstTime: Int64? { state.withLock { $0.sound.firstTime } }

    package var newestTime: Int64 { state.withLock { $0.sound.newestTime } }

    /// What has come since the last call, as it came: two seconds of it at the most.
    package func take() -> [SoundPacket] { state.withLock { $0.sound.take() } }

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

    func received(_ packet: SoundPacket) {
        let now = clock.now
        if let problem = state.withLock({ $0.sound.add(packet, at: now) }) { report(problem) }
    }

    /// The reader has gone, or is about to; on its thread. From here on the descriptors are its alone.
    func hasEnded() { state.withLock { $0.ends = nil } }
}
