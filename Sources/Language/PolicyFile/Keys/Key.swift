import TomlFile
package import Vocabulary

/// A key of a table of the policy language, and the property that it sets. Whatever is done with policies outside the core is a
/// loop over the tables of such keys in `PolicyKeys.swift`.
package struct Key<Owner: Sendable>: Sendable {
    package let name: String
    let walk: WalkedAs
    /// For documents, in Markdown: its values, what it says, and what holds where it is missing; nil: the usual value.
    let takes: String
    let meaning: String
    let missing: String?

    let read: @Sendable (TableReader, inout Owner, PolicyReader) -> Void
    /// Its value as a file has it; nil: the key is left out.
    let written: @Sendable (Owner, Policy) -> String?
    /// Its value as messages have it; nil: there is none.
    package let shown: @Sendable (Owner, Policy) -> String?
    package let isSame: @Sendable (Owner, Owner) -> Bool
    package let copy: @Sendable (inout Owner, Owner) -> Void
    /// Brings the value into one order, where order is nothing.
    let makePlain: @Sendable (inout Owner) -> Void
    /// Gives an owner another value by chance, if the key is one that policies say by chance.
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

/// What walks of small worlds make of a key.
package enum WalkedAs: Sendable {
    /// Events that make it matter are walked, and what it decides is.
    case walked
    /// It decides when something happens, outside of the core. Worlds let that happen at any time, so that a verdict covers
    /// every value of it; two values of it are walked alike.
    case left
    /// No walk reads it: each verdict about a policy that says it names it.
    case unwalked
}
