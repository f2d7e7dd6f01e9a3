import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

/// A session that may not see the picture just now, and keeps its stream: it gets black frames that say so, numbered as the
/// camera's are.
extension CaptureLoop {
    func setSlate(_ id: GrantID, _ session: SessionID, _ isOn: Bool) throws(BrokerError) {
        var open = try granted(id)
        guard isOn else {
            grant?.slated.remove(session)
            return
        }
        open.slated.insert(session)
        grant = open
        for stream in open.streams where stream.session == session && stream.sender.isLent {
            // It has the device's own buffers: it gets black ones of its own, and the device others.
            renewBuffers(of: stream, open)
            do throws(BrokerError) { try source?.renewBuffers() } catch { beginAgain(after: error) }
        }
        grant?.streams.removeAll { !$0.sender.isOpen }
    }

    /// Black, in whatever range the format has.
    static func drawSlate(into memory: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        guard let start = memory.baseAddress, memory.count >= layout.bytes else { return }
        memset(start, Int32(layout.black), layout.lumaBytes)
        memset(start + layout.lumaBytes, 128, layout.bytes - layout.lumaBytes)
    }
}
