// The extension as GNOME Shell 43 and 44 load it; for later ones, desktop/gnome/45/extension.js.
/* exported init */
'use strict';

const Config = imports.misc.config;
const Me = imports.misc.extensionUtils.getCurrentExtension();
const {Processes} = Me.imports.processes;
const {Teller} = Me.imports.teller;
const {placements} = Me.imports.windows;

class Extension {
    // While the screen is locked as well (metadata.json: "session-modes"): windows are where they were, and the broker
    // knows of the lock from logind.
    enable() {
        this._teller = new Teller(`GNOME Shell ${Config.PACKAGE_VERSION}`, {Processes, placements});
        this._teller.start();
    }

    disable() {
        this._teller.stop();
        this._teller = null;
    }
}

function init() {
    return new Extension();
}
