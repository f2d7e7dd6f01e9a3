public import Vocabulary

/// The apps of a small world, and which of them nothing but a name tells apart.
///
/// Two apps are of one kind when no rule names either, and their clients declare the same and want the same
/// cameras. Exchange them, and the same events lead to the same decisions about the other one: of two states
/// that are each other's mirror image, one walk is enough.
public struct FoldedCast: Sendable {
    public var apps: [(app: AppID, kind: Int)]
    /// A rule reads whether a session has held its camera since it started.
    public var readsClaims: Bool
    /// States that differ in nothing but what is left of leases are told apart.
    public var countsLeases = true

    public init(_ apps: [(app: AppID, kind: Int)], readsClaims: Bool = true) {
        self.apps = apps
        self.readsClaims = readsClaims
    }

    /// Nobody stands for anybody else.
    public var unfolded: FoldedCast {
        var cast = self
        cast.apps = apps.enumerated().map { ($0.element.app, $0.offset) }
        return cast
    }
}

/// A state as a walk remembers it that folds mirror images: what concerns nobody in particular, and for each app of
/// the cast what concerns it. States that go on alike are equal; a fingerprint of the whole state tells more apart.
public struct StateFold: Sendable {
    fileprivate var shared: Fingerprint?
    /// In the order of the cast.
    fileprivate var apps: [Fingerprint] = []

    public init() {}

    /// All of it in one: apps of one kind may be exchanged.
    /// - Parameter other: a second state of the same cast, whose apps are exchanged with this one's.
    public func fingerprint(_ cast: FoldedCast, beside other: StateFold? = nil) -> Fingerprint {
        var writer = FingerprintWriter()
        writer.combine(shared) { $0.combine($1) }
        if let other { writer.combine(other.shared) { $0.combine($1) } }
        writer.unordered(apps.indices) { writer, index in
            writer.combine(cast.apps[index].kind)
            writer.combine(apps[index])
            if let other { writer.combine(other.apps[index]) }
        }
        return writer.finished()
    }
}

extension Arbiter {
    /// Writes the state down as a fold. Every app that it speaks of is in the cast.
    /// - Parameters:
    ///   - session: what the caller remembers about a session besides.
    ///   - camera: what the caller remembers about a camera, and of whom nobody in particular.
    public func fold(
        _ cast: FoldedCast, into fold: inout StateFold, session: (SessionID) -> UInt64, camera: (CameraID) -> UInt64
    ) {
        var writer = FingerprintWriter(
            now: state.now, cameras: state.cameraOrder,
            view: .folded(readsClaims: cast.readsClaims, countsLeases: cast.countsLeases))
        for id in state.cameraOrder {
            state.cameras[id]?.write(into: &writer)
            writer.combine(camera(id))
        }
        let world = state.world
        world.writeShared(into: &writer)
        fold.shared = writer.finished()
        fold.apps.removeAll(keepingCapacity: true)
        for (app, _) in cast.apps {
            writer.begin()
            world.write(app, into: &writer)
            state.write(app, into: &writer, session)
            fold.apps.append(writer.finished())
        }
    }
}

extension State {
    fileprivate func write(_ app: AppID, into writer: inout FingerprintWriter, _ note: (SessionID) -> UInt64) {
        for id in cameraOrder where cameras.read(id, { $0.reservation })?.app == app { writer.combine(id) }
        writer.unordered(apps[app] ?? []) { writer, id in
            guard let client = clients[id] else { return }
            client.write(into: &writer)
            writer.unordered(client.sessions) { writer, id in
                guard let session = sessions[id] else { return }
                writer.combine(note(id))
                session.write(into: &writer)
                writeOrder(of: session, into: &writer)
                writeRoles(of: session, into: &writer)
            }
        }
    }

    /// Ordinals as far as they are compared: start requests with each other, and so grants; when a session began to
    /// contend, with grants.
    private func writeOrder(of session: Session, into writer: inout FingerprintWriter) {
        guard let request = session.request else { return }
        var place: UInt64 = 0
        for id in requesting {
            if let other = sessions.read(id, { $0.request?.started }), other < request.started { place += 1 }
        }
        var newerThan: UInt64 = 0
        if let claimed = request.claimed {
            for (index, id) in cameraOrder.enumerated() {
                let granted = cameras.read(id) { $0.tenancy.held?.granted }
                if let granted, claimed > granted { newerThan |= 2 << UInt64(index) }
            }
        } else {
            newerThan = 1
        }
        writer.combine(place << 32 | newerThan)
    }

    /// What it is to each camera: holder, winner of a contest, winner of a cut, a stream that is being closed.
    private func writeRoles(of session: Session, into writer: inout FingerprintWriter) {
        for id in cameraOrder {
            let roles = cameras.read(id) { camera in
                let held = camera.tenancy.held
                return (
                    holder: held?.session, granted: held?.granted, beneficiary: held?.contest?.beneficiary,
                    promised: camera.promise?.session, closing: camera.closing
                )
            }
            guard let roles else { continue }
            var word: UInt64 = 0
            if let granted = roles.granted, roles.holder == session.id {
                word = 8
                for id in cameraOrder {
                    if let other = cameras.read(id, { $0.tenancy.held?.granted }), other < granted { word += 16 }
                }
            }
            if roles.beneficiary == session.id { word |= 1 }
            if roles.promised == session.id { word |= 2 }
            let closing = roles.closing.firstIndex { $0.session == session.id }
            if closing != nil { word |= 4 }
            writer.combine(word)
            // They end one after the other.
            if let closing {
                writer.combine(closing)
                writer.combine(distanceTo: roles.closing[closing].until)
            }
        }
    }
}
