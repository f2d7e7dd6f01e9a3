import Arbiter
import ArbiterProtocol
import TomlFile

extension PolicyReader {
    static let contentionKeys = [
        "order", "tie", "same-app", "own-conflict", "newcomer", "loser", "sharing", "share-with", "re-decide",
        "cool-down", "budget", "gives-way", "strongest-may-exceed", "backfill",
    ]

    /// "Who wins when bids meet?" What is not written is `Contention`'s default.
    func contention() -> Contention {
        var contention = Contention()
        let takes = "a table that begins with [contention]"
        guard let table = top.table("contention", takes: takes) else { return contention }
        let reader = TableReader(table, owner: "in [contention]", problems: problems)
        reader.refuseUnknown(Self.contentionKeys, advice: Self.advice(at: "[contention]"))

        if let order = reader.choices(
            "order", (Contention.OrderKey.builtIn + declared.map { .attribute($0.name) }).map { ($0.name, $0) })
        {
            contention.order = order
            if order.contains(.newest), order.contains(.oldest), let entry = reader.entry("order") {
                problems.add(
                    "\"order\" in [contention] has both \"newest\" and \"oldest\"; the second could never decide",
                    at: entry.node.place)
            }
        }
        if let tie = reader.choice("tie", Contention.Tie.self) { contention.tie = tie }
        if let sameApp = reader.choice("same-app", Contention.SameApp.self) { contention.sameApp = sameApp }
        if let own = reader.choice("own-conflict", Contention.OwnConflict.self) { contention.ownConflict = own }
        if let newcomer = reader.choice("newcomer", Contention.Newcomer.self) { contention.newcomer = newcomer }
        if let loser = reader.choice("loser", Contention.Loser.self) { contention.loser = loser }
        if let sharing = sharing(reader) { contention.sharing = sharing }
        if let shareWith = reader.choice("share-with", Contention.ShareWith.self) { contention.shareWith = shareWith }
        if let reDecide = reader.choice("re-decide", Contention.ReDecide.self) { contention.reDecide = reDecide }
        if let coolDown = reader.duration("cool-down", in: Bounds.coolDown) { contention.coolDown = coolDown }
        contention.budget = reader.integer("budget", in: Bounds.cost)
        if let givesWay = reader.choice("gives-way", Contention.GivesWay.self) { contention.givesWay = givesWay }
        if let mayExceed = reader.boolean("strongest-may-exceed") { contention.strongestMayExceed = mayExceed }
        if let backfill = reader.boolean("backfill") { contention.backfill = backfill }
        return contention
    }

    private func sharing(_ reader: TableReader) -> Contention.Sharing? {
        guard let sharing = reader.choice("sharing", Contention.Sharing.self) else { return nil }
        if sharing == .all, let entry = reader.entry("sharing") {
            problems.add(
                "\"sharing\" in [contention] is \"\(sharing.rawValue)\", which this version does not serve yet; "
                    + "it takes \"none\" or \"read-only\"", at: entry.node.place)
        }
        return sharing
    }

    static let speakerKeys = ["unit"]

    /// `[shell]` and `[agent]`: the unit that is believed to be it.
    func speakingUnit(_ key: String) -> String? {
        guard let table = top.table(key, takes: "a table that begins with [\(key)]") else { return nil }
        let reader = TableReader(table, owner: "in [\(key)]", problems: problems)
        reader.refuseUnknown(Self.speakerKeys, advice: Self.advice(at: "[\(key)]"))
        guard let unit = reader.label("unit") else { return nil }
        if let entry = reader.entry("unit"), !Bounds.isUnit(unit) {
            problems.add(
                "\(reader.subject("unit")) is \(Wording.quoted(unit)); it takes the whole name of a service or a scope of "
                    + "systemd's", at: entry.node.place,
                hint: Bounds.isUnit(unit + ".service") ? "did you mean \(Wording.quoted(unit + ".service"))?" : "")
            return nil
        }
        return unit
    }

    static let cameraKeys = ["id", "conflicts", "cost"]

    func cameras() -> [CameraRule] {
        var cameras: [CameraRule] = []
        for table in top.tables("camera", countMax: Bounds.camerasMax) {
            let unnamed = TableReader(table, owner: "in a [[camera]] table", problems: problems)
            let id = unnamed.label("id")
            let reader =
                id.map { TableReader(table, owner: "of camera \(Wording.quoted($0))", problems: problems) } ?? unnamed
            if unnamed.entry("id") == nil {
                reader.missing(
                    "id", of: Self.cameraKeys, "a [[camera]] table has no \"id\"",
                    hint: "add id = \"…\"; camclient devices lists them")
            }
            reader.refuseUnknown(Self.cameraKeys, advice: Self.advice(at: "[[camera]]"))
            let conflicts =
                reader.strings("conflicts", takes: "a list of camera ids", countMax: Bounds.camerasMax) ?? []
            for (other, place) in conflicts {
                if let complaint = FileBounds.complaint(other) {
                    problems.add("a camera in \(reader.subject("conflicts")) \(complaint)", at: place)
                } else if other == id {
                    problems.add("\(reader.subject("conflicts")) has the camera itself in it", at: place)
                }
            }
            let cost = cost(reader)
            guard let id else { continue }
            if cameras.contains(where: { $0.camera.name == id }), let entry = reader.entry("id") {
                problems.add("a second [[camera]] table has the id \(Wording.quoted(id))", at: entry.node.place)
            }
            cameras.append(CameraRule(camera: CameraID(id), conflicts: conflicts.map { CameraID($0.text) }, cost: cost))
        }
        return cameras
    }

    /// Advice for a key that stands in the wrong table: in TOML every key behind a header belongs to that
    /// table, which is the mistake to expect.
    static func advice(at table: String, facts: [String] = FactReader.keys) -> (String) -> String? {
        { key in
            if table == "[[rank]]", key == "when" {
                return "a rank rule names its facts directly: app = \"…\" on a line of its own"
            }
            if table == "[[cause]]", facts.contains(key) { return "facts go inside when = { … }" }
            if table != "", keys.contains(key) {
                return ["access", "cause", "rank", "attribute", "mode", "pressure", "never", "always"].contains(key)
                    ? nil : "it goes to the top of the file, above the first table"
            }
            if table != "[contention]", contentionKeys.contains(key) { return "it goes below [contention]" }
            if table != "[access]", accessKeys.contains(key) { return "it goes below [access]" }
            if table != "[pressure]", pressureKeys.contains(key) { return "it goes below [pressure]" }
            if table != "[[rank]]", ["deny", "immediate", "grace", "min-hold", "lease"].contains(key) {
                return "it goes into a [[rank]] rule"
            }
            return nil
        }
    }
}
