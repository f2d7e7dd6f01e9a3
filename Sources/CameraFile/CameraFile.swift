public import ArbiterProtocol
public import TomlFile

/// Finds and reads cameras' files: TOML text to a `CameraModel`, or everything that is wrong with it, each with its place.
///
/// The format is `docs/simulated-cameras.md`. Safe to call from any thread.
public enum CameraFile {
    /// Reads a camera from text. `file` is what problems call it.
    public static func parse(_ text: String, id: String, file: String) throws(FileProblems) -> CameraModel {
        try read(Array(text.utf8), id: id, file: file)
    }

    /// Reads a camera from a regular file; its id is the file's name without its ending.
    /// A file that cannot be read is a problem without a line.
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

    /// Reads the camera that `--camera simulated:NAME` means, from the places where cameras' files lie.
    /// - Throws: `.unknownCamera`, naming those that there are, or the first thing that is wrong with its file: a message is a line.
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
