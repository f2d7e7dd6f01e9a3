public import ArbiterProtocol
import CLinux
import Glibc
public import TomlFile

/// Finds and reads cameras' files: TOML text to a `CameraModel`, or all problems, each with its place.
///
/// The format is `docs/simulated-cameras.md`. Safe to call from any thread.
public enum CameraFile {
    /// - Parameter file: its name in problems.
    public static func parse(_ text: String, id: String, file: String) throws(FileProblems) -> CameraModel {
        try read(Array(text.utf8), id: id, file: file)
    }

    /// Reads a camera from a regular file; its id is the file's name without its ending. A file that cannot be read is
    /// a problem without a line.
    public static func load(path: String) throws(FileProblems) -> CameraModel {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let bytes: [UInt8]
        do throws(RegularFile.Fault) { bytes = try RegularFile.read(path).bytes } catch {
            let problems = ProblemList()
            problems.add("it \(error.words)", at: .whole(problems.addFile(path, [])))
            throw problems.all ?? FileProblems([])
        }
        return try read(bytes, id: name.hasSuffix(".toml") ? String(name.dropLast(5)) : name, file: path)
    }

    /// Reads the camera of `--camera simulated:NAME`, from the places of cameras' files.
    /// - Throws: `.unknownCamera`, naming the cameras that exist, or the first problem of its file: a message is a
    ///   line.
    public static func named(_ model: String) throws(BrokerError) -> CameraModel {
        guard let path = CameraPlaces.path(of: model) else {
            let names = CameraPlaces.names
            throw BrokerError(
                .unknownCamera,
                "There is no simulated camera \(model.quotedShort); "
                    + (names.isEmpty
                        ? "there is none in \(CameraPlaces.folders.joined(separator: ", "))."
                        : "there are \(names.joined(separator: ", ")), and files by their whole path."))
        }
        do throws(FileProblems) { return try load(path: path) } catch {
            let count = error.problems.count + error.more
            let first = error.problems.first.map {
                $0.line > 0 ? "\($0.file):\($0.line): \($0.message)" : "\($0.file): \($0.message)"
            }
            throw BrokerError(
                .unknownCamera,
                "The simulated camera \(model.quotedShort) cannot be used: \(first ?? path). "
                    + (count > 1 ? "\(count - 1) more: " : "See: ") + "camclient camera check \(path)")
        }
    }

    private static func read(_ bytes: [UInt8], id: String, file: String) throws(FileProblems) -> CameraModel {
        let problems = ProblemList()
        let number = problems.addFile(file, bytes)
        if let table = problems.parse(bytes, number) {
            let model = CameraReader(table, problems).model(id: id)
            if let model, problems.isEmpty { return model }
        }
        throw problems.all ?? FileProblems([])
    }
}

/// The places of cameras' files. The first folder that has a name counts: an administrator's own camera covers a
/// shipped one.
public enum CameraPlaces {
    /// - `$CAMARB_CAMERAS`, for trials,
    /// - `/etc/camarb/cameras`,
    /// - `share/camarb/cameras` of the prefix that this program is installed in, and `/usr/share/camarb/cameras`,
    /// - `cameras` of the source tree that this program was built in.
    public static var folders: [String] {
        var folders = [String]()
        if let own = getenv("CAMARB_CAMERAS") { folders.append(String(cString: own)) }
        folders.append("/etc/camarb/cameras")
        let parts = (program ?? "").split(separator: "/").map(String.init)
        for below in ["bin", "libexec", "sbin", "lib"] {
            if let place = parts.lastIndex(of: below) {
                folders.append("/" + (parts[..<place] + ["share", "camarb", "cameras"]).joined(separator: "/"))
            }
        }
        folders.append("/usr/share/camarb/cameras")
        if let place = parts.firstIndex(where: { $0.hasPrefix(".build") }) {
            folders.append("/" + (parts[..<place] + ["cameras"]).joined(separator: "/"))
        }
        return folders
    }

    /// A path as it stands, or the file of a name without its ending.
    public static func path(of model: String) -> String? {
        if model.hasPrefix("/") { return access(model, R_OK) == 0 ? model : nil }
        return folders.lazy.map { "\($0)/\(model).toml" }.first { access($0, R_OK) == 0 }
    }

    /// Sorted, each once.
    public static var names: [String] {
        var names: Set<String> = []
        for folder in folders { names.formUnion(self.names(in: folder)) }
        return names.sorted()
    }

    /// A folder that cannot be read has none.
    private static func names(in folder: String) -> [String] {
        let files = (try? RegularFile.dropIns(folder)) ?? nil
        return (files ?? []).map { String($0.dropLast(".toml".count)) }
    }

    private static var program: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = camarb_own_program(&buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
