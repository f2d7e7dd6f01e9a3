import ArbiterProtocol
import CLinux
import Glibc
import System

/// Each camera's holder and grant, for the next broker: after a restart, each camera is kept for its holder until the holder's
/// client has returned, or for as long as the core decides; and where the recorder core goes on, the client may go on with it.
///
/// It is in the folder that the service manager keeps from one run to the next and no longer (`RuntimeDirectory=`), and
/// which is the broker's alone; without that, nothing is kept. The sockets on which recorder cores wait for the next broker are
/// there, too. Recorder cores have another user, and cannot look into it: a recorder core is believed of a grant only where the
/// store agrees.
final class GrantStore {
    /// As many cameras as there may be, with names as long as they may be, and some room.
    static let bytesMax = 128 * 1024
    /// Connections that wait at a recorder core: one broker's, and those of brokers that were killed meanwhile.
    static let backlog: Int32 = 4

    private let folder: String
    private var path: String { folder + "/holders" }
    private var entries: [CameraID: StoredHolder] = [:]
    /// Of the broker before this one, until they are taken.
    private var holdersLeft: [CameraID: AppID] = [:]
    private var keptLeft: [CameraID: StoredHolder.Kept] = [:]
    /// Cameras whose line is still that of the broker before.
    private var unreclaimed: Set<CameraID> = []

    init?(journal: Journal) {
        guard let folder = getenv("RUNTIME_DIRECTORY").map({ String(cString: $0) }), folder.hasPrefix("/") else {
            return nil
        }
        // Several folders have colons between them.
        self.folder = String(folder.prefix { $0 != ":" })
        read(journal)
        removeStrangeListeners()
    }

    private func read(_ journal: Journal) {
        let bytes: [UInt8]?
        do throws(SystemFault) { bytes = try WholeFile.read(path, atMost: Self.bytesMax) } catch {
            if error.number == EINVAL {
                journal.send(.warning, "\(path) is not a regular file; nobody's camera is kept for them.")
            }
            return
        }
        let (holders, strange) = StoredHolder.read(bytes ?? [])
        for number in strange {
            // Not the line itself: it may have a secret in it.
            journal.send(.warning, "\(path): line \(number) is passed over: it is nothing that a broker wrote.")
        }
        for holder in holders {
            entries[holder.camera] = holder
            holdersLeft[holder.camera] = holder.app
            keptLeft[holder.camera] = holder.kept
        }
    }

    /// Sockets that no line names: a recorder core that listens there ends by itself.
    private func removeStrangeListeners() {
        let known = Set(entries.values.compactMap(\.kept?.listener))
        for name in namesInFolder(folder) where StoredHolder.isListener(name) && !known.contains(name) {
            removeListener(name)
        }
    }

    /// The app that had a camera under the broker before, once.
    func takeHolder(of camera: CameraID) -> AppID? {
        guard let app = holdersLeft.removeValue(forKey: camera) else { return nil }
        if entries[camera]?.kept == nil { entries[camera] = nil } else { unreclaimed.insert(camera) }
        return app
    }

    func holderLeft(of camera: CameraID) -> AppID? { holdersLeft[camera] }

    /// The grant that a recorder core may have kept, once.
    func takeKept(of camera: CameraID) -> StoredHolder.Kept? { keptLeft.removeValue(forKey: camera) }

    func note(_ camera: CameraID, _ holder: AppID?) {
        guard entries[camera]?.app != holder else { return }
        forgetListener(of: camera)
        unreclaimed.remove(camera)
        entries[camera] = holder.map { StoredHolder(camera: camera, app: $0) }
        write()
    }

    /// - Returns: false where it cannot be written: then it cannot be reclaimed.
    func keep(_ camera: CameraID, _ app: AppID, _ kept: StoredHolder.Kept) -> Bool {
        let holder = StoredHolder(camera: camera, app: app, kept: kept)
        guard holder.line != nil else { return false }
        if entries[camera]?.kept?.listener != kept.listener { forgetListener(of: camera) }
        unreclaimed.remove(camera)
        entries[camera] = holder
        if write() { return true }
        // It must not come into the file with the next holder that is written.
        entries[camera]?.kept = nil
        return false
    }

    func kept(_ camera: CameraID) -> StoredHolder.Kept? { entries[camera]?.kept }

    func change(_ camera: CameraID, _ change: (inout StoredHolder.Kept) -> Void) {
        guard var holder = entries[camera], var kept = holder.kept else { return }
        change(&kept)
        holder.kept = kept
        entries[camera] = holder
        write()
    }

    /// The grant is over, or was taken up: its secret is void.
    func forgetKept(_ camera: CameraID) {
        guard entries[camera]?.kept != nil else { return }
        forgetListener(of: camera)
        entries[camera]?.kept = nil
        // The app of the broker before no longer has it.
        if unreclaimed.remove(camera) != nil { entries[camera] = nil }
        write()
    }

    private func forgetListener(of camera: CameraID) {
        if let listener = entries[camera]?.kept?.listener { removeListener(listener) }
    }

    /// In one step: a broker that is killed meanwhile leaves the old file or the new one.
    @discardableResult
    private func write() -> Bool {
        let text = entries.sorted { $0.key < $1.key }.compactMap { $1.line.map { $0 + "\n" } }.joined()
        do throws(SystemFault) { try WholeFile.write(text, to: path) } catch { return false }
        return true
    }

    func makeListener() throws(SystemFault) -> (name: String, descriptor: Int32) {
        let name = StoredHolder.listenerPrefix + ReclaimSecret.hexadecimal(try ReclaimSecret.random(8))
        let descriptor = camarb_unix_listen(listenerPath(name), Self.backlog)
        guard descriptor >= 0 else { throw SystemFault("listen in \(folder)", -descriptor) }
        // The folder is the broker's alone already.
        chmod(listenerPath(name), 0o600)
        return (name, descriptor)
    }

    func listenerPath(_ name: String) -> String { folder + "/" + name }

    func removeListener(_ name: String) { unlink(listenerPath(name)) }
}
