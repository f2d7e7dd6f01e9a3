package import Vocabulary

/// Why a bracket cannot be taken.
extension ConfigurationCheck {
    /// A sentence with the key, the value and what is allowed; nil when it can be taken.
    /// - Parameter configuration: what is in force, or was asked for.
    package func problem(of bracket: PhotoBracket, in configuration: Configuration) -> String? {
        guard let format = choice(configuration)?.format else { return nil }
        // A camera that does not say how its formats expose cannot be set for a single frame.
        guard let durations = format.optics.exposureDuration, let isos = format.optics.iso else {
            return
                "\(capabilities.name) takes no bracket: \(format.name) does not say how long it exposes, nor at which ISO."
        }
        for shot in bracket.shots {
            switch shot {
            case .exposureTargetBias(let bias):
                guard let control = capabilities.control(.exposureTargetBias) else {
                    return
                        "exposureTargetBiases has \(bias.shortDescription); \(capabilities.name) cannot set exposureTargetBias."
                }
                guard control.takes(.number(bias)) else {
                    return
                        "exposureTargetBiases has \(bias.shortDescription); \(capabilities.name) takes \(control.allowed)."
                }
            case .exposure(let duration, let iso):
                guard Self.isInside(duration, durations.least, durations.most) else {
                    return
                        "exposureDurations has \(duration.durationDescription); activeFormat \(format.name) takes \(durations.least.durationDescription) to \(durations.most.durationDescription) s."
                }
                guard Self.isInside(iso, isos.least, isos.most) else {
                    return
                        "isos has \(iso.shortDescription); activeFormat \(format.name) takes \(isos.least.shortDescription) to \(isos.most.shortDescription)."
                }
            }
        }
        return nil
    }
}
