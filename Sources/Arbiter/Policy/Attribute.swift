/// What a policy wants to know of an app beyond the built-in facts: a named scale of values, declared in the file.
///
/// A trusted source gives each app its value (`Event.attribute`), and a client may lower its own app's
/// (`Event.loweredAttribute`). The value counts at once for everything that the app holds or waits for.
public struct Attribute: Hashable, Sendable {
    public var name: String
    /// Strongest first. Never empty.
    public var values: [String]
    /// What counts for an app that was told nothing, or something that is none of `values`.
    public var defaultValue: String

    /// - Parameter defaultValue: one of `values`; nil: the weakest.
    public init(name: String, values: [String], default defaultValue: String? = nil) {
        precondition(!values.isEmpty, "an attribute needs at least one value")
        precondition(defaultValue.map(values.contains) ?? true, "an attribute's default is one of its values")
        self.name = name
        self.values = values
        self.defaultValue = defaultValue ?? values[values.count - 1]
    }

    /// Where a value stands, 0 the strongest; what is no value counts as the default.
    func place(of value: String?) -> Int {
        value.flatMap { values.firstIndex(of: $0) } ?? values.firstIndex(of: defaultValue) ?? values.count - 1
    }
}

/// What an app was told of its attributes, sorted by their names; small enough that a search in order is the quickest.
package struct AttributeValues: Hashable, Sendable, Codable {
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

    /// Forgets what a policy does not ask about: whatever policies were loaded, an app never has more than two policies' worth.
    mutating func keepOnly(_ attributes: [Attribute]) {
        pairs.removeAll { pair in !attributes.contains { $0.name == pair.name } }
    }
}
