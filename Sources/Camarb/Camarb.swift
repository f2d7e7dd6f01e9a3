// An app imports this library and no other: it says the vocabulary, the wire's values and its own words.
@_exported public import ArbiterProtocol
