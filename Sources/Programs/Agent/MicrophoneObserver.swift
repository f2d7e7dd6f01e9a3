import CPipeWire
import System

final class MicrophoneObserver: Followed<[CaptureStream]> {
    var captures: [CaptureStream]? { seen }
    private var pipewire: OpaquePointer?

    deinit { close() }

    override func open() {
        var opened: OpaquePointer?
        let fault = camarb_pipewire_open(&opened)
        guard fault == camarb_pipewire_good, let opened else {
            if fault == camarb_pipewire_no_library {
                know(nil, "PipeWire's library (libpipewire-0.3.so.0) is not installed")
            } else {
                lost("PipeWire does not run")
            }
            return
        }
        pipewire = opened
        do throws(SystemFault) {
            source = try loop.addIO(camarb_pipewire_descriptor(opened), .readable) { [unowned self] _ in turn() }
        } catch { lost("\(error)") }
    }

    override func close() {
        super.close()
        if let pipewire { camarb_pipewire_close(pipewire) }
        pipewire = nil
    }

    private func turn() {
        guard let pipewire else { return }
        let news = Int(camarb_pipewire_turn(pipewire))
        if news & CAMARB_PIPEWIRE_LOST != 0 { return lost("PipeWire went away") }
        guard news & CAMARB_PIPEWIRE_CHANGED != 0, camarb_pipewire_is_whole(pipewire) else { return }
        backOff.reset()
        know((0..<camarb_pipewire_count(pipewire)).map { CaptureStream(camarb_pipewire_capture(pipewire, $0)) }, nil)
    }
}

extension CaptureStream {
    fileprivate init(_ capture: camarb_capture) {
        self.init(
            node: capture.node, process: capture.process > 0 ? capture.process : nil,
            user: UInt32(exactly: capture.user),
            claimedProcess: capture.claimed_process > 0 ? capture.claimed_process : nil,
            isRelayed: capture.is_relayed, isMonitor: capture.is_monitor, isRunning: capture.is_running,
            name: Journal.printable(text(capture.name), keepLines: false))
    }
}

/// A stream in PipeWire through which a program records sound.
public struct CaptureStream: Hashable, Sendable {
    public var node: UInt32
    /// The process that PipeWire took from its socket; `nil` without one.
    public var process: Int32?
    /// That process's user; `nil` where PipeWire has none.
    public var user: UInt32?
    /// The process by the stream's own claim.
    public var claimedProcess: Int32?
    /// The process on the socket is PipeWire's server for PulseAudio's clients, and relays one of them.
    public var isRelayed: Bool
    /// The stream records played sound, or measures a level.
    public var isMonitor: Bool
    public var isRunning: Bool
    /// The program's own name, for people.
    public var name: String

    public init(
        node: UInt32, process: Int32?, user: UInt32? = nil, claimedProcess: Int32? = nil, isRelayed: Bool = false,
        isMonitor: Bool = false, isRunning: Bool = true, name: String = ""
    ) {
        (self.node, self.process, self.user) = (node, process, user)
        (self.claimedProcess, self.isRelayed) = (claimedProcess, isRelayed)
        (self.isMonitor, self.isRunning, self.name) = (isMonitor, isRunning, name)
    }

    /// Samples of a microphone flow to the program now. A paused ("corked") stream leaves the microphone to others.
    public var usesMicrophone: Bool { isRunning && !isMonitor }

    /// The process of the socket, which cannot be forged. A client of PulseAudio's has only its own claim: its socket
    /// is the relaying server's.
    public var believedProcess: Int32 { (isRelayed ? claimedProcess ?? process : process ?? claimedProcess) ?? 0 }

    /// Streams without a user count as this user's: it is this user's PipeWire.
    func isOf(_ user: UInt32) -> Bool { self.user == nil || self.user == user }
}
