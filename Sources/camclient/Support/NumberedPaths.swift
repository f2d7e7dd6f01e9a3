/// Paths that differ from others by what stands before their ending.
extension String {
    /// `door` for `door.jpg`; a folder's dots are none.
    var withoutEnding: String { String(self[..<endingAt]) }

    /// `door-2.jpg` for `door.jpg`.
    func numbered(_ number: Int) -> String { "\(self[..<endingAt])-\(number)\(self[endingAt...])" }

    private var endingAt: Index {
        let name = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
        // A hidden file's first dot begins its name.
        guard let dot = self[name...].lastIndex(of: "."), dot > name else { return endIndex }
        return dot
    }
}
