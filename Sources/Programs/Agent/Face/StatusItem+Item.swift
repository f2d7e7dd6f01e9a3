import ArbiterProtocol
import Bus

extension StatusItem {
    static let itemInterface = "org.kde.StatusNotifierItem"
    static let menuInterface = "com.canonical.dbusmenu"
    private static let properties = "org.freedesktop.DBus.Properties"

    func answer(_ call: BusMessage) throws(BrokerError) {
        let (path, interface) = (call.path, call.interface)
        guard path == Self.itemPath || path == Self.menuPath else {
            throw BrokerError(
                .unknownObject, "There is no object \(path.quotedShort), only \(Self.itemPath) and \(Self.menuPath).")
        }
        switch interface {
        case Self.properties: try answerProperties(call, isMenu: path == Self.menuPath)
        case "org.freedesktop.DBus.Introspectable":
            call.answer([.string(path == Self.menuPath ? Self.menuDescription : Self.itemDescription)])
        case Self.itemInterface where path == Self.itemPath: try answerItem(call)
        case Self.menuInterface where path == Self.menuPath: try answerMenu(call)
        default: throw BrokerError(.unknownInterface, "\(path) has no interface \(interface.quotedShort).")
        }
    }

    /// Everything that a click on the icon could mean is in the menu, which the panel shows itself.
    private func answerItem(_ call: BusMessage) throws(BrokerError) {
        switch call.member {
        case "Activate", "SecondaryActivate", "ContextMenu", "Scroll", "ProvideXdgActivationToken": call.answer()
        default: throw Self.unknown(call)
        }
    }

    static func unknown(_ call: BusMessage) -> BrokerError {
        BrokerError(.unknownMethod, "\(call.interface) has no method \(call.member.quotedShort).")
    }

    private func answerProperties(_ call: BusMessage, isMenu: Bool) throws(BrokerError) {
        let own = isMenu ? Self.menuInterface : Self.itemInterface
        let properties = isMenu ? Self.menuProperties : Self.itemProperties
        func require(_ interface: String) throws(BrokerError) {
            // Some panels ask for the properties of all interfaces.
            guard interface == own || interface.isEmpty else {
                throw BrokerError(.unknownInterface, "\(interface.quotedShort) is none of this object's; \(own) is.")
            }
        }
        switch (call.member, call.signature) {
        case ("Get", "ss"):
            try require(try call.readString())
            let name = try call.readString()
            guard let property = properties.first(where: { $0.name == name }) else {
                throw BrokerError(.unknownProperty, "\(own) has no property \(name.quotedShort).")
            }
            call.answer(variant: property.value(indicator))
        case ("GetAll", "s"):
            try require(try call.readString())
            var all = WireDictionary()
            for property in properties { all[property.name] = property.value(indicator) }
            call.answer([.dictionary(all)])
        case ("Set", _): throw BrokerError(.propertyReadOnly, "Nothing of \(own) can be set.")
        default: throw Self.unknown(call)
        }
    }

    typealias Property = (name: String, value: @Sendable (Indicator?) -> WireValue)

    static let itemProperties: [Property] = [
        ("Category", { _ in .string("Hardware") }), ("Id", { _ in .string("camarb") }),
        ("Title", { .string($0?.title ?? "") }), ("Status", { _ in .string("Active") }),
        ("WindowId", { _ in .int32(0) }), ("IconThemePath", nothing), ("Menu", { _ in .objectPath(menuPath) }),
        ("ItemIsMenu", { _ in .boolean(true) }), ("IconName", { .string($0?.icon ?? "") }), ("IconPixmap", noPixmap),
        ("OverlayIconName", nothing), ("OverlayIconPixmap", noPixmap), ("AttentionIconName", nothing),
        ("AttentionIconPixmap", noPixmap), ("AttentionMovieName", nothing),
        (
            "ToolTip",
            {
                .structure([
                    .string($0?.icon ?? ""), noPixmap($0), .string($0?.title ?? ""), .string($0?.tooltip ?? ""),
                ])
            }
        ),
    ]
    static let menuProperties: [Property] = [
        ("Version", { _ in .uint32(3) }), ("TextDirection", { _ in .string("ltr") }),
        ("Status", { _ in .string("normal") }), ("IconThemePath", { _ in .array(type: "s", []) }),
    ]

    @Sendable private static func nothing(_ indicator: Indicator?) -> WireValue { .string("") }
    /// All icons go by their names.
    @Sendable private static func noPixmap(_ indicator: Indicator?) -> WireValue { .array(type: "(iiay)", []) }
}

/// The introspection of the item's two objects, for panels that read it first, and for busctl.
extension StatusItem {
    static let itemDescription = describe(
        itemInterface, itemProperties,
        methods: [
            ("Activate", "i i", ""), ("SecondaryActivate", "i i", ""), ("ContextMenu", "i i", ""),
            ("Scroll", "i s", ""), ("ProvideXdgActivationToken", "s", ""),
        ],
        signals: [
            ("NewTitle", []), ("NewIcon", []), ("NewToolTip", []), ("NewStatus", ["s"]), ("NewAttentionIcon", []),
            ("NewOverlayIcon", []),
        ])

    static let menuDescription = describe(
        menuInterface, menuProperties,
        methods: [
            ("GetLayout", "i i as", "u (ia{sv}av)"), ("GetGroupProperties", "ai as", "a(ia{sv})"),
            ("GetProperty", "i s", "v"), ("Event", "i s v u", ""), ("EventGroup", "a(isvu)", "ai"),
            ("AboutToShow", "i", "b"), ("AboutToShowGroup", "ai", "ai ai"),
        ],
        signals: [
            ("ItemsPropertiesUpdated", ["a(ia{sv})", "a(ias)"]), ("LayoutUpdated", ["u", "i"]),
            ("ItemActivationRequested", ["i", "u"]),
        ])

    private static func describe(
        _ interface: String, _ properties: [Property], methods: [(name: String, takes: String, gives: String)],
        signals: [(name: String, types: [String])]
    ) -> String {
        func arguments(_ types: String, _ direction: String) -> String {
            types.split(separator: " ").map { "<arg type=\"\($0)\" direction=\"\(direction)\"/>" }.joined()
        }
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node><interface name="\(interface)">
            """
        for property in properties {
            xml += "<property name=\"\(property.name)\" type=\"\(property.value(nil).signature)\" access=\"read\"/>\n"
        }
        for method in methods {
            xml += "<method name=\"\(method.name)\">\(arguments(method.takes, "in"))"
            xml += "\(arguments(method.gives, "out"))</method>\n"
        }
        for signal in signals {
            let types = signal.types.map { "<arg type=\"\($0)\"/>" }.joined()
            xml += "<signal name=\"\(signal.name)\">\(types)</signal>\n"
        }
        return xml + "</interface></node>\n"
    }
}
