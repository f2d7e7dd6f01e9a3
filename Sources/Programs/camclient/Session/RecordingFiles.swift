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

/// A folder whose files are recordings, by number: `recording-0001.mkv`, `recording-0002.mkv`, … A recording is written
/// into a file without a name (open(2), `O_TMPFILE`), which is gone with its writers, and gets its name when it is whole. So
/// whatever ends this process, all files in the folder are whole, and nothing is copied.
final class RecordingFolder {
    let path: String
    /// Open all the time: the folder may be moved while a recording runs.
    private let descriptor: Int32

    private static let prefix = "recording-"
    /// As many numbers are tried when others put files there at the same time.
    private static let triesMax = 1000
    private static let numberMax = 999_999_999

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.file(path, "takes no recordings", errno) }
    }

    deinit { close(descriptor) }

    func unnamedFile() throws(Failure) -> Int32 {
        let file = openat(descriptor, ".", O_RDWR | __O_TMPFILE | O_CLOEXEC, FileReaders.everybody.rawValue)
        guard file < 0 else { return file }
        // A file system without O_TMPFILE, and an older kernel.
        guard ![EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else {
            throw Failure(
                .file,
                "\(path) takes no recordings without a name: its file system has no O_TMPFILE. "
                    + "Record into a file there, camclient record \("visit.mkv".inFolder(path)).")
        }
        throw Failure.file(path, "takes no recordings", errno)
    }

    func name(_ file: Int32, ending: String) throws(Failure) -> String {
        let first = try highestNumber() + 1
        for number in first..<(first + Self.triesMax) where number <= Self.numberMax {
            let digits = String(number)
            let name = Self.prefix + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + ending
            // The file's name until now, see linkat(2).
            if linkat(AT_FDCWD, "/proc/self/fd/\(file)", descriptor, name, AT_SYMLINK_FOLLOW) == 0 {
                return name.inFolder(path)
            }
            guard errno == EEXIST else { throw Failure.file(name.inFolder(path), "cannot be made", errno) }
        }
        throw Failure(.file, "\(path) has no free number for the recording, from \(Self.prefix)\(first)\(ending) on.")
    }

    /// The highest number of a file there, which may be a list of gaps; 0 without one.
    private func highestNumber() throws(Failure) -> Int {
        // A place of its own in the listing, which a copy of the descriptor would share.
        try entries(of: "/proc/self/fd/\(descriptor)", named: path).compactMap { Self.number(of: $0.name) }.max() ?? 0
    }

    /// nil for other names, and for numbers beyond the bound.
    private static func number(of name: String) -> Int? {
        guard name.hasPrefix(prefix), let dot = name.firstIndex(of: ".") else { return nil }
        let digits = name.dropFirst(prefix.count)[..<dot]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(digits).flatMap { $0 <= numberMax ? $0 : nil }
    }
}
