/// A list of rows in the order of their ids, each of which names the next one.
package protocol Link {
    associatedtype Row: Codable & Sendable & BitwiseCopyable
    static func id(_ row: Row) -> UInt64
    static func next(_ row: Row) -> Slot<Row>?
    static func setNext(_ row: inout Row, _ next: Slot<Row>?)
}

/// The clients of an app.
package enum OfApp: Link {
    package static func id(_ row: Client) -> UInt64 { row.id }
    package static func next(_ row: Client) -> Slot<Client>? { row.nextOfApp }
    package static func setNext(_ row: inout Client, _ next: Slot<Client>?) { row.nextOfApp = next }
}

/// The sessions of a client.
package enum OfClient: Link {
    package static func id(_ row: Session) -> UInt64 { row.id }
    package static func next(_ row: Session) -> Slot<Session>? { row.nextOfClient }
    package static func setNext(_ row: inout Session, _ next: Slot<Session>?) { row.nextOfClient = next }
}

/// The sessions that ask for a camera.
package enum OnCamera: Link {
    package static func id(_ row: Session) -> UInt64 { row.id }
    package static func next(_ row: Session) -> Slot<Session>? { row.nextOnCamera }
    package static func setNext(_ row: inout Session, _ next: Slot<Session>?) { row.nextOnCamera = next }
}

/// The rows of a list as they are at its creation.
package struct Chain<L: Link>: Sequence, IteratorProtocol {
    let rows: [L.Row]
    package private(set) var first: Slot<L.Row>?

    init(_ table: Table<L.Row>, from first: Slot<L.Row>?) { (rows, self.first) = (table.rows, first) }

    package mutating func next() -> Slot<L.Row>? {
        guard let slot = first else { return nil }
        first = L.next(rows[Int(slot.index)])
        return slot
    }

    package var count: Int { reduce(0) { count, _ in count + 1 } }
}

extension Table {
    mutating func link<L: Link>(_ slot: Slot<Row>, _ list: L.Type, from first: inout Slot<Row>?) where L.Row == Row {
        var before: Slot<Row>?
        var place = first
        while let other = place, L.id(self[other]) < L.id(self[slot]) {
            before = other
            place = L.next(self[other])
        }
        L.setNext(&self[slot], place)
        if let before { L.setNext(&self[before], slot) } else { first = slot }
    }

    mutating func unlink<L: Link>(_ slot: Slot<Row>, _ list: L.Type, from first: inout Slot<Row>?) where L.Row == Row {
        var before: Slot<Row>?
        var place = first
        while let other = place, other != slot {
            before = other
            place = L.next(self[other])
        }
        let next = L.next(self[slot])
        if let before { L.setNext(&self[before], next) } else { first = next }
    }
}
