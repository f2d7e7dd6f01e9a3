import Arbiter
import ArbiterProtocol

/// Which cameras a small world has, and which session is on which.
extension SmallWorld {
    typealias Stage = [(id: CameraID, position: CameraPosition)]

    /// Cameras that do not touch each other are looked at one by one, all that a rule tells apart; of those that touch
    /// each other, every choice of so many.
    static func stages(_ reads: PolicyReads, cameras: Int, isLinked: Bool) -> [Stage] {
        let told = reads.cameras
        var all: [Stage] = told.map { camera in reads.positionsToldApart.map { (camera, $0) } }
        // Where rules read where a camera looks, one that they do not name may look anywhere, too.
        let isNamed = reads.tests.contains { if case .camera = $0 { true } else { false } }
        var others: [Stage] = []
        for position in [CameraPosition.back, .front, .external] {
            let plain = position == .external ? "desk" : position.rawValue
            let name = told.contains(CameraID(plain)) ? "other-\(plain)" : plain
            others.append([(CameraID(name), position)])
        }
        if !reads.positions.isEmpty {
            all += others.filter { other in reads.positionsToldApart.contains { $0 == other[0].position } }
        } else if told.isEmpty || isNamed {
            all.append(others[0])
        }
        guard isLinked else { return all.flatMap { variants in variants.map { [$0] } } }
        for other in others where all.count < cameras && !all.contains(where: { $0[0].id == other[0].id }) {
            all.append(other)
        }
        return linked(reads, all, cameras)
    }

    /// Every choice of so many cameras, but one of those that have the same costs and conflicts, and the same rules.
    private static func linked(_ reads: PolicyReads, _ all: [Stage], _ count: Int) -> [Stage] {
        var seen: [[String]] = []
        var choices: [[Int]] = [[]]
        for _ in 0..<count {
            choices = choices.flatMap { choice in
                all.indices.filter { $0 > choice.last ?? -1 }.map { choice + [$0] }
            }
        }
        let stages = choices.flatMap { choice in
            choice.reduce([Stage()]) { stages, camera in stages.flatMap { stage in all[camera].map { stage + [$0] } } }
        }
        return stages.filter { stage in
            let cameras = stage.map(\.id)
            let signature = stage.map {
                reads.character(of: $0.id, among: cameras) + (reads.positions.isEmpty ? "" : " \($0.position.rawValue)")
            }.sorted()
            if seen.contains(signature) { return false }
            seen.append(signature)
            return true
        }
    }

    /// Which session is on which camera. Sessions of one key may change places without changing anything.
    static func placings(of keys: [[Int]], on cameras: Int) -> [[Int]] {
        var found: [[Int]] = []
        var seen: Set<[[Int]]> = []
        func place(_ rest: Int, _ placed: [Int]) {
            guard rest > 0 else {
                let sorted = unique(keys).map { key in
                    keys.indices.filter { keys[$0] == key }.map { placed[$0] }.sorted()
                }
                if seen.insert(sorted).inserted { found.append(placed) }
                return
            }
            for camera in 0..<cameras { place(rest - 1, placed + [camera]) }
        }
        place(keys.count, [])
        return found
    }
}
