// Every target but the core imports this library, and with it the vocabulary, which is a target of its own for the core
// alone.
@_exported public import Vocabulary

extension Array where Element: Equatable {
    package var eachOnce: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
