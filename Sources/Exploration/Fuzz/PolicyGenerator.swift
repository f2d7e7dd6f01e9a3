public import Arbiter
import ArbiterProtocol
import PolicyFile

/// Random policies over the whole language of policy files, the same for the same numbers.
///
/// Each is written as a file and read back, so that it is one that a file can say. What the reader refuses is made
/// anew. Rules that can never match or that others hide are not refused: a policy in force may have them, too.
public struct PolicyGenerator: Sendable {
    var random: SeededRandom
    private let shares: Bool
    /// Those of the draft that is being made, which its rules may read.
    var modeNames: [String] = []
    /// How many were made and refused so far.
    public private(set) var refused = 0

    /// A policy that reads back as another one: a mistake of the writer or the reader.
    public struct Altered: Error {
        /// As it was written.
        public let text: String
    }

    /// - Parameter shares: whether cameras may be shared at all.
    public init(_ random: SeededRandom, shares: Bool = true) {
        self.random = random
        self.shares = shares
    }

    public mutating func policy() throws(Altered) -> Policy {
        while true {
            let policy = draft()
            if try Self.isAccepted(policy) { return policy }
            refused += 1
        }
    }

    /// The same with something else in one place: what an administrator's reload mostly is.
    mutating func variant(of policy: Policy) throws(Altered) -> Policy {
        while true {
            let other = draft()
            var variant = policy
            switch random.below(9) {
            case 0: variant.sources = other.sources
            case 1: if !variant.causeRules.isEmpty { variant.causeRules.removeLast() }
            case 2: if !variant.rankRules.isEmpty { variant.rankRules.removeFirst() }
            case 3: variant.causeRules = other.causeRules.filter { !$0.readsDeclared }
            case 4: variant.cameras = other.cameras
            case 5: variant.rankRules.shuffle(&random)
            case 6: variant.contention.sharing = other.contention.sharing
            case 7: variant.rights = rights()
            default:
                let order = variant.contention.order
                variant.contention = other.contention
                variant.contention.order = order
            }
            if try Self.isAccepted(variant) { return variant }
            refused += 1
        }
    }

    /// Whether a policy file can say it.
    /// - Throws: that it reads back as another one.
    private static func isAccepted(_ policy: Policy) throws(Altered) -> Bool {
        let text = PolicyWriter.text(policy)
        guard let read = try? PolicyFile.parse(text, file: "fuzz") else { return false }
        guard read == policy else { throw Altered(text: text) }
        return true
    }

    // MARK: Parts

    private mutating func draft() -> Policy {
        var policy = Policy(name: "fuzz")
        if random.chance(5) { policy.summary = "Made by chance: it says \"nothing\"." }
        if random.chance(60) { policy.sources = some(PresenceSource.allCases, atLeast: 1) }
        if random.chance(30) { policy.rights = rights() }
        if random.chance(40) { policy.attributes = attributes() }
        if random.chance(25) { policy.modes = modes() }
        modeNames = policy.modes.map(\.name)
        if random.chance(20) { policy.pressureSettle = random.pick(Self.settles) }
        policy.ranks = Array(FuzzNames.ranks.prefix(1 + random.below(FuzzNames.ranks.count)))
        policy.causeRules = causeRules(policy.attributes)
        policy.rankRules = rankRules(policy)
        policy.contention = contention(policy.attributes)
        policy.cameras = cameras()
        // They decide nothing, so that they are seldom worth their time; that they are read is worth a little.
        if random.chance(5) { policy.statements = statements(policy.attributes) }
        // Nor do these: the speakers are decided before the core hears of them.
        if random.chance(5) { policy.shellUnit = "shell.service" }
        if random.chance(5) { policy.agentUnit = "camagent.service" }
        // Nor does this: the machine is measured before the core hears of it.
        if random.chance(5) { policy.pressure = pressure() }
        return policy
    }

    private mutating func rights() -> Rights {
        func account(_ number: UInt32) -> Rights.Account { Rights.Account(number: number) }
        var rights = Rights(seat: random.chance(70))
        if random.chance(40) { rights.users = some([1000, 1001], atLeast: 1).map(account) }
        // A name that no machine knows: it means nobody, and is written all the same.
        if random.chance(10) { rights.users.append(Rights.Account(name: "mallory", number: nil)) }
        if random.chance(50) { rights.groups = some(FuzzNames.groups, atLeast: 1).map(account) }
        if random.chance(50) { rights.services = some(FuzzNames.apps, atLeast: 1) }
        if random.chance(20) { rights.identity = .strong }
        if random.chance(35) { rights.apps = .ask }
        return rights
    }

    private static let settles: [Duration] = [.zero, .milliseconds(500), .seconds(1), .seconds(10), .seconds(600)]

    private mutating func modes() -> [Mode] {
        some(FuzzNames.modes, atLeast: 1).map { name in
            // A story says when a mode begins, whatever its hours.
            Mode(
                name: name, at: random.chance(40) ? [random.pick(Self.spans)] : [],
                setBy: random.chance(70) ? Mode.Setter.allCases : [random.pick(Mode.Setter.allCases)])
        }
    }

    private static let spans = [
        CalendarSpan(from: 22 * 60, to: 6 * 60), CalendarSpan(days: [.mon, .fri], from: 8 * 60, to: 18 * 60),
    ]

    private mutating func pressure() -> PressureSettings {
        var pressure = PressureSettings.usual
        pressure.isWatched = random.chance(50)
        let levels: [WritableKeyPath<PressureSettings, PressureSettings.Levels>] = [
            \.memory, \.processor, \.temperature,
        ]
        for level in levels where random.chance(60) {
            pressure[keyPath: level] = PressureSettings.Levels(serious: 60, critical: random.chance(50) ? 80 : nil)
        }
        if random.chance(60) { pressure.throttling = random.pick(SystemPressure.allCases) }
        return pressure
    }

    private mutating func attributes() -> [Attribute] {
        some(Array(FuzzNames.attributes.indices), atLeast: 1).map { index in
            let (name, values) = FuzzNames.attributes[index]
            // A policy may leave out a value that a story's app is told.
            let kept = random.chance(70) ? values : some(values, atLeast: 1)
            return Attribute(name: name, values: kept, default: random.chance(50) ? random.pick(kept) : nil)
        }
    }

    private mutating func contention(_ attributes: [Attribute]) -> Contention {
        var contention = Contention()
        let keys = Contention.OrderKey.builtIn + attributes.map { .attribute($0.name) }
        if random.chance(85) { contention.order = Array(some(keys, atLeast: 1).prefix(1 + random.below(4))) }
        contention.tie = random.pick(Contention.Tie.allCases)
        contention.sameApp = random.pick(Contention.SameApp.allCases)
        contention.ownConflict = random.pick(Contention.OwnConflict.allCases)
        if random.chance(35) { contention.newcomer = .refuse }
        if random.chance(35) { contention.loser = .evict }
        if shares, random.chance(50) { contention.sharing = .readOnly }
        // Without sharing it says nothing, and may be said.
        if random.chance(40) { contention.shareWith = random.pick(Contention.ShareWith.allCases) }
        if random.chance(35) { contention.reDecide = .open }
        if random.chance(60) { contention.coolDown = random.pick(Self.coolDowns) }
        if random.chance(40) { contention.budget = random.pick([0, 1, 50, 75, 100, 150]) }
        contention.givesWay = random.pick(Contention.GivesWay.allCases)
        contention.strongestMayExceed = random.chance(40)
        contention.backfill = random.chance(50)
        return contention
    }

    private static let coolDowns: [Duration] = [.zero, .milliseconds(250), .seconds(1), .seconds(5), .seconds(60)]

    private mutating func cameras() -> [CameraRule] {
        guard random.chance(75) else { return [] }
        return some(FuzzNames.cameras, atLeast: 1).map { name in
            let others = FuzzNames.cameras.filter { $0 != name }
            return CameraRule(
                camera: CameraID(name),
                conflicts: random.chance(60) ? some(others, atLeast: 1).map { CameraID($0) } : [],
                cost: cost())
        }
    }

    private static let costs = [0, 1, 50, 75, 100, 200]

    /// One number, or numbers for some of the formats that cameras of stories have, and for others.
    private mutating func cost() -> CameraCost {
        guard random.chance(35) else { return CameraCost(random.pick(Self.costs)) }
        let formats = some(FuzzNames.formats, atLeast: 1).map { format in
            CameraCost.Format(
                width: format.width, height: format.height, frameRate: Double(format.frameRate),
                pixelFormat: random.chance(40) ? format.pixelFormat : nil, cost: random.pick(Self.costs))
        }
        return CameraCost(formats: formats, other: random.chance(60) ? random.pick(Self.costs) : nil)
    }

    // MARK: Chance

    /// Some of the values in any order, each at most once.
    mutating func some<T>(_ values: [T], atLeast least: Int) -> [T] {
        var values = values
        values.shuffle(&random)
        return Array(values.prefix(least + random.below(values.count - least + 1)))
    }
}

extension Array {
    /// The standard library's takes generators of its own, whose draws are not ours to keep.
    mutating func shuffle(_ random: inout SeededRandom) {
        for index in indices.dropFirst().reversed() { swapAt(index, random.below(index + 1)) }
    }
}

extension CauseRule {
    /// What its own policy declares, and another one does not have.
    fileprivate var readsDeclared: Bool {
        when.contains { test in
            switch test {
            case .attribute, .mode: true
            default: false
            }
        }
    }
}
