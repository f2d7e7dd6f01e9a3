import Arbiter
import ArbiterProtocol
import TomlFile

extension PolicyReader {
    static let accessKeys = ["seat", "users", "groups", "services", "identity", "apps"]

    /// "May it use the camera at all?" What is not written is `Rights`' default.
    func rights() -> Rights {
        var rights = Rights()
        guard let table = top.table("access", takes: "a table that begins with [access]") else { return rights }
        let reader = TableReader(table, owner: "in [access]", problems: problems)
        reader.refuseUnknown(Self.accessKeys, advice: Self.advice(at: "[access]"))
        if let seat = reader.boolean("seat") { rights.seat = seat }
        rights.users = reader.accounts("users", accounts.user(named:))
        rights.groups = reader.accounts("groups", accounts.group(named:))
        let services =
            reader.strings("services", takes: "a list of systemd units", countMax: Bounds.accessNamesMax) ?? []
        for (name, place) in services {
            if let complaint = FileBounds.complaint(name) {
                problems.add("a unit in \(reader.subject("services")) \(complaint)", at: place)
            }
        }
        rights.services = services.map(\.text)
        if let identity = reader.choice("identity", Rights.Identity.self) { rights.identity = identity }
        if let apps = reader.choice("apps", Rights.Apps.self) { rights.apps = apps }
        return rights
    }
}

extension TableReader {
    /// Names and numbers of users or groups, in any order. A name that the machine does not know is nobody's, and no fault
    /// of the file: it may be written for many machines.
    fileprivate func accounts(_ key: String, _ number: (String) -> UInt32?) -> [Rights.Account] {
        guard let entry = entry(key) else { return [] }
        let takes = "a list of names and numbers, as in [\"alice\", 1001]"
        guard case .array(let nodes) = entry.node.value else { return wrongType(entry, takes: takes) ?? [] }
        guard nodes.count <= Bounds.accessNamesMax else {
            problems.add(
                "\(subject(key)) has \(nodes.count) entries; it takes at most \(Bounds.accessNamesMax)",
                at: entry.keyPlace)
            return []
        }
        var found: [Rights.Account] = []
        for node in nodes {
            guard let account = account(node, key, takes, number) else { continue }
            if found.contains(where: { $0.name == account.name && (account.name != nil || $0.number == account.number) }
            ) {
                problems.add("\(subject(key)) names \(node.value.spoken) twice", at: node.place)
            }
            found.append(account)
        }
        return found
    }

    /// Nil: it is neither, which has been reported.
    private func account(
        _ node: TomlNode, _ key: String, _ takes: String, _ number: (String) -> UInt32?
    ) -> Rights.Account? {
        switch node.value {
        case .string(let name):
            if let complaint = FileBounds.complaint(name) {
                problems.add("a name in \(subject(key)) \(complaint)", at: node.place)
                return nil
            }
            return Rights.Account(name: name, number: number(name))
        case .integer(let value):
            if let value = UInt32(exactly: value), Bounds.accountNumber.contains(Int(value)) {
                return Rights.Account(number: value)
            }
            problems.add(
                "\(subject(key)) has \(value) in it; a number is from \(Bounds.accountNumber.lowerBound) to \(Bounds.accountNumber.upperBound)",
                at: node.place)
            return nil
        case .table, .array, .float, .boolean, .date:
            problems.add("\(subject(key)) has \(node.value.spoken) in it; it takes \(takes)", at: node.place)
            return nil
        }
    }
}
