import ArbiterProtocol
import Bus
import System

/// The desktop's org.freedesktop.impl.portal.PermissionStore: the apps that the user has denied the camera through the
/// portals. A look-up starts it where the bus can: its contents are a file, so that last year's denial also counts
/// where no program has asked the store since. Where it ends, the last contents stand, for the same reason.
final class PermissionStore: AskedService {
    private static let path = "/org/freedesktop/impl/portal/PermissionStore"
    /// Apps of one machine; and entries of the store for each, of which camera permissions are one.
    private static let appsMax = 10_000
    private static let wordsMax = 16
    /// From a change to the reading, in nanoseconds: a program that changes it all the time costs a reading each.
    private static let settleTime: Int64 = 50_000_000

    private(set) var denied: DeniedApps?
    private let journal: Journal
    private let onChange: () -> Void
    /// A query is under way; and the store has changed since. The result of then is taken all the same, and queried
    /// again: where the store changes more often than it answers, a result of a moment ago is better than none.
    private var isAsked = false
    private var isStale = false
    private var trouble: String?

    init(on loop: EventLoop, journal: Journal, onChange: @escaping () -> Void) throws(SystemFault) {
        self.journal = journal
        self.onChange = onChange
        try super.init(
            "org.freedesktop.impl.portal.PermissionStore", signals: ",member='Changed',arg0='devices'", on: loop)
    }

    override func owned(by owner: String) { if !owner.isEmpty { soon() } }

    override func heard(_ signal: BusMessage) throws(BrokerError) {
        // Of any sender: only the store's own contents count.
        guard signal.interface == name, signal.isMember("Changed"), signal.signature.hasPrefix("ss"),
            try signal.readString() == "devices", try signal.readString() == "camera"
        else { return }
        soon()
    }

    override func lost() {
        super.lost()
        (isAsked, isStale) = (false, false)
    }

    private func soon() { if isAsked { isStale = true } else { askLater(Self.settleTime) } }

    override func ask() {
        (isAsked, isStale) = (true, false)
        ask(Self.path, "Lookup", [.string("devices"), .string("camera")]) { [unowned self] result in
            isAsked = false
            do throws(BrokerError) { know(DeniedApps(try Self.permissions(result.get()))) } catch { refused(error) }
            if isStale { soon() }
        }
    }

    private static func permissions(_ answer: BusMessage) throws(BrokerError) -> [String: [String]] {
        var permissions: [String: [String]] = [:]
        try answer.readEach("a", "{sas}", most: appsMax) { () throws(BrokerError) in
            try answer.readEach("e", "sas", most: 1) { () throws(BrokerError) in
                permissions[try answer.readString()] = try answer.readStrings(most: wordsMax)
            }
        }
        return permissions
    }

    private func know(_ new: DeniedApps) {
        worked()
        note(
            new.leftOut == 0
                ? nil : "\(new.leftOut) apps more than the \(DeniedApps.appsMax) that the broker takes are denied")
        guard new != denied else { return }
        denied = new
        onChange()
    }

    private func refused(_ error: BrokerError) {
        if error.message.holds("org.freedesktop.portal.Error.NotFound") {
            // No app has asked yet.
            know(DeniedApps([:]))
        } else if error.message.holds("ServiceUnknown") || error.kind == .disconnected {
            // A desktop without portals; the next owner of the name begins a query.
        } else {
            note(error.message)
            failed()
        }
    }

    private func note(_ new: String?) {
        if let new, new != trouble { journal.send(.notice, "the permission store: \(new)") }
        trouble = new
    }
}

/// The apps that the portal's permission store (table `devices`, id `camera`) denies.
public struct DeniedApps: Hashable, Sendable {
    /// The broker's bound (`Shell1.SetDenied`).
    public static let appsMax = 1024

    public private(set) var apps: [String]
    /// Apps beyond the bound.
    public private(set) var leftOut: Int

    /// - Parameter permissions: the store's entry for each app: "yes", "no" or "ask".
    ///
    /// Its keys are the ids of Flatpak's apps. The empty key stands for all programs outside a sandbox that come
    /// through the portal: it names no app, so that the broker receives none, and needs none, since the portal gives
    /// such a program no connection to PipeWire then. A program that comes another way is not subject to the portal.
    public init(_ permissions: [String: [String]]) {
        let denied = permissions.filter { !$0.key.isEmpty && $0.value.first == "no" }.keys.sorted()
        apps = Array(denied.prefix(Self.appsMax))
        leftOut = denied.count - apps.count
    }
}
