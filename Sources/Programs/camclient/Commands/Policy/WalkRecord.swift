import Arbiter
import ArbiterProtocol
import Glibc
import PolicyFile
import Workbench

/// The file of `policy verify --resume`: which worlds were walked whole, and what there is to say of each. One JSON
/// value a line: first what is walked, and by which program, then a world on each line. It is written anew as a whole,
/// so that what is there after a crash or a loss of power is a whole file, of now or of a second ago.
struct WalkRecord {
    let path: String
    private let header: JSON
    private var policies: [Walked]
    private var written: Moment?
    private var isBehind = false

    private struct Walked {
        var file: String
        var fingerprint: String
        var worlds: [Int: WalkedWorld] = [:]
    }

    /// Small worlds come by the hundred a second; what is lost with a process is a second's work at most.
    private static let pause = Duration.seconds(1)

    init(
        _ path: String, files: [String], _ policies: [Policy], _ search: SearchOptions, everything: Bool
    ) throws {
        self.path = path
        var walked = zip(files, policies).map { file, policy in
            Walked(file: file, fingerprint: Fingerprint(of: PolicyWriter.text(policy)).text)
        }
        header = try JSONEncoding.json(
            of: [
                "walk": "camclient policy verify", "version": Release.version, "program": try Self.program(),
                "clients": search.world.clients, "cameras": search.world.cameras, "pairs": search.pairs,
                "everything": everything,
                "policies": walked.map { ["file": $0.file, "fingerprint": $0.fingerprint] as JSONObject },
            ] as JSONObject)
        if access(path, F_OK) == 0 {
            var lines = try readText(path).split(separator: "\n", omittingEmptySubsequences: true)
            guard let first = lines.first else { throw Self.noRecord(path, 1, "it is empty") }
            if let difference = Self.difference(try Self.read(first, path, 1), header) {
                throw Failure(
                    .usage, "\(path) cannot be gone on with: \(difference). Name another file, or remove this one.")
            }
            lines.removeFirst()
            for (number, line) in lines.enumerated() { try Self.take(line, path, number + 2, into: &walked) }
        }
        self.policies = walked
        // A place where nothing can be written is said before hours are spent.
        try write()
    }

    func known(_ policy: Int) -> [Int: WalkedWorld] { policies[policy].worlds }

    var knownCount: Int { policies.reduce(0) { $0 + $1.worlds.count } }

    mutating func keep(_ policy: Int, _ world: Int, _ figures: WalkedWorld, at now: Moment) throws(Failure) {
        policies[policy].worlds[world] = figures
        isBehind = true
        if let written, now - written < Self.pause { return }
        try write()
        written = now
    }

    mutating func finish() throws(Failure) {
        if isBehind { try write() }
        isBehind = false
    }

    private func write() throws(Failure) {
        var lines = [header.text]
        for (index, policy) in policies.enumerated() {
            lines += policy.worlds.sorted { $0.key < $1.key }.map { number, world in
                JSONEncoding.text(
                    of: [
                        "policy": index, "world": number, "states": world.states, "transitions": world.transitions,
                        "depth": world.depth, "recounted": world.recounted, "applied": world.applied,
                    ] as JSONObject)
            }
        }
        try writeTextAtOnce(lines.joined(separator: "\n") + "\n", to: path)
    }

    private static func noRecord(_ path: String, _ line: Int, _ what: String) -> Failure {
        Failure(.usage, "\(path):\(line): this is not a file of camclient policy verify --resume: \(what).")
    }

    private static func read(_ line: Substring, _ path: String, _ number: Int) throws(Failure) -> JSON {
        do throws(JSONReader.Problem) { return try JSONReader.read(line) } catch {
            throw noRecord(path, number, error.message)
        }
    }

    private static func take(
        _ line: Substring, _ path: String, _ number: Int, into walked: inout [Walked]
    ) throws(Failure) {
        let json = try read(line, path, number)
        func count(_ key: String) throws(Failure) -> Int {
            guard let value = json[key]?.integer, let count = Int(exactly: value), count >= 0 else {
                throw noRecord(path, number, "it has no number “\(key)”")
            }
            return count
        }
        let policy = try count("policy")
        guard walked.indices.contains(policy) else { throw noRecord(path, number, "there is no policy \(policy)") }
        let applied = (json["applied"]?.array ?? []).compactMap { $0.integer.flatMap { Int(exactly: $0) } }
        let world = WalkedWorld(
            states: try count("states"), transitions: try count("transitions"), depth: try count("depth"),
            recounted: try count("recounted"), applied: applied)
        walked[policy].worlds[try count("world")] = world
    }

    private static func difference(_ known: JSON, _ asked: JSON) -> String? {
        guard known["walk"] == asked["walk"] else { return "it is not a file of camclient policy verify --resume" }
        guard known["version"] == asked["version"] else {
            let other = known["version"]?.string ?? "of another version"
            return "camclient \(other) began it, and this is \(Release.version)"
        }
        guard known["program"] == asked["program"] else {
            return "another build of camclient \(Release.version) began it, which may walk otherwise"
        }
        for key in ["clients", "cameras"] where known[key] != asked[key] {
            return "it was begun with --\(key) \(known[key]?.integer ?? 0), and now it is \(asked[key]?.integer ?? 0)"
        }
        for key in ["pairs", "everything"] where known[key] != asked[key] {
            return "it was begun \(known[key]?.bool == true ? "with" : "without") --\(key)"
        }
        let (before, now) = (known["policies"]?.array ?? [], asked["policies"]?.array ?? [])
        if before == now { return nil }
        for (one, other) in zip(before, now) where one != other {
            let file = one["file"]?.string ?? ""
            return file == other["file"]?.string
                ? "\(file) says something else than when it was begun" : "it was begun with the files in another order"
        }
        return "it was begun with \(before.count) policies, and now there are \(now.count)"
    }

    /// All bytes of this program: another build may walk otherwise, whatever its version.
    private static func program() throws(Failure) -> String {
        let path = "/proc/self/exe"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure.file(path, "cannot be read", errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            let bytes = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0), bytes != MAP_FAILED
        else { throw Failure.file(path, "cannot be read", errno) }
        defer { munmap(bytes, Int(status.st_size)) }
        return Fingerprint(of: UnsafeRawBufferPointer(start: bytes, count: Int(status.st_size))).text
    }
}
