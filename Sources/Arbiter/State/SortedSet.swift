/// A set in the order of its elements: what one step touches is little, and is looked at in order anyway.
struct SortedSet<Element: Comparable> {
    private(set) var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    func contains(_ element: Element) -> Bool { elements.containsSorted(element) }
    mutating func insert(_ element: Element) { elements.insertSorted(element) }
    mutating func remove(_ element: Element) { elements.removeSorted(element) }

    mutating func formUnion(_ others: [Element]) {
        if elements.isEmpty, others.isStrictlySorted {
            elements = others
        } else {
            for other in others { insert(other) }
        }
    }

    /// All there is, which is forgotten.
    mutating func takeAll() -> [Element] {
        let taken = elements
        elements = []
        return taken
    }
}

extension Array where Element: Comparable {
    fileprivate var isStrictlySorted: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }

    /// Where an element is in a sorted array, or belongs.
    func place(of element: Element) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Inserts into a sorted array, once.
    mutating func insertSorted(_ element: Element) {
        let place = place(of: element)
        if place == endIndex || self[place] != element { insert(element, at: place) }
    }

    mutating func removeSorted(_ element: Element) {
        let place = place(of: element)
        if place != endIndex, self[place] == element { remove(at: place) }
    }

    func containsSorted(_ element: Element) -> Bool {
        let place = place(of: element)
        return place != endIndex && self[place] == element
    }
}
