import CLinux
import Glibc
package import Loop

/// The socket pair by which the intakes of a loop hand libsystemd what they have looked at.
///
/// All of a loop's connections share it. Something is in it only while one of them reads, and what that one leaves is thrown
/// away: nobody else may ever find it.
package final class Feed {
    /// What libsystemd reads, under a number of each connection's own.
    private let outlet: Int32
    private let inlet: Int32
    /// Bytes of messages that are not whole, by user and in all: libsystemd takes the memory for all of a message with its
    /// first bytes.
    private var halves: [UInt32: Int] = [:]
    private var inAll = 0
    /// Of what the others have left of it, a user gets at most half. One connection needs at most
    /// `MessageFramer.messageBytesMax`.
    package static let halvesMax = 16 * 1024 * 1024

    package init() throws(SystemFault) {
        var ends: [Int32] = [-1, -1]
        try check(camarb_unix_pair(&ends), "make a socket for what is read")
        (outlet, inlet) = (ends[0], ends[1])
    }

    deinit {
        close(outlet)
        close(inlet)
    }

    /// Another number for what libsystemd reads. The caller's.
    func newOutlet() throws(SystemFault) -> Int32 {
        let number = camarb_duplicate(outlet)
        try check(number, "start a connection")
        return number
    }

    /// - Returns: 0 or -errno. The descriptors stay the caller's.
    func put(_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) -> Int32 {
        bytes.isEmpty ? 0 : camarb_pass(inlet, bytes.baseAddress, bytes.count, descriptors, descriptors.count)
    }

    /// Takes up bytes for a message that is not whole yet, or gives them back. False: there is no room for more.
    package func hold(_ more: Int, of user: UInt32) -> Bool {
        let own = halves[user, default: 0] + more
        inAll += more
        halves[user] = own > 0 ? own : nil
        return more <= 0 || user == 0 || own <= (Self.halvesMax - (inAll - own)) / 2
    }

    /// Throws away what was left. Descriptors among it are envelopes, which somebody else has too.
    func clear(_ buffer: UnsafeMutableRawBufferPointer) {
        while camarb_unread_bytes(outlet) > 0, camarb_intake_take(outlet, buffer.baseAddress, buffer.count) > 0 {}
    }
}
