import ArbiterProtocol
import CLinux
import Glibc
import RecorderCore
import Synchronization
import Testing

/// A microphone, with the client's end in the test's hand.
private final class MicrophoneUnderTest: Sendable {
    let microphone: Microphone
    private let end: Mutex<Int32>
    private let faults: AsyncStream<SoundProblem>

    init() throws {
        var (recorderEnd, clientEnd): (Int32, Int32) = (-1, -1)
        try #require(camarb_packet_pair(&recorderEnd, &clientEnd) == 0)
        // Room for one that is longer than any may be.
        var room = Int32(SoundPacket.bytesMax)
        setsockopt(clientEnd, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        end = Mutex(clientEnd)
        let (faults, continuation) = AsyncStream.makeStream(of: SoundProblem.self)
        self.faults = faults
        let told = Told()
        self.told = told
        microphone = try Microphone(socket: recorderEnd, sampleRate: 8000, channels: 1) { problem in
            told.count.withLock { $0 += 1 }
            continuation.yield(problem)
        }
    }

    private final class Told: Sendable { let count = Mutex(0) }
    private let told: Told
    var faultsTold: Int { told.count.withLock { $0 } }

    deinit {
        microphone.close()
        hangUp()
    }

    func hangUp() {
        end.withLock { end in
            if end >= 0 { close(end) }
            end = -1
        }
    }

    /// Sends what it is given, and waits for room. False: the other end is closed.
    @discardableResult
    func send(_ bytes: [UInt8], passing descriptor: Int32 = -1) -> Bool {
        let end = end.withLock { $0 }
        while true {
            let result = camarb_packet_send(end, bytes, bytes.count, descriptor)
            guard result == -EAGAIN else { return result == 0 }
            var room = pollfd(fd: end, events: Int16(POLLOUT), revents: 0)
            _ = camarb_poll(&room, 1, 1_000_000_000)
        }
    }

    /// The next problem that is told. A test's time limit bounds the wait.
    func fault() async throws -> SoundProblem {
        for await fault in faults { return fault }
        throw BrokerError(.failed, "Nothing was told.")
    }

    /// Packets until there are so many; the test's time limit bounds the wait.
    func packets(_ count: Int) async throws -> [SoundPacket] {
        var packets: [SoundPacket] = []
        while packets.count < count {
            packets += microphone.take()
            if packets.count < count { try await Task.sleep(for: .milliseconds(2)) }
        }
        return packets
    }
}

private func packet(
    _ frames: Int, time: Int64 = camarb_monotonic_ns(), says: UInt32? = nil, reserved: UInt32 = 0
) -> [UInt8] {
    var bytes: [UInt8] = []
    withUnsafeBytes(of: time.littleEndian) { bytes += $0 }
    withUnsafeBytes(of: (says ?? UInt32(frames)).littleEndian) { bytes += $0 }
    withUnsafeBytes(of: reserved.littleEndian) { bytes += $0 }
    return bytes + [UInt8](repeating: 1, count: frames * 2)
}

@Suite(.timeLimit(.minutes(10)), .serialized) struct AttachedMicrophoneTests {
    @Test func whatIsWrongIsToldOnceAndPassedOver() async throws {
        let cases: [(bytes: [UInt8], problem: SoundProblem)] = [
            ([], .noHead(bytes: 0)),
            ([UInt8](repeating: 0, count: 15), .noHead(bytes: 15)),
            (packet(0), .frames(0, most: 8000)),
            (packet(8001), .frames(8001, most: 8000)),
            (packet(10, says: UInt32.max), .frames(UInt32.max, most: 8000)),
            (packet(10, reserved: 7), .notZero(7)),
            (packet(10, says: 11), .length(bytes: 36, frames: 11, expected: 38)),
            (packet(10) + [0], .length(bytes: 37, frames: 10, expected: 36)),
            (packet(10, time: -5), .negativeTime(-5)),
            ([UInt8](repeating: 0, count: SoundPacket.bytesMax + 1), .tooLong(bytes: SoundPacket.bytesMax + 1)),
        ]
        for (bytes, problem) in cases {
            let test = try MicrophoneUnderTest()
            #expect(test.send(bytes) && test.send(bytes))
            // A right packet is taken all the same.
            let time = camarb_monotonic_ns()
            test.send(packet(5, time: time))
            #expect(try await test.packets(1).map(\.time) == [time])
            #expect(try await test.fault() == problem)
            #expect(test.faultsTold == 1, "\(problem)")
            #expect(problem.sentence.hasSuffix("."))
        }
    }

    @Test func timesOfAnotherClockAndThoseThatRunBackAreToldAndPassedOver() async throws {
        for (off, isAhead) in [(Int64(-1) << 40, false), (1 << 40, true)] {
            let test = try MicrophoneUnderTest()
            let time = camarb_monotonic_ns()
            test.send(packet(5, time: max(0, time + off)))
            test.send(packet(5, time: time))
            #expect(try await test.packets(1).map(\.time) == [time])
            switch try await test.fault() {
            case .ahead(let by): #expect(isAhead && by > 1 << 39)
            case .old(let by): #expect(!isAhead && by > KeptSound.timeMax)
            case let other: Issue.record("\(other)")
            }
        }
        let test = try MicrophoneUnderTest()
        let time = camarb_monotonic_ns()
        for time in [time, time - 100_000_000] { test.send(packet(80, time: time)) }
        #expect(try await test.fault() == .runsBack(by: 100_000_000))
    }

    @Test func aDescriptorThatIsSentAlongGetsNowhereAndEndsTheMicrophone() async throws {
        let test = try MicrophoneUnderTest()
        var ends: [Int32] = [-1, -1]
        // Not for processes that other tests start meanwhile.
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        test.send(packet(5), passing: ends[1])
        close(ends[1])
        #expect(try await test.fault() == .descriptors)
        #expect(test.microphone.take().isEmpty)
        // Nobody has the writing end any more: reading ends.
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    @Test func aClosedMicrophoneIsClosedAtItsClientAtOnceAndAClientThatClosesItsEndIsTold() async throws {
        let closed = try MicrophoneUnderTest()
        closed.microphone.close()
        closed.microphone.close()
        #expect(!closed.send(packet(1)))
        closed.microphone.report(.silent(for: 1))
        #expect(closed.faultsTold == 0, "nothing is told of it any more")
        let test = try MicrophoneUnderTest()
        test.send(packet(5))
        test.hangUp()
        #expect(try await test.fault() == .closed)
        #expect(test.microphone.take().count == 1, "what came before is kept")
    }

    @Test func microphonesThatAreStuckAreBounded() async throws {
        var ends: [Int32] = []
        var microphones: [Microphone] = []
        func attach() throws -> Microphone {
            var pair: (Int32, Int32) = (-1, -1)
            try #require(camarb_packet_pair(&pair.0, &pair.1) == 0)
            ends.append(pair.1)
            return try Microphone(socket: pair.0, sampleRate: 8000, channels: 1) { _ in }
        }
        defer { for end in ends { close(end) } }
        // Earlier tests' are just ending.
        while microphones.count < 8 {
            do { microphones.append(try attach()) } catch { try await Task.sleep(for: .milliseconds(2)) }
        }
        let refused = #expect(throws: BrokerError.self) { try attach() }
        #expect(refused?.kind == .limitExceeded)
        #expect(camarb_packet_send(ends[ends.count - 1], [1], 1, -1) == -EPIPE, "the refused one's end is closed")
        for microphone in microphones { microphone.close() }
        while microphones.count < 9 {
            do { microphones.append(try attach()) } catch { try await Task.sleep(for: .milliseconds(2)) }
        }
        microphones[8].close()
    }
}
