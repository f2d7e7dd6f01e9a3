import ArbiterProtocol
import Bus

/// What the panel asks the item, and what both of its objects have in common.
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

    /// All that a click on the icon could be said to mean is in the menu, which the panel shows itself.
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
        let names = isMenu ? Self.menuProperties : Self.itemProperties
        func require(_ interface: String) throws(BrokerError) {
            // Some ask for the properties of all interfaces.
            guard interface == own || interface.isEmpty else {
                throw BrokerError(.unknownInterface, "\(interface.quotedShort) is none of this object's; \(own) is.")
            }
        }
        switch (call.member, call.signature) {
        case ("Get", "ss"):
            try require(try call.readString())
            let name = try call.readString()
            guard let property = names.first(where: { $0.name == name }) else {
                throw BrokerError(.unknownProperty, "\(own) has no property \(name.quotedShort).")
            }
            guard let answer = call.makeAnswer() else { return }
            append(property, isMenu, to: answer)
            answer.send()
        case ("GetAll", "s"):
            try require(try call.readString())
            guard let answer = call.makeAnswer() else { return }
            answer.container("a", "{sv}") {
                for property in names {
                    answer.container("e", "sv") {
                        answer.append(property.name)
                        append(property, isMenu, to: answer)
                    }
                }
            }
            answer.send()
        case ("Set", _): throw BrokerError(.propertyReadOnly, "Nothing of \(own) can be set.")
        default: throw Self.unknown(call)
        }
    }

    typealias Property = (name: String, type: String)

    static let itemProperties: [Property] = [
        ("Category", "s"), ("Id", "s"), ("Title", "s"), ("Status", "s"), ("WindowId", "i"), ("IconThemePath", "s"),
        ("Menu", "o"), ("ItemIsMenu", "b"), ("IconName", "s"), ("IconPixmap", "a(iiay)"), ("OverlayIconName", "s"),
        ("OverlayIconPixmap", "a(iiay)"), ("AttentionIconName", "s"), ("AttentionIconPixmap", "a(iiay)"),
        ("AttentionMovieName", "s"), ("ToolTip", "(sa(iiay)ss)"),
    ]

    static let menuProperties: [Property] = [
        ("Version", "u"), ("TextDirection", "s"), ("Status", "s"), ("IconThemePath", "as"),
    ]

    private func append(_ property: Property, _ isMenu: Bool, to message: BusMessage) {
        message.container("v", property.type) {
            switch property.name {
            case "Category": message.append("Hardware")
            case "Id": message.append("camarb")
            case "Title": message.append(indicator?.title ?? "")
            case "Status": message.append(isMenu ? "normal" : "Active")
            case "WindowId": message.append(Int32(0))
            case "Menu": message.append(objectPath: Self.menuPath)
            case "ItemIsMenu": message.append(true)
            case "IconName": message.append(indicator?.icon ?? "")
            case "ToolTip": appendToolTip(to: message)
            case "Version": message.append(UInt32(3))
            case "TextDirection": message.append("ltr")
            default: Self.appendNothing(of: property.type, to: message)
            }
        }
    }

    /// Empty: icons by their names are all there are.
    private static func appendNothing(of type: String, to message: BusMessage) {
        switch type {
        case "s": message.append("")
        case "as": message.append([String]())
        default: message.container("a", "(iiay)") {}
        }
    }

    private func appendToolTip(to message: BusMessage) {
        message.container("r", "sa(iiay)ss") {
            message.append(indicator?.icon ?? "")
            message.container("a", "(iiay)") {}
            message.append(indicator?.title ?? "")
            message.append(indicator?.tooltip ?? "")
        }
    }
}

/// The item's two objects as D-Bus describes such things, for panels that read that first, and for busctl.
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
            xml += "<property name=\"\(property.name)\" type=\"\(property.type)\" access=\"read\"/>\n"
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
