import ArbiterProtocol
import Bus
import System

/// The desktop's org.freedesktop.impl.portal.PermissionStore: to which apps the user has denied the camera through the
/// portals. Looking it up starts it where the bus can: what it keeps is a file, so that a "no" of last year's counts
/// also where nobody has asked the store since. Where it ends, what was read stands, for the same reason.
final class PermissionStore: AskedService {
    private static let path = "/org/freedesktop/impl/portal/PermissionStore"
    /// Apps of one machine; and what the store keeps for each, of which camera permissions have one.
    private static let appsMax = 10_000
    private static let wordsMax = 16
    /// From a change to the reading, in nanoseconds: a program that changes it all the time costs a reading each.
    private static let settleTime: Int64 = 50_000_000

    private(set) var denied: DeniedApps?
    private let journal: Journal
    private let onChange: () -> Void
    /// It is being asked; and has changed since it was. What it says then is taken all the same, and asked about again: where it
    /// changes more often than it answers, what it said a moment ago is more than nothing.
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
        // Whoever sends it: what counts is what the store says when it is asked.
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
            // Nobody has been asked yet.
            know(DeniedApps([:]))
        } else if error.message.holds("ServiceUnknown") || error.kind == .disconnected {
            // A desktop without portals; its name's owner would be the news.
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

/// The apps to which the portal's permission store (table `devices`, id `camera`) says no.
public struct DeniedApps: Hashable, Sendable {
    /// As many as the broker takes (`Shell1.SetDenied`).
    public static let appsMax = 1024

    public private(set) var apps: [String]
    /// Those beyond the bound.
    public private(set) var leftOut: Int

    /// - Parameter permissions: what the store has for each app: "yes", "no" or "ask".
    ///
    /// Its keys are the ids of Flatpak's apps. The empty key stands for all programs outside a sandbox that come through
    /// the portal: it names no app, so that the broker can be told of none, and needs not be, since the portal gives none of
    /// them its connection to PipeWire then. Whoever comes another way never was the portal's to refuse.
    public init(_ permissions: [String: [String]]) {
        let denied = permissions.filter { !$0.key.isEmpty && $0.value.first == "no" }.keys.sorted()
        apps = Array(denied.prefix(Self.appsMax))
        leftOut = denied.count - apps.count
    }
}
