/// An app's attributes, sorted by their names; few enough that a linear search is the quickest.
package struct AttributeValues: Hashable, Sendable, Codable {
    package init() {}

    package private(set) var pairs: [Pair] = []

    package struct Pair: Hashable, Sendable, Codable {
        package var name: String
        package var value: String
    }

    package subscript(name: String) -> String? {
        get { pairs.first { $0.name == name }?.value }
        set {
            pairs.removeAll { $0.name == name }
            guard let newValue else { return }
            let place = pairs.firstIndex { $0.name > name } ?? pairs.count
            pairs.insert(Pair(name: name, value: newValue), at: place)
        }
    }

    package var isEmpty: Bool { pairs.isEmpty }

    /// Drops attributes that a policy does not declare: whatever policies were loaded, an app never has more than two
    /// policies' worth.
    package mutating func keepOnly(_ attributes: [Attribute]) {
        pairs.removeAll { pair in !attributes.contains { $0.name == pair.name } }
    }
}
