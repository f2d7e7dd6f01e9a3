import ArbiterProtocol
import Glibc
import System

/// A new file that a photo, a recording or a trace is written to; one without a name is kept or given up in the end.
final class NewFile {
    static let standardOutput = "-"
    static let noRecordingToOutput =
        "A recording is completed at its end, which a pipe cannot be: name a file, or take the pictures with preview -o -."

    enum Format: String, CaseIterable {
        case jpeg = "JPEG"
        case matroska = "Matroska"
        case mp4 = "MP4"
        case mov = "QuickTime"

        var endings: [String] {
            switch self {
            case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
            case .matroska: ["mkv", "mk3d"]
            case .mp4: ["mp4", "m4v"]
            case .mov: ["mov", "qt"]
            }
        }

        init(_ fileType: RecordingFileType) {
            self =
                switch fileType {
                case .matroska: .matroska
                case .mp4: .mp4
                case .mov: .mov
                }
        }

        /// Endings by which people mean another format; any other one is a name's own affair.
        var othersEndings: [String] {
            (Self.allCases.flatMap(\.endings) + Self.neverWritten).filter { !endings.contains($0) }
        }

        private static let neverWritten = [
            "avi", "webm", "ogv", "ts", "mpg", "mpeg", "wmv", "flv", "gif", "y4m", "png", "webp", "bmp", "tif", "tiff",
            "heic", "avif", "raw",
        ]
    }

    /// The type of file that a recording's name asks for by its ending; nil: none.
    static func fileType(of path: String) -> RecordingFileType? {
        let ending = ending(of: path)
        return RecordingFileType.allCases.first { Format($0).endings.contains(ending) }
    }

    private static func ending(of path: String) -> String {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return "" }
        return path[path.index(after: dot)...].lowercased()
    }

    static func warn(of path: String, _ format: Format) {
        guard format.othersEndings.contains(ending(of: path)), let dot = path.lastIndex(of: ".") else { return }
        Output.notice(
            "camclient: \(path) will be \(format.rawValue), whatever its name says; "
                + "\(path[..<dot]).\(format.endings[0]) would say so.")
    }

    let descriptor: Int32
    let path: String
    /// It was not there before: so it may be taken away again.
    private let isNew: Bool
    private var folder: RecordingFolder?

    /// What is there loses nothing before the recorder begins to write: a request that is refused changes no file.
    init(
        _ path: String, overwriting: Bool, for readers: FileReaders = .everybody, isRecorders: Bool = true
    ) throws(Failure) {
        // Readable, too: a recording that is left unfinished is completed only then.
        let created = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, readers.mode)
        if created >= 0 {
            (descriptor, isNew) = (created, true)
        } else {
            var number = errno
            if isRecorders, let node = Self.kind(of: path), let words = Self.words(for: node) {
                throw Failure(
                    .file, "\(path) is \(words); a photo or a recording goes into a regular file, or into a new one.")
            }
            guard number == EEXIST, overwriting else {
                throw number == EEXIST
                    ? Failure(.file, "\(path) is there already; --overwrite replaces it.")
                    : Failure.file(path, "cannot be written", number)
            }
            var existing = open(path, O_RDWR | O_CLOEXEC)
            // A file that this user may write but not read takes a recording, too.
            if existing < 0, errno == EACCES { existing = open(path, O_WRONLY | O_CLOEXEC) }
            number = errno
            guard existing >= 0 else { throw Failure.file(path, "cannot be written", number) }
            (descriptor, isNew) = (existing, false)
        }
        self.path = path
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

    static func forPicture(_ path: String, overwriting: Bool) throws(Failure) -> NewFile {
        path == standardOutput ? try NewFile(temporaryFor: path) : try NewFile(path, overwriting: overwriting)
    }

    /// One without a name, which is poured out when it is whole: a recorder core writes into files only.
    private init(temporaryFor path: String) throws(Failure) {
        let folder = environment("TMPDIR") ?? "/tmp"
        var name = Array("\(folder)/camclient.XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Failure.file(folder, "takes no temporary file", errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(name)
        (self.path, isNew) = (path, false)
    }

    init(unnamedIn folder: RecordingFolder) throws(Failure) {
        descriptor = try folder.unnamedFile()
        (path, isNew, self.folder) = (folder.path, false, folder)
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

    private var bytes: off_t? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_size : nil
    }

    var hasBytes: Bool { bytes.map { $0 > 0 } ?? false }

    func keep() throws(Failure) -> String { try folder?.name(descriptor, ending: ".mkv") ?? path }

    /// What became of the recording was never heard: it plays as far as it goes, and is not passed off as a whole one.
    func keepUnfinished() throws(Failure) -> String {
        try folder?.name(descriptor, ending: ".unfinished.mkv") ?? path
    }

    func remove() { if isNew { unlink(path) } }

    /// What was there before stays, be it a file or a device.
    func removeIfEmpty() { if isNew, bytes == 0 { unlink(path) } }
}
