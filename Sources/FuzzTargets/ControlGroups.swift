import Identity

/// Where a process is in the tree of control groups, of which users name their own parts.
extension FuzzTarget {
    /// An app's name is one line, and no longer than names are. A unit is a part of the path, the first one behind its slices, and
    /// no service is vouched for but one that the path is of, in system.slice; what is in a user's part is none of the system's.
    static func controlGroup(_ bytes: [UInt8]) {
        // As a path is read: a C string.
        let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let (name, isVerified) = AppIdentity.unit(inControlGroup: path)
        if let name {
            precondition(
                name.utf8.count <= AppIdentity.nameBytesMax && name.unicodeScalars.allSatisfy { $0.value >= 0x20 },
                "\(path) gives the name \(name)")
        }
        let group = ControlGroup(path: path)
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        guard let unit = group.unit else {
            precondition(name == nil && !isVerified && group.userUnit == nil, "\(path) has no unit, and a name.")
            return
        }
        // The empty part before the first slash, then slices and the unit, which may have a `_` before it.
        let before = [[]] + group.slices.map { Array($0.utf8) }
        precondition(
            parts.starts(with: before) && parts.count > before.count
                && [Array(unit.utf8), Array("_\(unit)".utf8)].contains(parts[before.count]),
            "\(unit) is not the first unit of \(path)")
        precondition(isVerified == (group.isVouchedService && name != nil), "\(path) is vouched for by halves.")
        if group.isVouchedService {
            precondition(
                parts.count == before.count + 1 && parts[1] == Array("system.slice".utf8) && group.userUnit == nil
                    && !group.isSandbox, "\(path) passes for a service of the system.")
        }
        if let own = group.userUnit {
            precondition(
                group.slices == ["user.slice", "user-\(own.user).slice"] && unit.hasPrefix("user@") && !isVerified
                    && !group.isService,
                "\(path) is taken for a unit of user \(own.user).")
        }
    }
}
