/// The item's two objects as D-Bus describes such things, for panels whose library reads that first, and for people with
/// busctl.
extension StatusItem {
    static let itemDescription = describe(
        itemInterface, itemProperties,
        methods: [
            ("Activate", "i i", ""), ("SecondaryActivate", "i i", ""), ("ContextMenu", "i i", ""),
            ("Scroll", "i s", ""),
            ("ProvideXdgActivationToken", "s", ""),
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
