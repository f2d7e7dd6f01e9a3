/// A value that the whole machine may have.
public struct HouseMode: Sendable {
    public var name: String
    /// Who sets it by hand.
    public var setBy: [String]

    public init(name: String, setBy: [String]) { (self.name, self.setBy) = (name, setBy) }
}

extension WholeWorld {
    /// The one that was set goes before the calendar's; of a name that the policy lacks nobody has heard.
    func mode(_ modes: [HouseMode]) -> String? {
        [modeByHand, calendarMode].compactMap { $0 }.first { name in modes.contains { $0.name == name } }
    }
}

extension ReferenceArbiter {
    /// - Parameter name: nil: the one that was set is taken back.
    /// - Returns: false: there is none of that name, or it is not this one's to set.
    public mutating func setMode(_ name: String?, by setter: String) -> Bool {
        let touched = policy.modes.filter { $0.name == name || $0.name == world.modeByHand }
        guard touched.allSatisfy({ !$0.setBy.isEmpty && (setter == "root" || $0.setBy.contains(setter)) }) else {
            return false
        }
        if let name, !touched.contains(where: { $0.name == name }) { return false }
        world.modeByHand = name
        return true
    }
}
