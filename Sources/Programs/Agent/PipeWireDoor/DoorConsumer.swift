import ArbiterProtocol
package import CPipeWire
import FrameStream
package import System

/// The supply of a consumer's streams: its session at the broker.
package protocol DoorSupply: AnyObject {
    func want(_ format: DoorFormat?)
    func streamEnded(_ number: Int)
    func close()
}

package protocol DoorScreen {
    func show(_ slate: DoorSlate)
    /// Copied before it returns.
    func show(_ picture: camarb_door_picture)
}

struct DoorNode: DoorScreen {
    var door: OpaquePointer
    var consumer: UInt32

    func show(_ slate: DoorSlate) {
        camarb_door_show_slate(door, consumer, slate.kind.rawValue, slate.reason, slate.interrupter)
    }

    func show(_ picture: camarb_door_picture) {
        withUnsafePointer(to: picture) { camarb_door_show_frame(door, consumer, $0) }
    }
}

/// A program's stream for a camera: its session at the broker, and its picture or slate.
package final class DoorConsumer {
    let camera: UInt32
    package enum Owner: Hashable {
        case process(Int32)
        /// Unknown: its connection to PipeWire stands for it.
        case connection(UInt32)

        /// Equal for the same owner only.
        package var number: UInt64 {
            switch self {
            case .process(let process): UInt64(UInt32(bitPattern: process))
            case .connection(let client): 1 << 32 | UInt64(client)
            }
        }
    }
    let owner: Owner
    package private(set) var app: String?

    private let loop: EventLoop
    private let screen: any DoorScreen
    private let session: any DoorSupply
    private let onFrame: () -> Void
    private var receiver: FrameReceiver?
    /// The session's number of the present stream.
    private var stream = 0
    private var isRunning = false
    private var source: IOSource?
    private var slate = DoorSlate.waiting
    private var lateSlate: Timer?
    /// A stream mostly ends with a cut, whose reason is on its way by then, or the next stream's first picture: a slate
    /// in between would only flicker. In nanoseconds.
    private static let flicker: Int64 = 200_000_000

    package init(
        camera: UInt32, owner: Owner, on screen: any DoorScreen, _ loop: EventLoop, _ session: any DoorSupply,
        onFrame: @escaping () -> Void
    ) {
        (self.camera, self.owner, self.screen, self.loop) = (camera, owner, screen, loop)
        (self.session, self.onFrame) = (session, onFrame)
        lateSlate = try? loop.addTimer { [unowned self] in show(.waiting) }
    }

    package func close() {
        endStream()
        session.close()
    }

    package func runs(_ format: DoorFormat) {
        // In another format the last slate or picture is shown again.
        if !isRunning { show(.waiting) }
        isRunning = true
        session.want(format)
    }

    package func pauses() {
        isRunning = false
        endStream()
        lateSlate?.arm(at: nil)
        session.want(nil)
    }

    package func take(_ news: DoorSession.News) {
        switch news {
        case .named(let name): app = name
        case .slate(let slate):
            // No picture from before the cut is shown after its slate; the next grant has a stream of its own.
            if slate.kind != DoorSlate.waiting.kind { endStream() }
            show(slate)
        case .stream(let number, let passedOn):
            stream = number
            begin(passedOn.take())
        }
    }

    private func show(_ slate: DoorSlate) {
        self.slate = slate
        lateSlate?.arm(at: nil)
        screen.show(slate)
    }

    private func begin(_ descriptor: Int32) {
        endStream()
        guard descriptor >= 0 else { return }
        slate = .waiting
        let receiver = FrameReceiver(adopting: descriptor)
        self.receiver = receiver
        // Where the loop has no room for it, the slate stays.
        source = try? loop.addIO(descriptor, .readable) { [unowned self] _ in turn() }
    }

    private func endStream() {
        source?.cancel()
        source = nil
        receiver = nil
    }

    private func turn() {
        guard let receiver else { return }
        do throws(FrameStreamFault) {
            switch try receiver.newest(within: .zero) {
            // After the stream's end the picture may be blanked already.
            case .frame where receiver.hasEnded: streamEnded(slate)
            case .frame(let frame):
                lateSlate?.arm(at: nil)
                show(frame, receiver)
                receiver.release(frame)
                onFrame()
            case .timedOut: break
            case .ended: streamEnded(slate)
            }
        } catch { streamEnded(DoorSlate(kind: .noAccess, reason: error.description)) }
    }

    /// A running session has another stream soon.
    private func streamEnded(_ slate: DoorSlate) {
        endStream()
        if slate == .waiting, let lateSlate { lateSlate.arm(at: EventLoop.now + Self.flicker) } else { show(slate) }
        session.streamEnded(stream)
    }

    private func show(_ frame: FrameReceiver.Frame, _ receiver: FrameReceiver) {
        let layout = frame.layout
        receiver.withBytes(of: frame) { bytes in
            guard let start = bytes.baseAddress, bytes.count >= layout.bytes else { return }
            let pixels = start.assumingMemoryBound(to: UInt8.self)
            screen.show(
                camarb_door_picture(
                    luma: pixels, chroma: pixels + layout.lumaBytes, stride: UInt32(layout.stride),
                    width: UInt32(layout.width), height: UInt32(layout.height), captured: frame.record.timestamp))
        }
    }
}
