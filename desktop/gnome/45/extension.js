// The extension as GNOME Shell 45 and later load it. Not tried: Debian 12 has GNOME Shell 43.
// `packaging/install` puts the other files beside it as modules, with one more line each.
import {PACKAGE_VERSION} from 'resource:///org/gnome/shell/misc/config.js';

import {Processes} from './processes.js';
import {Teller} from './teller.js';
import {placements} from './windows.js';

export default class CamarbExtension {
    // While the screen is locked as well (metadata.json: "session-modes"): windows are where they were, and the broker
    // knows of the lock from logind.
    enable() {
        this._teller = new Teller(`GNOME Shell ${PACKAGE_VERSION}`, {Processes, placements});
        this._teller.start();
    }

    disable() {
        this._teller.stop();
        this._teller = null;
    }
}
