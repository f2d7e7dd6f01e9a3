import ArbiterProtocol
import CLinux
import Camarb
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct MicrophoneWriterTests {
    /// A broker that keeps the end of the socket which it gets.
    private final class Keeper: Sendable {
        private let end = Mutex<Int32>(-1)
        // Not for processes that other tests start meanwhile.
        func keep(_ descriptor: Int32) { end.withLock { $0 = fcntl(descriptor, F_DUPFD_CLOEXEC, 0) } }
        /// Reads what was written.
        func drain() {
            var (bytes, passed) = ([UInt8](repeating: 0, count: 1 << 18), Int32(-1))
            while end.withLock({ camarb_packet_receive($0, &bytes, bytes.count, &passed, 0) }) > 0 {}
        }
        func close() {
            end.withLock { end in
                if end >= 0 { Glibc.close(end) }
                end = -1
            }
        }
        deinit { close() }
    }

    /// Attaches a microphone to a session of a broker in memory.
    private func attached(_ format: MicrophoneFormat) async throws -> (MicrophoneWriter, Keeper) {
        let keeper = Keeper()
        let broker = FalseBroker { _, call throws(BrokerError) in
            if call.member == "AttachMicrophone", case .fileDescriptor(let end)? = call.arguments.first {
                keeper.keep(end)
            }
            return try FalseBroker.standardAnswer(call)
        }
        let microphone = try MicrophoneWriter(format)
        let client = try Brokers.client([broker])
        try await client.withSession(camera: "front") { session in
            try await microphone.attach(to: session)
            let again = await #expect(throws: BrokerError.self) { try await microphone.attach(to: session) }
            #expect(again?.kind == .invalidValue, "it is attached once")
        }
        return (microphone, keeper)
    }

    @Test func aRecorderCoreThatDoesNotReadHoldsNobodyUp() async throws {
        let (microphone, keeper) = try await attached(MicrophoneFormat(sampleRate: 48_000, channels: 1))
        let part = [Int16](repeating: 1, count: 2400)
        var outcome = MicrophoneWriter.Outcome.written
        for _ in 0..<10_000 where outcome == .written { outcome = microphone.write(part, capturedAt: 1) }
        #expect(outcome == .leftOut)
        keeper.drain()
        #expect(microphone.write(part, capturedAt: 2) == .written, "once it reads again, sound goes on")
    }

    @Test func aMicrophoneThatWasClosedSaysSo() async throws {
        let (microphone, keeper) = try await attached(MicrophoneFormat(sampleRate: 48_000, channels: 1))
        keeper.close()
        #expect(microphone.write([1, 2, 3], capturedAt: 1) == .closed)
        microphone.close()
        microphone.close()
        #expect(microphone.write([1, 2, 3], capturedAt: 1) == .closed)
    }

    @Test func aFormatThatMayNotBeIsRefused() {
        let refused = #expect(throws: BrokerError.self) {
            try MicrophoneWriter(MicrophoneFormat(sampleRate: 4000, channels: 1))
        }
        #expect(refused?.kind == .invalidValue && refused?.message.contains("4000") == true)
    }
}
