import ArbiterProtocol
import Bus

/// com.canonical.dbusmenu: the item's menu, as the panel asks for it and as it is clicked.
extension StatusItem {
    /// Several times what a menu of ours has; whoever asks for more has made the numbers up.
    private static let idsMax = 1024
    private static let namesMax = 64

    func answerMenu(_ call: BusMessage) throws(BrokerError) {
        switch (call.member, call.signature) {
        case ("GetLayout", "iias"): try answerLayout(call)
        case ("GetGroupProperties", "aias"): try answerGroup(call)
        case ("GetProperty", "is"): try answerProperty(call)
        case ("Event", "isvu"):
            let id = try call.readInt32()
            try clicked(id, try call.readString())
            call.answer()
        case ("EventGroup", "a(isvu)"): try answerEvents(call)
        case ("AboutToShow", "i"):
            try require(try call.readInt32())
            // It is never behind: every change was told.
            call.answer([.boolean(false)])
        case ("AboutToShowGroup", "ai"):
            let ids = try call.readInt32s(most: Self.idsMax)
            let unknown = try unknown(among: ids)
            call.answer([.array(type: "i", []), .array(type: "i", unknown.map { .int32($0) })])
        case ("GetLayout", _), ("GetGroupProperties", _), ("GetProperty", _), ("Event", _), ("EventGroup", _),
            ("AboutToShow", _), ("AboutToShowGroup", _):
            throw BrokerError(
                .invalidArguments, "\(call.member) takes other arguments than \(call.signature.quotedShort).")
        default: throw Self.unknown(call)
        }
    }

    private func answerLayout(_ call: BusMessage) throws(BrokerError) {
        let parent = try call.readInt32()
        let depth = try call.readInt32()
        let names = try call.readStrings(most: Self.namesMax)
        try require(parent)
        guard let answer = call.makeAnswer() else { return }
        let children = parent == IndicatorMenu.root && depth != 0 ? menu.items.map(\.id) : []
        answer.append(menu.revision)
        append(parent, names, children: children, to: answer)
        answer.send()
    }

    /// `(ia{sv}av)`: an item, with its children.
    private func append(_ id: Int32, _ names: [String], children: [Int32], to answer: BusMessage) {
        answer.container("r", "ia{sv}av") {
            answer.append(id)
            answer.append(menu.properties(id, names) ?? WireDictionary())
            answer.container("a", "v") {
                for child in children {
                    answer.container("v", "(ia{sv}av)") { append(child, names, children: [], to: answer) }
                }
            }
        }
    }

    /// Without ids: all. Lines that are gone are left out, and where that leaves none it is an error.
    private func answerGroup(_ call: BusMessage) throws(BrokerError) {
        let asked = try call.readInt32s(most: Self.idsMax)
        let names = try call.readStrings(most: Self.namesMax)
        let unknown = try unknown(among: asked)
        let all = [IndicatorMenu.root] + menu.items.map(\.id)
        let ids = asked.isEmpty ? all : all.filter { asked.contains($0) && !unknown.contains($0) }
        guard let answer = call.makeAnswer() else { return }
        answer.container("a", "(ia{sv})") {
            for id in ids {
                answer.container("r", "ia{sv}") {
                    answer.append(id)
                    answer.append(menu.properties(id, names) ?? WireDictionary())
                }
            }
        }
        answer.send()
    }

    private func answerProperty(_ call: BusMessage) throws(BrokerError) {
        let id = try call.readInt32()
        let name = try call.readString()
        try require(id)
        guard let value = menu.properties(id)?[name] else {
            throw BrokerError(.unknownProperty, "Line \(id) of the menu has no property \(name.quotedShort).")
        }
        guard let answer = call.makeAnswer() else { return }
        answer.container("v", value.signature) { answer.append(value) }
        answer.send()
    }

    private func answerEvents(_ call: BusMessage) throws(BrokerError) {
        var events: [(id: Int32, event: String)] = []
        try call.readEach("a", "(isvu)", most: Self.idsMax) { () throws(BrokerError) in
            try call.readEach("r", "isvu", most: 1) { () throws(BrokerError) in
                let id = try call.readInt32()
                events.append((id, try call.readString()))
                try call.skip("vu")
            }
        }
        let unknown = try unknown(among: events.map(\.id))
        for (id, event) in events where menu.has(id) { try clicked(id, event) }
        call.answer([.array(type: "i", unknown.map { .int32($0) })])
    }

    private func clicked(_ id: Int32, _ event: String) throws(BrokerError) {
        try require(id)
        guard event == "clicked", let line = menu.line(id) else { return }
        guard onLine(line) else {
            throw BrokerError(.failed, "The broker is not reached, or has too much to do already; nothing was done.")
        }
    }

    private func require(_ id: Int32) throws(BrokerError) { guard menu.has(id) else { throw Self.noLine([id]) } }

    /// Those that nobody has.
    /// - Throws: where that are all of them.
    private func unknown(among ids: [Int32]) throws(BrokerError) -> [Int32] {
        let unknown = ids.filter { !menu.has($0) }
        if unknown.count == ids.count, !ids.isEmpty { throw Self.noLine(unknown) }
        return unknown
    }

    private static func noLine(_ ids: [Int32]) -> BrokerError {
        let shown = ids.prefix(4).map(String.init).joined(separator: ", ") + (ids.count > 4 ? "…" : "")
        return BrokerError(.invalidArguments, "The menu has no line \(shown); it may have had one before.")
    }
}
