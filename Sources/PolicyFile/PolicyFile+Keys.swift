extension PolicyFile {
    /// Every key that a policy file may have, except the names of its tables: `docs/policy.md` shows each.
    package static var keys: [String] {
        PolicyReader.keys.filter {
            ![
                "access", "attribute", "mode", "cause", "rank", "pressure", "contention", "shell", "agent", "camera",
                "never",
                "always",
            ].contains($0)
        }
            + PolicyReader.attributeKeys + PolicyReader.modeKeys + PolicyReader.causeKeys + PolicyReader.rankKeys
            + PolicyReader.contentionKeys
            + PolicyReader.accessKeys + PolicyReader.pressureKeys + PolicyReader.cameraKeys + PolicyReader.speakerKeys
            + FactReader.keys + PolicyReader.neverKeys + PolicyReader.alwaysKeys
    }
}
