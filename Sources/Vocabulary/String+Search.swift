extension String {
    /// Whether a text is somewhere in this one, byte for byte.
    ///
    /// The standard library's `contains` for texts is in its module of regular expressions, which would be 1.3 MB of each
    /// program that says it. Meant for short texts: each place is looked at by itself.
    package func holds(_ text: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: text.utf8) }
    }
}
