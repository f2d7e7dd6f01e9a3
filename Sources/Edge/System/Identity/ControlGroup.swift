/// A control group's maker, from its path, which the process in it cannot change.
///
/// Only the outermost unit counts, the first part after the leading slices, as in `sd_pid_get_unit(3)`: everything
/// below it belongs to that unit, which may have been given its part of the tree (`Delegate=`) and can name groups
/// there as it likes. A container in `machine.slice/machine-web.scope` that has a `system.slice/evacuation.service` of
/// its own is `machine-web.scope`, whatever it calls its groups.
///
///     /system.slice/intercom.service                                    the system's unit, directly
///     /system.slice/ci-runner.service/evacuation.service                ci-runner.service, and something below it
///     /user.slice/user-1000.slice/user@1000.service/app.slice/x.scope   user 1000's unit x.scope
///     /docker/3f…/system.slice/evacuation.service                       no unit: a manager that is not systemd made it
package struct ControlGroup: Hashable, Sendable {
    /// The slices that lead to the unit, the outermost first.
    package let slices: [String]
    /// The outermost unit of the system's manager; `nil` where the path has none, or is no path of a control group.
    package let unit: String?
    /// The process is in the unit's own group and in none below it.
    package let isDirect: Bool
    /// Where that unit is a user's manager: the outermost of that manager's own units.
    package let userUnit: UserUnit?

    /// A unit of a user's own manager, which that user could have named freely.
    package struct UserUnit: Hashable, Sendable {
        /// The manager's user.
        package let user: UInt32
        package let slices: [String]
        package let name: String
    }

    package init(path: String) {
        // The kernel's paths have neither empty parts nor `.`; `..` is a group outside of this process's view.
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard path.hasPrefix("/"), parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            (slices, unit, isDirect, userUnit) = ([], nil, false, nil)
            return
        }
        var rest = parts.map(String.init)[...]
        slices = Self.leadingSlices(&rest)
        unit = rest.popFirst().flatMap(Self.unit)
        isDirect = unit != nil && rest.isEmpty
        guard let user = unit.flatMap(Self.manager), slices == ["user.slice", "user-\(user).slice"] else {
            userUnit = nil
            return
        }
        let slicesOfUser = Self.leadingSlices(&rest)
        userUnit = rest.first.flatMap(Self.unit).map { UserUnit(user: user, slices: slicesOfUser, name: $0) }
    }

    /// A service of the system's manager that nobody but root could have named, without the groups below it.
    ///
    /// It has to stand in `system.slice`, or in a slice of that one's by its name (`system-x.slice`), as the services
    /// of a template do: the system's manager alone makes groups there, since a slice cannot be delegated. Other
    /// slices, such as `machine.slice`, give no such certainty: container managers make groups that end in `.slice`
    /// too. A process in a group *below* a service may be the payload of a service that was given its part of the tree,
    /// a container's or a build's, and cannot be told from the service's own helpers: it is not vouched for.
    package var isVouchedService: Bool {
        guard let unit, isDirect, unit.hasSuffix(".service"), slices.first == "system.slice" else { return false }
        return zip(slices, slices.dropFirst()).allSatisfy { outer, inner in
            inner.hasPrefix(outer.dropLast(".slice".count) + "-")
        }
    }

    /// Flatpak's and Snap's sandboxes and the containers that a user runs, by the names of their scopes, and a
    /// container manager's groups beside users. A process in one cannot leave it, and so cannot be named otherwise.
    package var isSandbox: Bool {
        if let own = userUnit?.name { return Self.sandboxPrefixes.contains { own.hasPrefix($0) } }
        guard let unit else { return false }
        return unit.hasSuffix(".scope") && !unit.hasPrefix("session-") && !unit.hasPrefix("init.")
    }

    private static let sandboxPrefixes = [
        "app-flatpak-", "flatpak-", "snap.", "libpod-", "crun-", "docker-", "buildah-",
    ]

    /// Of the system's manager.
    package var isService: Bool {
        userUnit == nil && unit?.hasSuffix(".service") == true && unit?.hasPrefix("user@") == false
    }

    private static func leadingSlices(_ parts: inout ArraySlice<String>) -> [String] {
        var slices: [String] = []
        while let part = parts.first, part.hasSuffix(".slice"), isName(part.dropLast(".slice".count)) {
            slices.append(part)
            parts.removeFirst()
        }
        return slices
    }

    /// 1000 of `user@1000.service`.
    private static func manager(_ unit: String) -> UInt32? {
        guard unit.hasPrefix("user@"), unit.hasSuffix(".service") else { return nil }
        return UInt32(unit.dropFirst("user@".count).dropLast(".service".count))
    }

    /// systemd has no longer ones (`UNIT_NAME_MAX`).
    private static let nameBytesMax = 255

    /// The service or scope of a part's name, by systemd's own rule; of a template, an instance only. systemd writes a
    /// `_` before names that the kernel could have for files of its own, such as `cpu.service`.
    private static func unit(_ part: String) -> String? {
        let unit = part.hasPrefix("_") ? String(part.dropFirst()) : part
        guard unit.utf8.count <= nameBytesMax,
            let suffix = [".service", ".scope"].first(where: { unit.hasSuffix($0) })
        else { return nil }
        let name = unit.dropLast(suffix.count)
        guard let at = name.firstIndex(of: "@") else { return isName(name) ? unit : nil }
        let instance = name[name.index(after: at)...]
        let isInstance = !instance.isEmpty && instance.split(separator: "@").allSatisfy { isName($0) }
        return isName(name[..<at]) && isInstance ? unit : nil
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "\\"):
                    true
                default: false
                }
            }
    }
}
