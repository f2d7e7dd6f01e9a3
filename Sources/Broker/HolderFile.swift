import ArbiterProtocol
import Glibc
import SystemdBus

/// Who has which camera, for the next broker: when this one is restarted, each camera is kept for its holder until the
/// holder's client has returned, or for as long as the core says.
///
/// One line a camera: the user's number, the camera's id and the app's name, with tabs between. It lies in the folder
/// that the service manager keeps from one run to the next and no longer; where there is none, nothing is kept.
final class HolderFile {
    /// As many cameras as there may be, with names as long as they may be, and some room.
    static let bytesMax = 64 * 1024

    private let path: String
    /// What the broker before this one left.
    private var left: [CameraID: AppID] = [:]
    private var current: [CameraID: AppID] = [:]

    /// Nil without a folder to keep it in (`RuntimeDirectory=` in the unit).
    init?(journal: Journal) {
        guard let folder = getenv("RUNTIME_DIRECTORY").map({ String(cString: $0) }), folder.hasPrefix("/") else {
            return nil
        }
        // Several folders are told with colons between.
        path = folder.prefix { $0 != ":" } + "/holders"
        read(journal)
    }

    private func read(_ journal: Journal) {
        // A FIFO of that name would make a start wait for its writer, for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            journal.send(.warning, "\(path) is no regular file; nobody's camera is kept for them.")
            return
        }
        var bytes = [UInt8](repeating: 0, count: Self.bytesMax)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return }
        for line in String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: "\t", maxSplits: 2)
            guard words.count == 3, let user = UInt32(words[0]) else {
                journal.send(.warning, "\(path): “\(line)” is passed over; a line is a user, a camera and an app.")
                continue
            }
            left[CameraID(String(words[1]))] = AppID(String(words[2]), user: user)
        }
    }

    /// Who had a camera under the broker before this one. Told once.
    func takeHolder(of camera: CameraID) -> AppID? { left.removeValue(forKey: camera) }

    func note(_ camera: CameraID, _ holder: AppID?) {
        guard current[camera] != holder else { return }
        current[camera] = holder
        // In one step: a broker that is killed meanwhile leaves the old file or the new one.
        let text = current.sorted { $0.key < $1.key }.map { "\($1.user)\t\($0.name)\t\($1.name)\n" }.joined()
        let unfinished = path + ".new"
        let descriptor = open(
            unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return }
        let bytes = Array(text.utf8)
        let written = write(descriptor, bytes, bytes.count)
        close(descriptor)
        if written == bytes.count { rename(unfinished, path) } else { unlink(unfinished) }
    }
}
