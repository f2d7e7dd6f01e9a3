/// All states and steps of a world, numbered breadth first. A step takes some twelve bytes and a state fifty: a million states of
/// ten steps each are 200 MB.
struct KeptGraph {
    /// The sessions that starve: `masks[statement][state]`.
    var masks: [[Starving.Bits]]
    /// Where each state's steps begin.
    private var firsts: [UInt32] = []
    private var targets: [UInt32] = []
    private var choices: [UInt16] = []
    /// The sessions that starved all through a step, by the statement.
    private var through: [[Starving.Bits]]

    init(statements: Int) {
        masks = Array(repeating: [], count: statements)
        through = Array(repeating: [], count: statements)
    }

    var expanded: Int { firsts.count }

    mutating func beginState() { firsts.append(UInt32(truncatingIfNeeded: targets.count)) }

    mutating func add(choice: Int, to target: Int, starving: [Starving.Bits]) {
        targets.append(UInt32(truncatingIfNeeded: target))
        choices.append(UInt16(truncatingIfNeeded: choice))
        for index in through.indices { through[index].append(starving[index]) }
    }

    private func steps(of state: Int) -> Range<Int> {
        guard state < firsts.count else { return 0..<0 }
        let end = state + 1 < firsts.count ? Int(firsts[state + 1]) : targets.count
        return Int(firsts[state])..<end
    }

    /// The part of the graph in which one session starves: before, during and after each step.
    struct Part {
        let statement: Int
        let bit: Int
    }

    private func isIn(_ part: Part, _ state: Int) -> Bool {
        masks[part.statement][state] >> Starving.Bits(part.bit) & 1 == 1
    }

    private func staysIn(_ part: Part, _ step: Int) -> Bool {
        through[part.statement][step] >> Starving.Bits(part.bit) & 1 == 1 && isIn(part, Int(targets[step]))
    }

    struct Loop {
        var entry: Int
        var choices: [Int]
    }

    /// A short loop of a part in which time passes. A loop lies in one strongly connected component: the first few steps of time of
    /// the walk are each closed to a loop, and the shortest loop is the answer.
    func loop(in part: Part, timePasses: Int) -> Loop? {
        let components = components(of: part)
        var tried = 0
        var best: Loop?
        for state in 0..<expanded where isIn(part, state) {
            for step in steps(of: state) where Int(choices[step]) == timePasses && staysIn(part, step) {
                let target = Int(targets[step])
                guard components[state] == components[target] else { continue }
                guard let back = path(from: target, to: state, part, components) else { continue }
                tried += 1
                if best.map({ back.count + 1 < $0.choices.count }) ?? true {
                    best = beginningFirst([(state, timePasses)] + back)
                }
                if tried == Self.loopsTried { return best }
            }
        }
        return best
    }

    /// Later steps only lie deeper, so the result is hardly ever longer than the shortest loop.
    private static let loopsTried = 64

    private func beginningFirst(_ loop: [(state: Int, choice: Int)]) -> Loop {
        let first = loop.indices.min { loop[$0].state < loop[$1].state } ?? 0
        return Loop(entry: loop[first].state, choices: (loop[first...] + loop[..<first]).map(\.choice))
    }

    private func path(
        from start: Int, to end: Int, _ part: Part, _ components: [Int32]
    ) -> [(state: Int, choice: Int)]? {
        if start == end { return [] }
        var cameBy: [Int: (state: Int, choice: Int)] = [start: (start, 0)]
        var queue = [start]
        var next = 0
        while next < queue.count {
            let state = queue[next]
            next += 1
            for step in steps(of: state) where staysIn(part, step) {
                let target = Int(targets[step])
                guard components[target] == components[start], cameBy[target] == nil else { continue }
                cameBy[target] = (state, Int(choices[step]))
                guard target == end else {
                    queue.append(target)
                    continue
                }
                var path: [(state: Int, choice: Int)] = []
                var place = end
                while place != start, let way = cameBy[place] {
                    path.append(way)
                    place = way.state
                }
                return path.reversed()
            }
        }
        return nil
    }

    /// The number of each state's strongly connected component in a part; −1 elsewhere. Tarjan's algorithm, with a stack of its own:
    /// a component may be as deep as the graph is large.
    private func components(of part: Part) -> [Int32] {
        var found = Array(repeating: Int32(-1), count: masks[part.statement].count)
        var order = Array(repeating: Int32(-1), count: found.count)
        var low = order
        var isOpen = Array(repeating: false, count: found.count)
        var open: [Int] = []
        var calls: [(state: Int, step: Int)] = []
        var (visited, count) = (Int32(0), Int32(0))
        func enter(_ state: Int) {
            (order[state], low[state]) = (visited, visited)
            visited += 1
            open.append(state)
            isOpen[state] = true
            calls.append((state, steps(of: state).lowerBound))
        }
        for root in 0..<expanded where isIn(part, root) && order[root] < 0 {
            enter(root)
            while let (state, step) = calls.last {
                if step < steps(of: state).upperBound {
                    calls[calls.count - 1].step += 1
                    let target = Int(targets[step])
                    guard staysIn(part, step) else { continue }
                    if order[target] < 0 {
                        enter(target)
                    } else if isOpen[target] {
                        low[state] = min(low[state], order[target])
                    }
                    continue
                }
                calls.removeLast()
                if let caller = calls.last { low[caller.state] = min(low[caller.state], low[state]) }
                guard low[state] == order[state] else { continue }
                while let member = open.popLast() {
                    isOpen[member] = false
                    found[member] = count
                    if member == state { break }
                }
                count += 1
            }
        }
        return found
    }
}
