extension AndroidCameras {
    /// What an app has that the system said nothing about.
    static let unknown = ["score": "unknown", "process-state": "nonexistent"]

    /// The numbers that Android compares, by the names of `ProcessList` and `ActivityManager`. In the order of the
    /// alphabet, so that the order of strength comes from the numbers alone.
    public static let numbers: [String: [String: Int]] = [
        "score": [
            "backup-app": 300, "cached-app-lmk-first": 950, "cached-app-max": 999, "cached-app-min": 900,
            "foreground-app": 0, "heavy-weight-app": 400, "home-app": 600, "native": -1000, "perceptible-app": 200,
            "perceptible-low-app": 250, "perceptible-medium-app": 225, "perceptible-recent-foreground-app": 50,
            "persistent-proc": -800, "persistent-service": -700, "previous-app": 700, "service": 500,
            "service-b": 800, "system": -900, "unknown": 1001, "visible-app": 100,
        ],
        "process-state": [
            "backup": 9, "bound-foreground-service": 5, "bound-top": 3, "cached-activity": 16,
            "cached-activity-client": 17, "cached-empty": 19, "cached-recent": 18, "foreground-service": 4,
            "heavy-weight": 13, "home": 14, "important-background": 7, "important-foreground": 6,
            "last-activity": 15, "nonexistent": 20, "persistent": 0, "persistent-ui": 1, "receiver": 11,
            "service": 10, "top": 2, "top-sleeping": 12, "transient-background": 8,
        ],
    ]

    static func number(_ attribute: String, _ value: String) -> Int {
        guard let number = numbers[attribute]?[value] else {
            preconditionFailure("\(attribute) has no value \"\(value)\"")
        }
        return number
    }
}
