import Vocabulary

/// A row's place in its table. A later row may take the place of a removed one.
package struct Slot<Row>: Hashable, Sendable, Codable, BitwiseCopyable {
    package var index: Int32
    package init(_ index: Int) { self.index = Int32(truncatingIfNeeded: index) }
}

// Other targets read the rows themselves: there, a subscript would be a generic function that knows no row.

/// Rows of plain bytes in one flat array: copying a table is copying bytes, and no row counts references.
package struct Table<Row: Codable & Sendable & BitwiseCopyable>: Sendable, Codable {
    package var rows: [Row] = []
    /// Free places, the last freed first.
    package var free: [Int32] = []

    package subscript(slot: Slot<Row>) -> Row {
        @inline(__always) get { rows[Int(slot.index)] }
        @inline(__always) _modify { yield &rows[Int(slot.index)] }
    }

    mutating func insert(_ row: Row) -> Slot<Row> {
        guard let place = free.popLast() else {
            rows.append(row)
            return Slot(rows.count - 1)
        }
        rows[Int(place)] = row
        return Slot(Int(place))
    }

    mutating func remove(_ slot: Slot<Row>) { free.append(slot.index) }
}

/// The row of each id, sorted by the ids. The caller's ids grow, so a new one almost always comes last.
package struct Directory<Row>: Sendable, Codable {
    package private(set) var ids: [UInt64] = []
    package private(set) var places: [Int32] = []

    package var slots: some Sequence<Slot<Row>> { places.lazy.map { Slot<Row>(Int($0)) } }
    /// Rows with greater ids.
    package func slots(after id: UInt64) -> some Sequence<Slot<Row>> {
        places[ids.place { $0 <= id }...].lazy.map { Slot<Row>(Int($0)) }
    }
    package var count: Int { ids.count }
    package var isSorted: Bool { ids.count == places.count && zip(ids, ids.dropFirst()).allSatisfy(<) }

    /// The first place whose id is not smaller.
    private func place(of id: UInt64) -> Int {
        if let last = ids.last, last < id { return ids.count }
        return ids.place { $0 < id }
    }

    package subscript(id: UInt64) -> Slot<Row>? {
        let place = place(of: id)
        return place < ids.count && ids[place] == id ? Slot(Int(places[place])) : nil
    }

    mutating func insert(_ slot: Slot<Row>, for id: UInt64) {
        let place = place(of: id)
        ids.insert(id, at: place)
        places.insert(slot.index, at: place)
    }

    mutating func remove(_ id: UInt64) {
        let place = place(of: id)
        guard place < ids.count, ids[place] == id else { return }
        ids.remove(at: place)
        places.remove(at: place)
    }
}

/// The names of a table's rows, both ways: rows are numbers inside the core, and names at its edge. Other targets read
/// them through the state, since there the subscripts would be generic functions, too.
package struct NameTable<Name: Hashable & Comparable & Codable & Sendable, Row>: Sendable, Codable {
    package private(set) var names: [Name?] = []
    /// For look-ups alone, so that its order reaches nothing.
    private(set) var places: [Name: Int32] = [:]

    subscript(name: Name) -> Slot<Row>? {
        // A comparison with a few names is cheaper than a hash.
        if names.count > 8 { return places[name].map { Slot(Int($0)) } }
        for place in names.indices where names[place] == name { return Slot(place) }
        return nil
    }

    subscript(slot: Slot<Row>) -> Name {
        guard let name = names[Int(slot.index)] else { preconditionFailure("row \(slot.index) has no name") }
        return name
    }

    mutating func set(_ name: Name, for slot: Slot<Row>) {
        while names.count <= Int(slot.index) { names.append(nil) }
        names[Int(slot.index)] = name
        places[name] = slot.index
    }

    mutating func remove(_ slot: Slot<Row>) {
        if let name = names[Int(slot.index)] { places[name] = nil }
        names[Int(slot.index)] = nil
    }

    /// `nil` where the row is free.
    package func name(at row: Int) -> Name? { row < names.count ? names[row] : nil }

    package func isNamed(_ slot: Slot<Row>) -> Bool {
        slot.index >= 0 && Int(slot.index) < names.count && names[Int(slot.index)] != nil
    }

    package init() {}

    package init(from decoder: any Decoder) throws {
        names = try decoder.singleValueContainer().decode([Name?].self)
        for (place, name) in names.enumerated() { if let name { places[name] = Int32(place) } }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(names)
    }
}

/// The words of a table's rows. Beside the rows, by their slots, because hardly any step reads them.
package protocol RowWords {
    associatedtype Row
}

extension ClientTexts: RowWords { package typealias Row = Client }
extension SessionSettings: RowWords { package typealias Row = Session }
extension CameraSettings: RowWords { package typealias Row = Camera }
extension AttributeValues: RowWords { package typealias Row = App }

extension Array where Element: RowWords {
    package subscript(slot: Slot<Element.Row>) -> Element {
        get { self[Int(slot.index)] }
        _modify { yield &self[Int(slot.index)] }
    }

    mutating func put(_ words: Element, at slot: Slot<Element.Row>) {
        if Int(slot.index) == count { append(words) } else { self[slot] = words }
    }
}

extension Array {
    /// In a sorted array the first place that does not come before.
    @inline(__always) func place(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Quicker for a few plain values than a new array.
    mutating func clear() {
        if count > 8 { return removeAll(keepingCapacity: true) }
        while !isEmpty { removeLast() }
    }
}
