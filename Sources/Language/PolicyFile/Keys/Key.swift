import TomlFile
package import Vocabulary

/// A key of a table of the policy language, and the property that it sets. All code for policies outside the core loops
/// over the tables of such keys in `PolicyKeys.swift`.
package struct Key<Owner: Sendable>: Sendable {
    package let name: String
    let walk: WalkedAs
    /// For documents, in Markdown: its values, its meaning, and its default where that is not the usual value.
    let takes: String
    let meaning: String
    let missing: String?

    let read: @Sendable (TableReader, inout Owner, PolicyReader) -> Void
    /// Its value in a file; `nil` leaves the key out.
    let written: @Sendable (Owner, Policy) -> String?
    /// Its value in messages.
    package let shown: @Sendable (Owner, Policy) -> String?
    package let isSame: @Sendable (Owner, Owner) -> Bool
    package let copy: @Sendable (inout Owner, Owner) -> Void
    /// Brings the value into one order, where order means nothing.
    let makePlain: @Sendable (inout Owner) -> Void
    /// Gives an owner a random value, if random policies have the key.
    package let vary: @Sendable (inout Owner, inout SeededRandom) -> Void
    /// The owner with each value that a repair tries, the smaller changes first.
    package let repairs: @Sendable (Owner, Policy) -> [Owner]
    /// The owner with one thing less in its value, each.
    package let fewer: @Sendable (Owner) -> [Owner]

    /// - Parameter silent: a value that is not written.
    init<Value: Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Owner, Value> & Sendable, _ kind: Kind<Value>,
        silent: Value? = nil, _ walk: WalkedAs, _ meaning: String, missing: String? = nil
    ) {
        (self.name, self.walk, takes, self.meaning, self.missing) = (name, walk, kind.takes, meaning, missing)
        let owners: @Sendable (Owner, [Value]) -> [Owner] = { owner, values in
            values.map { value in
                var owner = owner
                owner[keyPath: path] = value
                return owner
            }
        }
        read = { reader, owner, policy in
            if let value = kind.read(reader, name, policy) { owner[keyPath: path] = value }
        }
        written = { $0[keyPath: path] == silent ? nil : kind.write($0[keyPath: path], $1) }
        shown = { kind.shown?($0[keyPath: path]) ?? kind.write($0[keyPath: path], $1) }
        isSame = { $0[keyPath: path] == $1[keyPath: path] }
        copy = { $0[keyPath: path] = $1[keyPath: path] }
        makePlain = { $0[keyPath: path] = kind.plain($0[keyPath: path]) }
        vary = { if let value = kind.random(&$1) { $0[keyPath: path] = value } }
        repairs = { owners($0, kind.repairs($0[keyPath: path], $1)) }
        fewer = { owners($0, kind.fewer($0[keyPath: path])) }
    }
}

/// A key's part in walks of small worlds.
package enum WalkedAs: Sendable {
    /// Walked events make it matter, and its decisions are walked.
    case walked
    /// It decides when something happens outside of the core, or which picture a session gets. Worlds let the first
    /// happen at any time, and no access depends on the second, so that a verdict covers every value of it, and two
    /// values of it are walked alike.
    case left
    /// No walk reads it: each verdict about a policy with the key names it.
    case unwalked
}
