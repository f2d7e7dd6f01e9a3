// The extension as GNOME Shell 45 and later load it; tried with 48 (metadata.json: "shell-version").
// `packaging/install` makes modules of the other files, with one more line each.
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
