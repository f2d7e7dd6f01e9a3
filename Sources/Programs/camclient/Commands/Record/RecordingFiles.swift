import Camarb
import Glibc

/// Where the recordings of one command go: into a file and, where they go on after an interruption, files with numbers
/// beside it; or into a folder, by number.
struct RecordingFiles {
    private enum Place {
        case file(String, overwriting: Bool)
        case folder(RecordingFolder)
    }

    private let place: Place
    /// Where the list of gaps is; nil: not known before the first file has its name.
    private(set) var gaps: String?
    private var kept = 0

    /// So many names are tried before a recording of a series has none.
    private static let triesMax = 1000

    init(file: String, overwriting: Bool, again: Bool) throws(Failure) {
        place = .file(file, overwriting: overwriting)
        let list = file.withoutEnding + Self.gapsEnding
        if again, !overwriting, access(list, F_OK) == 0 {
            throw Failure(.file, "\(list) is there already; --overwrite replaces it.")
        }
        gaps = list
    }

    var isFolder: Bool { if case .folder = place { true } else { false } }

    /// - Throws: `.file` where the folder takes no files without a name, before anybody is asked for a camera.
    init(folder: String) throws(Failure) {
        let opened = try RecordingFolder(folder)
        close(try opened.unnamedFile())
        place = .folder(opened)
    }

    private static let gapsEnding = ".gaps.json"

    /// The file for the next recording.
    func next() throws(Failure) -> RecordingTarget {
        switch place {
        case .folder(let folder): return RecordingTarget(try NewFile(unnamedIn: folder), folder)
        case .file(let path, let overwriting):
            guard kept > 0 else { return RecordingTarget(try NewFile(path, overwriting: overwriting), nil) }
            // A recording that goes on is not lost to a file of another day.
            for number in (kept + 1)...(kept + Self.triesMax) {
                let name = path.numbered(number)
                if overwriting || access(name, F_OK) != 0 {
                    return RecordingTarget(try NewFile(name, overwriting: overwriting), nil)
                }
            }
            throw Failure(.file, "\(path.numbered(kept + 1)) and the \(Self.triesMax) names after it are taken.")
        }
    }

    /// A recording has its file.
    mutating func keeps(_ path: String) {
        kept += 1
        if gaps == nil { gaps = path.withoutEnding + Self.gapsEnding }
    }
}

/// One recording's file, until it is kept or given up.
final class RecordingTarget {
    private let file: NewFile
    private let folder: RecordingFolder?

    init(_ file: consuming NewFile, _ folder: RecordingFolder?) {
        self.file = file
        self.folder = folder
    }

    var descriptor: Int32 { file.descriptor }
    /// What its name asks for; a folder gives names of its own.
    var fileType: RecordingFileType? { folder == nil ? NewFile.fileType(of: file.path) : nil }

    var hasBytes: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_size > 0
    }

    /// The recording is whole: a file without a name gets one.
    /// - Returns: its path.
    func keep() throws(Failure) -> String { try folder?.name(descriptor, ending: ".mkv") ?? file.path }

    /// What became of the recording was never heard: it plays as far as it goes, and is not passed off as a whole one.
    /// - Returns: its path.
    func keepUnfinished() throws(Failure) -> String {
        try folder?.name(descriptor, ending: ".unfinished.mkv") ?? file.path
    }

    /// Nothing was recorded.
    func discard() { if folder == nil { file.remove() } }

    func discardIfEmpty() { file.removeIfEmpty() }
}

/// Paths that differ from others by what stands before their ending.
extension String {
    /// `door` for `door.jpg`; a folder's dots are none.
    var withoutEnding: String { String(self[..<endingAt]) }

    /// `door-2.jpg` for `door.jpg`.
    func numbered(_ number: Int) -> String { "\(self[..<endingAt])-\(number)\(self[endingAt...])" }

    private var endingAt: Index {
        let name = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
        // A hidden file's first dot begins its name.
        guard let dot = self[name...].lastIndex(of: "."), dot > name else { return endIndex }
        return dot
    }
}
