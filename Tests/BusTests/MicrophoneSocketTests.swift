import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import System
import Testing

/// Descriptors of every kind, as a keeper and the recorder core's reader see them.
@Suite struct MicrophoneSocketTests {
    private final class Pair {
        let ends: [Int32]

        init(_ type: __socket_type = SOCK_SEQPACKET) throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            self.ends = ends
        }

        deinit { for end in ends { close(end) } }

        func send(_ bytes: Int, _ descriptors: [Int32] = []) -> Int32 {
            camarb_pass(ends[1], [UInt8](repeating: 7, count: bytes), bytes, descriptors, descriptors.count)
        }
    }

    /// The fault of a descriptor, which is closed.
    private func found(_ descriptor: Int32) -> camarb_microphone_fault {
        defer { close(descriptor) }
        var file = camarb_file()
        _ = camarb_check_output_file(descriptor, &file)
        return camarb_check_microphone(descriptor, &file)
    }

    @Test func whatIsNoneIsSaidToBeWhatItIs() throws {
        let stream = try Pair(SOCK_STREAM)
        defer { withExtendedLifetime(stream) {} }
        // The claims from outside try other descriptors of clients, with the broker's own sentences.
        for (descriptor, fault) in [
            (dup(stream.ends[0]), camarb_microphone_stream),
            (socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0), camarb_microphone_network),
            (camarb_memfd("test", 1), camarb_microphone_regular_file),
            (open("/dev/null", 0o10000000 | O_CLOEXEC), camarb_microphone_path_only),
            (camarb_open_watch_new(), camarb_microphone_other),
        ] as [(Int32, camarb_microphone_fault)] { #expect(found(descriptor) == fault) }
    }

    @Test func aPacketIsReceivedWithItsWholeLengthAndTheEndIsZero() throws {
        let pair = try Pair()
        defer { withExtendedLifetime(pair) {} }
        var bytes = [UInt8](repeating: 0, count: 16)
        #expect(camarb_microphone_receive(pair.ends[0], &bytes, bytes.count) == -Int(EAGAIN))
        try #require(pair.send(10) == 0 && pair.send(1000) == 0)
        #expect(camarb_microphone_receive(pair.ends[0], &bytes, bytes.count) == 10)
        #expect(bytes == [UInt8](repeating: 7, count: 10) + [UInt8](repeating: 0, count: 6))
        #expect(camarb_microphone_receive(pair.ends[0], &bytes, bytes.count) == 1000)
        shutdown(pair.ends[1], Int32(SHUT_RDWR))
        #expect(camarb_microphone_receive(pair.ends[0], &bytes, bytes.count) == 0)
    }

    @Test func aPacketWithDescriptorsStaysWhereItIs() throws {
        let pair = try Pair()
        defer { withExtendedLifetime(pair) {} }
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        try #require(pair.send(10, [file]) == 0 && pair.send(10) == 0)
        // Again and again, also where a copy of this end has the kernel look behind it.
        for _ in 0..<3 {
            var behind: Int32 = 10
            try #require(setsockopt(pair.ends[0], SOL_SOCKET, 42, &behind, socklen_t(MemoryLayout<Int32>.size)) == 0)
            #expect(camarb_microphone_receive(pair.ends[0], &bytes, bytes.count) == -Int(EBADMSG))
        }
        #expect(camarb_microphone_end(pair.ends[0]) == 1)
        var found: [Int32] = [-1]
        var count = 0
        #expect(camarb_receive_passed(pair.ends[0], &bytes, bytes.count, &found, 1, &count) == 10)
        #expect(count == 1)
        close(found[0])
    }

    @Test func descriptorsBehindEmptyPacketsAreFound() throws {
        let pair = try Pair()
        defer { withExtendedLifetime(pair) {} }
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        for _ in 0..<100 { try #require(pair.send(0) == 0) }
        try #require(pair.send(0, [file]) == 0)
        #expect(camarb_microphone_end(pair.ends[0]) == 1)
    }
}
