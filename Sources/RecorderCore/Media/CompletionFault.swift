import Glibc

/// Why a file is left as it is.
package enum CompletionFault: Error, Hashable {
    case file(FileFault)
    /// It does not look as a recording of ours does; what of it, and where in bytes.
    case foreign(String, at: Int64)
    /// Looking at it took too long.
    case late

    package var words: String {
        switch self {
        case .file(.system(EACCES)): "its descriptor is open for writing only; one that can be read, too, is completed"
        case .file(.system(EBUSY)): "it is still being written by a process that hangs"
        case .file(.system(ENODATA)): "nothing was written to it"
        case .file(let fault): fault.words
        case .foreign(let what, let place): "it is no recording as they are made here: \(what), at byte \(place)"
        case .late: "looking at it took longer than \(Completer.timeMax / 1_000_000_000) s"
        }
    }
}
