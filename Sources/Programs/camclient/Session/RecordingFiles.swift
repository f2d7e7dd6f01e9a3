import Glibc
import WorkbenchCommands

/// Where the recordings of one command go: into a file, and files with numbers beside it; or into a folder, by number.
struct RecordingFiles {
    private enum Place {
        case file(String, overwriting: Bool)
        case folder(RecordingFolder)
    }

    private let place: Place
    private(set) var gaps: String?
    private var kept = 0

    /// As many names are tried before a recording of a series fails.
    private static let triesMax = 1000
    private static let gapsEnding = ".gaps.json"

    init(file: String, overwriting: Bool, again: Bool) throws(Failure) {
        place = .file(file, overwriting: overwriting)
        let list = file.withoutEnding + Self.gapsEnding
        if again, !overwriting, access(list, F_OK) == 0 { throw NewFile.exists(list) }
        gaps = list
    }

    init(folder: String) throws(Failure) {
        let opened = try RecordingFolder(folder)
        close(try opened.unnamedFile())
        place = .folder(opened)
    }

    var isFolder: Bool { if case .folder = place { true } else { false } }

    func next() throws(Failure) -> NewFile {
        switch place {
        case .folder(let folder): return NewFile(unnamed: try folder.unnamedFile(), folder.path, in: folder)
        case .file(let path, let overwriting):
            guard kept > 0 else { return try NewFile(path, overwriting: overwriting) }
            // A series is not lost to a file of another day.
            for number in (kept + 1)...(kept + Self.triesMax) {
                let name = path.numbered(number)
                if overwriting || access(name, F_OK) != 0 {
                    return try NewFile(name, overwriting: overwriting)
                }
            }
            throw Failure(.file, "\(path.numbered(kept + 1)) and the \(Self.triesMax) names after it are taken.")
        }
    }

    mutating func keeps(_ path: String) {
        kept += 1
        gaps = gaps ?? path.withoutEnding + Self.gapsEnding
    }
}
