import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import Testing

/// Streams whose buffers are a device's own.
@Suite struct LentBufferTests {
    private static let layout = PictureLayout(width: 64, height: 2, pixelFormat: "420v")

    private final class Returned {
        var buffers: [Int] = []
    }

    private func open(_ returned: Returned) throws -> (FrameSender, FrameReceiver) {
        let lent = try (0..<6).map { _ in
            let descriptor = camarb_memfd("device", UInt64(Self.layout.bytes))
            try #require(descriptor >= 0 && camarb_memfd_seal(descriptor) == 0)
            return descriptor
        }
        let (sender, clientEnd) = try FrameSender.open(BufferPool(layout: Self.layout, lent: lent))
        sender.onReturn = { returned.buffers.append($0) }
        return (sender, FrameReceiver(adopting: clientEnd))
    }

    @Test("A lent buffer goes back to its device when the client returns it, and when a newer one takes its place")
    func comesBack() throws {
        let returned = Returned()
        let (sender, receiver) = try open(returned)
        for buffer in 0..<4 {
            #expect(sender.lend(buffer, sequence: UInt64(buffer + 1), timestamp: Int64(buffer), flags: []))
        }
        #expect(
            returned.buffers == [2],
            "two are with the client, the newest waits, and the one before is the device's again")
        #expect(!sender.lend(0, sequence: 9, timestamp: 9, flags: []), "the client has this one")
        receiver.release(try receiver.frame())
        #expect(sender.takeReleases())
        #expect(returned.buffers == [2, 0])
        #expect(sender.writable() == nil, "nothing is copied into a device's buffers")
    }

    @Test("A stream that ends gives its device everything back, each buffer once")
    func endsWhole() throws {
        let returned = Returned()
        let (sender, receiver) = try open(returned)
        for buffer in 0..<3 { #expect(sender.lend(buffer, sequence: 1, timestamp: 1, flags: [])) }
        sender.close()
        #expect(returned.buffers.sorted() == [0, 1, 2])
        #expect(!sender.lend(4, sequence: 2, timestamp: 2, flags: []))
        while case .frame = try receiver.next(within: .seconds(30)) {}
        #expect(receiver.hasEnded)
    }

    @Test("A buffer that is lent while its client goes comes back once")
    func clientGoesMeanwhile() throws {
        let returned = Returned()
        // The receiver goes with the first use of the pair.
        let sender = try open(returned).0
        let isOut = sender.lend(4, sequence: 2, timestamp: 2, flags: [])
        #expect(returned.buffers == (isOut ? [4] : []), "either it stayed the device's, or it came back")
        #expect(!sender.isOpen)
    }

    @Test(
        "A stream that goes on with copies gives its device everything back, and late returns of old buffers are harmless"
    )
    func goesOnWithCopies() throws {
        let returned = Returned()
        let (sender, receiver) = try open(returned)
        #expect(sender.lend(5, sequence: 1, timestamp: 1, flags: []))
        let old = try receiver.frame()
        sender.replaceBuffers(by: try BufferPool(layout: Self.layout))
        #expect(returned.buffers == [5] && !sender.isLent)
        receiver.release(old)
        #expect(sender.takeReleases())
        let index = try #require(sender.writable())
        sender.deliver(index, sequence: 2, timestamp: 2, flags: [])
        #expect(try receiver.frame().record.index == UInt32(6 + index))
    }
}
