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
