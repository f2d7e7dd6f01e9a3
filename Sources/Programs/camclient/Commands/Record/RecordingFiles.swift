import Camarb
import Glibc

/// Where the recordings of one command go: into a file, and files with numbers beside it; or into a folder, by number.
struct RecordingFiles {
    private enum Place {
        case file(String, overwriting: Bool)
        case folder(RecordingFolder)
    }

    private let place: Place
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

    init(folder: String) throws(Failure) {
        let opened = try RecordingFolder(folder)
        close(try opened.unnamedFile())
        place = .folder(opened)
    }

    private static let gapsEnding = ".gaps.json"

    func next() throws(Failure) -> NewFile {
        switch place {
        case .folder(let folder): return try NewFile(unnamedIn: folder)
        case .file(let path, let overwriting):
            guard kept > 0 else { return try NewFile(path, overwriting: overwriting) }
            // A recording that goes on is not lost to a file of another day.
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
        if gaps == nil { gaps = path.withoutEnding + Self.gapsEnding }
    }
}

/// A folder whose files are recordings, by number: `recording-0001.mkv`, `recording-0002.mkv`, … A recording is written
/// into a file without a name (open(2), `O_TMPFILE`), which nobody sees and which is gone with its writers, and gets
/// its name when it is whole. So whatever ends this process, all files in the folder are whole, and nothing is copied.
final class RecordingFolder {
    let path: String
    /// Open all the time: the folder may be moved while a recording runs.
    private let descriptor: Int32

    private static let prefix = "recording-"
    /// So many numbers are tried when others put files there in the same moment.
    private static let triesMax = 1000
    /// Nine digits: whoever has more recordings has a library of another kind.
    private static let numberMax = 999_999_999
    /// All readable by their user, like any file that a program makes.
    private static let mode: mode_t = 0o644

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.file(path, "takes no recordings", errno) }
    }

    deinit { close(descriptor) }

    /// A new file without a name, for reading and writing, that can be given one.
    func unnamedFile() throws(Failure) -> Int32 {
        let file = openat(descriptor, ".", O_RDWR | __O_TMPFILE | O_CLOEXEC, Self.mode)
        guard file < 0 else { return file }
        switch errno {
        // Of a file system that has no such files, and of a kernel that does not know them.
        case EOPNOTSUPP, EISDIR, EINVAL:
            throw Failure(
                .file,
                "\(path) takes no recordings without a name: its file system has no O_TMPFILE. "
                    + "Record into a file there, camclient record \("visit.mkv".inFolder(path)).")
        default: throw Failure.file(path, "takes no recordings", errno)
        }
    }

    /// Gives a file the next free number. A file that is there stays as it is.
    func name(_ file: Int32, ending: String) throws(Failure) -> String {
        let first = try highestNumber() + 1
        for number in first..<(first + Self.triesMax) where number <= Self.numberMax {
            let digits = String(number)
            let name = Self.prefix + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits + ending
            // A file without a name has this one, which stands for it (linkat(2)).
            if linkat(AT_FDCWD, "/proc/self/fd/\(file)", descriptor, name, AT_SYMLINK_FOLLOW) == 0 {
                return name.inFolder(path)
            }
            guard errno == EEXIST else { throw Failure.file(name.inFolder(path), "cannot be made", errno) }
        }
        throw Failure(.file, "\(path) has no free number for the recording, from \(Self.prefix)\(first)\(ending) on.")
    }

    /// Of anything that bears a number there, a recording's list of gaps too; 0: there is none.
    private func highestNumber() throws(Failure) -> Int {
        // Its own place in the listing, which a copy of the descriptor would share.
        let listed = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listed >= 0, let folder = fdopendir(listed) else {
            let number = errno
            if listed >= 0 { close(listed) }
            throw Failure.file(path, "cannot be read", number)
        }
        defer { closedir(folder) }
        var highest = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            highest = max(highest, Self.number(of: name) ?? 0)
        }
        return highest
    }

    /// Nil where a name has none, or one that is above the bound: it is then somebody else's.
    private static func number(of name: String) -> Int? {
        guard name.hasPrefix(prefix), let dot = name.firstIndex(of: ".") else { return nil }
        let digits = name.dropFirst(prefix.count)[..<dot]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(digits).flatMap { $0 <= numberMax ? $0 : nil }
    }
}
