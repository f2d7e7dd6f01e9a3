import Camarb
import Glibc
import System
import WorkbenchCommands

/// A new file that a photo, a recording or a trace is written to; one without a name is kept or given up in the end.
final class NewFile {
    static let standardOutput = "-"

    struct Format {
        let name: String
        let endings: [String]

        static let jpeg = Format(name: "JPEG", endings: ["jpg", "jpeg", "jpe", "jfif"])

        static func of(_ fileType: RecordingFileType) -> Format {
            switch fileType {
            case .matroska: Format(name: "Matroska", endings: ["mkv", "mk3d"])
            case .mp4: Format(name: "MP4", endings: ["mp4", "m4v"])
            case .mov: Format(name: "QuickTime", endings: ["mov", "qt"])
            }
        }

        static let written = [jpeg] + RecordingFileType.allCases.map(of)
        /// Endings of formats that no command writes; any other ending means no format.
        static let neverWritten = [
            "avi", "webm", "ogv", "ts", "mpg", "mpeg", "wmv", "flv", "gif", "y4m", "png", "webp", "bmp", "tif", "tiff",
            "heic", "avif", "raw",
        ]
    }

    static func fileType(of path: String) -> RecordingFileType? {
        RecordingFileType.allCases.first { Format.of($0).endings.contains(ending(of: path)) }
    }

    private static func ending(of path: String) -> String {
        let name = path.fileName
        return name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    static func warn(of path: String, _ format: Format) {
        let ending = ending(of: path)
        guard !format.endings.contains(ending),
            (Format.written.flatMap(\.endings) + Format.neverWritten).contains(ending)
        else { return }
        Output.notice(
            "camclient: \(path) will be \(format.name), whatever its name says; "
                + "\(path.dropLast(ending.count))\(format.endings[0]) would say so.")
    }

    let descriptor: Int32
    let path: String
    private let isNew: Bool
    private var folder: RecordingFolder?

    /// An existing file loses nothing before the recorder begins to write: a request that is refused changes no file.
    init(
        _ path: String, overwriting: Bool, for readers: FileReaders = .everybody, isRecorders: Bool = true
    ) throws(Failure) {
        self.path = path
        // Readable, too: only so an unfinished recording can be completed.
        let created = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, readers.rawValue)
        let number = errno
        isNew = created >= 0
        if isNew {
            descriptor = created
            return
        }
        if isRecorders, let words = Self.kind(of: path).flatMap(Self.words) {
            throw Failure(
                .file, "\(path) is \(words); a photo or a recording goes into a regular file, or into a new one.")
        }
        guard number == EEXIST else { throw Failure.file(path, "cannot be written", number) }
        guard overwriting else { throw Self.exists(path) }
        let existing = open(path, O_RDWR | O_CLOEXEC)
        // A file that this user may write but not read takes a recording, too.
        descriptor = existing < 0 && errno == EACCES ? open(path, O_WRONLY | O_CLOEXEC) : existing
        guard descriptor >= 0 else { throw Failure.file(path, "cannot be written", errno) }
    }

    static func exists(_ path: String) -> Failure {
        Failure(.file, "\(path) is there already; --overwrite replaces it.")
    }

    static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    static func words(for kind: mode_t) -> String? {
        switch kind {
        case S_IFDIR: "a folder"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        case S_IFCHR, S_IFBLK: "a device"
        default: nil
        }
    }

    /// - Parameter path: for standard output the file has no name, and is poured out when it is whole: a recorder core writes
    ///   into files only.
    static func forPicture(_ path: String, overwriting: Bool) throws(Failure) -> NewFile {
        guard path == standardOutput else { return try NewFile(path, overwriting: overwriting) }
        let folder = environment("TMPDIR") ?? "/tmp"
        var name = Array("\(folder)/camclient.XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Failure.file(folder, "takes no temporary file", errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(name)
        return NewFile(unnamed: descriptor, path)
    }

    init(unnamed descriptor: Int32, _ path: String, in folder: RecordingFolder? = nil) {
        (self.descriptor, self.path, isNew, self.folder) = (descriptor, path, false, folder)
    }

    deinit { close(descriptor) }

    func pour(bytes count: UInt64) throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: 65536)
        var offset: off_t = 0
        while offset < off_t(clamping: count) {
            let read = pread(descriptor, &chunk, min(chunk.count, Int(clamping: count) - Int(offset)), offset)
            guard read > 0 else { throw Failure.file("the picture", "cannot be read again", errno) }
            Output.bytes(chunk[..<read])
            offset += off_t(read)
        }
    }

    var fileType: RecordingFileType? { folder == nil ? Self.fileType(of: path) : nil }

    private var bytes: off_t {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_size : -1
    }

    var hasBytes: Bool { bytes > 0 }

    /// - Parameter isWhole: false where the end of the recording is unknown: it plays as far as it goes, under a name that shows it.
    func keep(isWhole: Bool = true) throws(Failure) -> String {
        try folder?.name(descriptor, ending: isWhole ? ".mkv" : ".unfinished.mkv") ?? path
    }

    func remove() { if isNew { unlink(path) } }

    func removeIfEmpty() { if bytes == 0 { remove() } }
}

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
