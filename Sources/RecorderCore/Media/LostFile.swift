/// A recording's file as its completion has it: read anywhere, and then written in the order of its calls.
///
/// `FileWriter` is the real one. Another lies in memory, for tests.
package protocol LostFile: AnyObject {
    /// Waits until it is open: its size in bytes.
    func openedAgain() throws(FileFault) -> Int64
    /// As many bytes as there are, at most `CAMARB_WRITER_READ_MAX`.
    func read(_ count: Int, at offset: Int64) throws(FileFault) -> [UInt8]
    func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
    func truncate(to offset: Int64)
    /// What was ordered so far is to be answered.
    func wantAnswer()
    /// Waits until it is answered.
    /// - Returns: what failed first, if anything.
    func settle() -> FileFault?
}

extension FileWriter: LostFile {}
