/// Whether boxes of facts together cover another: a bounded search for a point outside all of them. A box with a single
/// way out is taken first, so most questions need no choice; in the worst case there are exponentially many.
struct CoverSearch {
    enum Answer: Equatable {
        case covered
        case open
        case unsettled
    }

    /// A policy of 256 rules over the same few facts takes some thousands; this is a second at most.
    static let stepsMax = 200_000

    private var steps = 0
    private let most: Int

    private init(stepsMax: Int) { most = stepsMax }

    static func answer(
        _ box: FactBox, in everything: [ValueSet], by covers: [FactBox], stepsMax: Int = CoverSearch.stepsMax
    ) -> Answer {
        var start = everything
        for (variable, allowed) in box { start[variable] = start[variable].intersection(allowed) }
        guard start.allSatisfy({ !$0.isEmpty }) else { return .covered }
        var search = CoverSearch(stepsMax: stepsMax)
        return search.look(start, covers)
    }

    private mutating func look(_ point: [ValueSet], _ covers: [FactBox]) -> Answer {
        steps += 1
        guard steps <= most else { return .unsettled }
        var left: [FactBox] = []
        var best: (index: Int, open: [Int])?
        for cover in covers {
            // This cover leaves no room for the point.
            if cover.contains(where: { point[$0.key].intersection($0.value).isEmpty }) { continue }
            // In the order of the variables, not of a hash.
            let open = cover.keys.filter { key in cover[key].map { !point[key].isSubset(of: $0) } ?? false }.sorted()
            if open.isEmpty { return .covered }
            if open.count < best?.open.count ?? .max { best = (left.count, open) }
            left.append(cover)
        }
        guard let best else { return .open }
        let cover = left.remove(at: best.index)
        // Outside by its first open fact; or inside by that one and outside by the second; and so on.
        var inside = point
        var isUnsettled = false
        for variable in best.open {
            guard let allowed = cover[variable] else { continue }
            var outside = inside
            outside[variable] = inside[variable].subtracting(allowed)
            switch look(outside, left) {
            case .open: return .open
            case .unsettled: isUnsettled = true
            case .covered: break
            }
            if isUnsettled { return .unsettled }
            inside[variable] = inside[variable].intersection(allowed)
        }
        return .covered
    }
}
