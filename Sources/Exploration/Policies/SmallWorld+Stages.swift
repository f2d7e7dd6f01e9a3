import Arbiter
import ArbiterProtocol

/// Which cameras a small world has, and who is on which.
extension SmallWorld {
    /// Cameras that do not touch each other are looked at one by one, and one stands for all that are alike.
    static func stages(
        _ reads: PolicyReads, cameras: Int, isLinked: Bool
    ) -> [[(id: CameraID, position: CameraPosition)]] {
        var all: [(id: CameraID, position: CameraPosition)] = reads.cameras.map { ($0, .external) }
        for position in reads.positions { all.append((CameraID(position.rawValue), position)) }
        let plain: [(id: CameraID, position: CameraPosition)] = [
            (CameraID("back"), .back), (CameraID("front"), .front), (CameraID("desk"), .external),
        ]
        for camera in plain where !all.contains(where: { $0.id == camera.id }) { all.append(camera) }
        if isLinked {
            let told = reads.cameras.count + reads.positions.count
            return linked(reads, Array(all.prefix(max(cameras, told))), cameras)
        }
        let wanted = Array(all.prefix(cameras))
        let isTold = !reads.cameras.isEmpty || !reads.positions.isEmpty
        return isTold ? wanted.map { [$0] } : [Array(wanted.prefix(1))]
    }

    /// Every choice of so many cameras, but one of those that have the same costs and conflicts, and the same rules.
    private static func linked(
        _ reads: PolicyReads, _ all: [(id: CameraID, position: CameraPosition)], _ count: Int
    ) -> [[(id: CameraID, position: CameraPosition)]] {
        var seen: [[String]] = []
        var choices: [[Int]] = [[]]
        for _ in 0..<count {
            choices = choices.flatMap { choice in
                all.indices.filter { $0 > choice.last ?? -1 }.map { choice + [$0] }
            }
        }
        return choices.filter { choice in
            let cameras = choice.map { all[$0].id }
            let signature = cameras.map { reads.character(of: $0, among: cameras) }.sorted()
            if seen.contains(signature) { return false }
            seen.append(signature)
            return true
        }.map { $0.map { all[$0] } }
    }

    /// Who is on which camera. Clients of one kind may change places without changing anything.
    static func placings(of cast: [Character], on cameras: Int) -> [[Int]] {
        var found: [[Int]] = []
        var seen: Set<[[Int]]> = []
        func place(_ rest: Int, _ placed: [Int]) {
            guard rest > 0 else {
                let kinds = unique(cast)
                let sorted = kinds.map { kind in
                    cast.indices.filter { cast[$0] == kind }.map { placed[$0] }.sorted()
                }
                if seen.insert(sorted).inserted { found.append(placed) }
                return
            }
            for camera in 0..<cameras { place(rest - 1, placed + [camera]) }
        }
        place(cast.count, [])
        return found
    }
}
