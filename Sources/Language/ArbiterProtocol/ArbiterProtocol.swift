// Apps and every target but the core import one library, this one: whoever speaks to a broker needs its words, too.
// The words are a target of their own only so that the core can have them without the wire and the client library.
@_exported public import Vocabulary
