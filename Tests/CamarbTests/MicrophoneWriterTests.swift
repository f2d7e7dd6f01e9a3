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
        /// The next packet that was written; nil where there is none.
        func packet() -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: 1 << 18)
            var passed: Int32 = -1
            let count = end.withLock { camarb_packet_receive($0, &bytes, bytes.count, &passed, 0) }
            return count > 0 ? Array(bytes.prefix(count)) : nil
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
        let transport = MemoryTransport { _, call throws(BrokerError) in
            if call.member == "AttachMicrophone", case .fileDescriptor(let end)? = call.arguments.first {
                keeper.keep(end)
            }
            return try MemoryTransport.standardAnswer(call)
        }
        let microphone = try MicrophoneWriter(format)
        try await CameraClient(over: transport).withSession(camera: "front") { session in
            try await microphone.attach(to: session)
            let again = await #expect(throws: BrokerError.self) { try await microphone.attach(to: session) }
            #expect(again?.kind == .invalidValue, "it is attached once")
        }
        return (microphone, keeper)
    }

    @Test func longSoundIsWrittenInPacketsThatFollowEachOther() async throws {
        let (microphone, keeper) = try await attached(MicrophoneFormat(sampleRate: 8000, channels: 2))
        let samples = (0..<1000).map { Int16($0) }
        #expect(microphone.write(samples, capturedAt: 5_000_000_000) == .written)
        var heard: [Int16] = []
        while let packet = keeper.packet() {
            func number<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int) -> Number {
                packet.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: type)) }
            }
            #expect(number(Int64.self, at: 0) == 5_000_000_000 + Int64(heard.count / 2) * 125_000)
            let frames = Int(number(UInt32.self, at: 8))
            #expect(frames <= 400, "50 ms at the most")
            #expect(number(UInt32.self, at: 12) == 0 && packet.count == 16 + frames * 4)
            heard += (0..<frames * 2).map { number(Int16.self, at: 16 + $0 * 2) }
        }
        #expect(heard == samples)
    }

    @Test func aRecorderCoreThatDoesNotReadHoldsNobodyUp() async throws {
        let (microphone, keeper) = try await attached(MicrophoneFormat(sampleRate: 48_000, channels: 1))
        let part = [Int16](repeating: 1, count: 2400)
        var outcome = MicrophoneWriter.Outcome.written
        for _ in 0..<10_000 where outcome == .written { outcome = microphone.write(part, capturedAt: 1) }
        #expect(outcome == .leftOut)
        while keeper.packet() != nil {}
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
