-- Figures over the traces of one machine or of many (fleet.md, trace.md), by DuckDB:
--
--     duckdb -bail figures.db < decisions.sql      in the folder that has traces/MACHINE/…; again when there are new ones
--
-- The table `decisions` has what each step was asked and came to; its columns are in trace.md. Views of it: `waits`, `holdings`,
-- `handovers`, `interruptions`, `interrupted` and `refusals` have a row each, `percentiles` and `totals` are about all of them, and
-- `unreadable` says what is in none. Checksums are not tried: `camclient trace replay` does that.

-- What a terminal would obey in a name that an app gave itself, such as a character that turns a text's direction, is a `?`.
CREATE OR REPLACE MACRO shown(name) AS regexp_replace(name, '\p{C}', '?', 'g');

-- The members that figures need. A line that is no JSON has none of them, and a member of another type counts as missing.
CREATE OR REPLACE TABLE lines AS
SELECT *, step IS NOT NULL AND "at" IS NOT NULL AND event IS NOT NULL AND decision IS NOT NULL AND effects IS NOT NULL AS is_step
FROM (SELECT filename AS file, unnest(from_json(json, '{
    "trace": "BIGINT", "origin": "BIGINT", "steps": "BIGINT", "policy": "VARCHAR", "policyHash": "VARCHAR", "end": "VARCHAR",
    "sessions": [["VARCHAR"]], "snapshot": {"state": {
        "clientSlots": {"ids": ["BIGINT"], "places": ["BIGINT"]}, "sessionSlots": {"ids": ["BIGINT"], "places": ["BIGINT"]},
        "clients": {"rows": [{"id": "BIGINT", "app": {"slot": {"index": "BIGINT"}}}]},
        "sessions": {"rows": [{"client": {"index": "BIGINT"}, "camera": {"index": "BIGINT"}}]},
        "appNames": [{"name": "VARCHAR", "user": "BIGINT"}], "cameraNames": ["VARCHAR"]}},
    "step": "BIGINT", "at": "BIGINT", "event": "VARCHAR", "client": "BIGINT", "session": "BIGINT", "camera": "VARCHAR",
    "app": "VARCHAR", "user": "BIGINT", "name": "VARCHAR", "decision": "BIGINT",
    "effects": [{"effect": "VARCHAR", "session": "BIGINT", "camera": "VARCHAR", "notice": "VARCHAR", "error": "VARCHAR",
        "reason": "VARCHAR", "cause": "VARCHAR", "causes": ["VARCHAR"], "rule": "VARCHAR", "interrupter": "VARCHAR",
        "duration": "BIGINT"}]}'))
    FROM read_ndjson_objects('traces/**', filename = true, ignore_errors = true, hive_partitioning = false));

-- What is wrong with each file. One that has a problem is left out whole, since nobody knows what its lines mean.
CREATE OR REPLACE TABLE files AS
WITH counts AS (
    SELECT file, count(*) AS lines, min(trace) AS least, max(trace) AS version, min(origin) AS origin,
        count(DISTINCT origin) AS brokers, count(step) - count(DISTINCT step) AS doubled,
        count(*) FILTER (trace IS NULL AND "end" IS NULL AND NOT is_step) AS torn,
        max(coalesce(step, steps)) - min(steps) FILTER (trace IS NOT NULL) - count(DISTINCT step) AS missing
    FROM lines GROUP BY file
)
SELECT file, regexp_extract(file, '^traces/([^/]+)/', 1) AS machine, origin, coalesce(lines, 0) AS lines, torn, missing, CASE
        WHEN counts.lines IS NULL THEN 'is empty'
        WHEN version IS NULL THEN 'is not a trace: it has no header'
        WHEN least <> 5 OR version <> 5 THEN 'has format version ' || version
        WHEN brokers <> 1 THEN 'is not the trace of one broker'
        WHEN doubled > 0 THEN 'has a step twice'
        WHEN machine = '' THEN 'lies in no folder of a machine'
    END AS problem
FROM glob('traces/**') LEFT JOIN counts USING (file);

CREATE OR REPLACE VIEW heads AS
SELECT machine, files.origin, steps, policy, policyHash, sessions, snapshot.state AS s
FROM lines JOIN files USING (file) WHERE trace IS NOT NULL AND problem IS NULL;

-- All files of a broker have one origin, and its steps are numbered through all of them. So a step that several files have counts
-- once, whichever files follow each other; and behind steps that are missing another stretch begins: no time is taken across.
CREATE OR REPLACE TABLE steps AS
WITH policies AS (
    SELECT machine, origin, steps AS step, policy, policyHash FROM heads
    UNION
    SELECT machine, files.origin, step, policy, policyHash FROM lines JOIN files USING (file)
    WHERE problem IS NULL AND event = 'policyLoaded'
), once AS (
    SELECT machine, files.origin, step, min(file) AS file,
        step - row_number() OVER (PARTITION BY machine, files.origin ORDER BY step) AS stretch
    FROM lines JOIN files USING (file) WHERE problem IS NULL AND is_step GROUP BY machine, files.origin, step
), placed AS (
    SELECT once.*, coalesce(nullif(regexp_extract(policy, '(?m)^name *= *"([^"]*)"', 1), ''), policy) AS policy,
        policyHash AS policy_hash
    FROM once ASOF LEFT JOIN policies USING (machine, origin, step)
)
SELECT placed.*, "at" AS moment, decision, event, client, session, camera, app, "user", name, effects,
    list_contains([e.effect for e in effects], 'refused') AS is_refused,
    event IN ('recorderCut', 'recorderGone')
        AND NOT list_contains([e.camera for e in effects if e.effect = 'open'], camera) AS is_idle
FROM lines JOIN placed USING (file, step) WHERE is_step;

-- Clients and sessions that came in a step, and those that a snapshot has: its rows refer to each other by their places, from 0.
CREATE OR REPLACE TABLE clients AS
WITH there AS (
    SELECT machine, origin, s, unnest(s.clientSlots.ids) AS client, s.clients.rows[unnest(s.clientSlots.places) + 1] AS r
    FROM heads
)
SELECT machine, origin, client, any_value(app) AS app, any_value("user") AS "user" FROM (
    SELECT machine, origin, client, app, "user" FROM steps WHERE event = 'connected'
    UNION ALL
    SELECT machine, origin, client, unnest(s.appNames[r.app.slot."index" + 1]) FROM there
) GROUP BY ALL;

-- A session that names no camera has the first one that was opened for it.
CREATE OR REPLACE TABLE sessions AS
WITH there AS (
    SELECT machine, origin, s, unnest(s.sessionSlots.ids) AS session, s.sessions.rows[unnest(s.sessionSlots.places) + 1] AS r
    FROM heads
), known AS (
    SELECT machine, origin, session, any_value(client) AS client, any_value(name) AS name,
        coalesce(any_value(camera), arg_min(opened, step)) AS camera, any_value(closed) AS closed
    FROM (
        SELECT machine, origin, session, client, name, camera, NULL AS opened, NULL AS step, NULL AS closed
        FROM steps WHERE event = 'created' AND NOT is_refused
        UNION ALL
        SELECT machine, origin, e.session, NULL, NULL, NULL, e.camera, step, NULL
        FROM (SELECT machine, origin, step, unnest(effects) AS e FROM steps) WHERE e.effect = 'open'
        UNION ALL
        SELECT machine, origin, session, NULL, NULL, NULL, NULL, NULL, true FROM steps WHERE event = 'closed'
        UNION ALL
        SELECT machine, origin, n[1]::BIGINT, NULL, n[2], NULL, NULL, NULL, NULL
        FROM (SELECT machine, origin, unnest(sessions) AS n FROM heads)
        UNION ALL
        SELECT machine, origin, session, s.clients.rows[r.client."index" + 1].id, NULL, s.cameraNames[r.camera."index" + 1],
            NULL, NULL, NULL
        FROM there
    ) GROUP BY ALL
)
SELECT known.*, app, "user" FROM known LEFT JOIN clients USING (machine, origin, client);

-- A row for each step (`place` 0), and behind it one for each thing that it told somebody, and for each session that went with it.
CREATE OR REPLACE TABLE decisions AS
WITH parts AS (
    SELECT * EXCLUDE (effects), 0 AS place, true AS of_event FROM steps
    UNION ALL BY NAME
    SELECT *, e.effect = 'refused' AS of_event
    FROM (SELECT * EXCLUDE (effects), generate_subscripts(effects, 1) AS place, unnest(effects) AS e FROM steps)
    WHERE e.effect IN ('notify', 'refused', 'cut')
    UNION ALL BY NAME
    SELECT steps.* EXCLUDE (effects) REPLACE (s.session AS session), len(effects) + 1 AS place, true AS of_event
    FROM steps JOIN sessions s USING (machine, origin, client) WHERE event = 'disconnected' AND closed IS NULL
), owned AS (
    -- A session that was refused has no id of its own: the next one gets it.
    SELECT *, CASE WHEN e.effect = 'notify' THEN e.session
        WHEN of_event AND NOT (event = 'created' AND is_refused) THEN session END AS session_id
    FROM parts
)
SELECT p.machine, file, p.policy, policy_hash, p.origin, stretch, step, place, moment, (moment - p.origin) / 1e9 AS time,
    decision, event, CASE WHEN e.effect = 'notify' THEN e.notice WHEN e.effect <> '' THEN e.effect
        WHEN event IN ('closed', 'disconnected') AND session_id IS NOT NULL THEN 'closed' END AS outcome,
    session_id, shown(coalesce(s.name, session_id::VARCHAR)) AS session,
    shown(CASE WHEN of_event THEN coalesce(s.app, p.app, c.app) ELSE s.app END) AS app,
    CASE WHEN of_event THEN coalesce(s."user", p."user", c."user") ELSE s."user" END AS "user",
    -- Sessions go from one camera to another; who gets pictures gets them from the camera that says so.
    CASE WHEN e.effect = 'cut' THEN e.camera WHEN outcome = 'DidStartRunning' AND event = 'recorderStreaming' THEN p.camera
        WHEN of_event THEN coalesce(s.camera, p.camera) ELSE s.camera END AS camera,
    coalesce(e.reason, e.cause) AS cause, nullif(array_to_string(e.causes, '+'), '') AS causes, nullif(e.rule, '') AS rule,
    shown(nullif(e.interrupter, '')) AS interrupter, e.error, e.duration,
    -- What the row is to times. A start that is refused begins no wait, and a cut that nobody follows is no handover.
    CASE
        WHEN outcome = 'cut' THEN 'cut'
        WHEN outcome = 'DidStartRunning' THEN 'runs'
        WHEN outcome IN ('DidStopRunning', 'WasInterrupted') THEN 'stops'
        WHEN outcome IN ('SessionStopped', 'closed') THEN 'ends'
        WHEN place > 0 THEN NULL
        WHEN event = 'startRunning' AND NOT is_refused THEN 'asks'
        WHEN event = 'stopRunning' THEN 'drops'
        WHEN is_idle THEN 'idle'
    END AS mark
FROM owned p LEFT JOIN sessions s ON s.machine = p.machine AND s.origin = p.origin AND s.session = session_id
    LEFT JOIN clients c ON c.machine = p.machine AND c.origin = p.origin AND c.client = p.client;

-- Views. From here on all is the same for ClickHouse, which reads these lines, too.

-- A session's marks in their order. `asked`: since when it wants to run, where a start followed nothing but its own stop or its
-- end; a start of a session that runs already begins no wait, and a run that no start led to, such as one behind an
-- interruption, ends none.
CREATE OR REPLACE VIEW runs AS
WITH marked AS (
    SELECT *, row_number() OVER (PARTITION BY machine, origin, stretch, session_id ORDER BY step, place) AS n
    FROM decisions WHERE mark IN ('asks', 'drops', 'runs', 'stops', 'ends') AND session_id IS NOT NULL
), known AS (
    SELECT *,
        coalesce(max(CASE WHEN mark = 'runs' THEN n END) OVER earlier, 0)
            > coalesce(max(CASE WHEN mark IN ('stops', 'ends') THEN n END) OVER earlier, 0) AS is_running,
        max(CASE WHEN mark = 'runs' THEN moment END) OVER earlier AS ran,
        count(CASE WHEN mark IN ('runs', 'drops', 'ends') THEN 1 END) OVER earlier AS turn
    FROM marked
    WINDOW earlier AS (
        PARTITION BY machine, origin, stretch, session_id ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT *, min(CASE WHEN mark = 'asks' AND NOT is_running THEN moment END)
    OVER (PARTITION BY machine, origin, stretch, session_id, turn) AS asked
FROM known;

-- From the request to start to the first picture.
CREATE OR REPLACE VIEW waits AS
SELECT machine, file, policy, policy_hash, step, decision, time, session, app, "user", camera, (moment - asked) / 1e6 AS waited_ms
FROM runs WHERE mark = 'runs' AND asked IS NOT NULL;

-- From the first picture until the session stopped running, with what stopped it.
CREATE OR REPLACE VIEW holdings AS
SELECT machine, file, policy, policy_hash, step, decision, time, session, app, "user", camera, outcome, cause, rule, interrupter,
    (moment - ran) / 1e6 AS held_ms
FROM runs WHERE mark IN ('stops', 'ends') AND is_running;

-- From the order to cut a camera's last holder to the next one's first picture.
CREATE OR REPLACE VIEW handovers AS
WITH marked AS (
    SELECT *, row_number() OVER (PARTITION BY machine, origin, stretch, camera ORDER BY step, place) AS n
    FROM decisions WHERE mark IN ('cut', 'idle', 'runs') AND camera IS NOT NULL
), known AS (
    SELECT *,
        coalesce(max(CASE WHEN mark = 'cut' THEN n END) OVER earlier, 0)
            > coalesce(max(CASE WHEN mark IN ('idle', 'runs') THEN n END) OVER earlier, 0) AS is_handover,
        max(CASE WHEN mark = 'cut' THEN moment END) OVER earlier AS cut
    FROM marked
    WINDOW earlier AS (
        PARTITION BY machine, origin, stretch, camera ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT machine, file, policy, policy_hash, step, decision, time, session, app, "user", camera, (moment - cut) / 1e6 AS handover_ms
FROM known WHERE mark = 'runs' AND is_handover;

-- Where they begin, with cause and rule; and where they end, with how long they were.
CREATE OR REPLACE VIEW interruptions AS
SELECT machine, file, policy, policy_hash, step, decision, time, session, app, "user", camera, cause, causes, rule, interrupter
FROM decisions WHERE outcome = 'WasInterrupted';

CREATE OR REPLACE VIEW interrupted AS
SELECT machine, file, policy, policy_hash, step, decision, time, session, app, "user", camera, duration / 1e6 AS interrupted_ms
FROM decisions WHERE outcome = 'InterruptionEnded' AND duration IS NOT NULL;

CREATE OR REPLACE VIEW refusals AS
SELECT machine, file, policy, policy_hash, step, decision, time, event, session, app, "user", camera, error, rule
FROM decisions WHERE outcome = 'refused';

CREATE OR REPLACE VIEW durations AS
SELECT 'waited' AS figure, machine, app, camera, policy, policy_hash, waited_ms AS ms FROM waits
UNION ALL SELECT 'held', machine, app, camera, policy, policy_hash, held_ms FROM holdings
UNION ALL SELECT 'interrupted', machine, app, camera, policy, policy_hash, interrupted_ms FROM interrupted
UNION ALL SELECT 'handover', machine, app, camera, policy, policy_hash, handover_ms FROM handovers;

-- The least value that so many of a hundred do not exceed.
CREATE OR REPLACE VIEW percentiles AS
WITH ranked AS (
    SELECT figure, ms, row_number() OVER (PARTITION BY figure ORDER BY ms) AS place, count(*) OVER (PARTITION BY figure) AS n
    FROM durations
)
SELECT figure, max(n) AS count, sum(ms) AS sum_ms,
    min(CASE WHEN place * 100 >= n * 50 THEN ms END) AS p50_ms, min(CASE WHEN place * 100 >= n * 90 THEN ms END) AS p90_ms,
    min(CASE WHEN place * 100 >= n * 95 THEN ms END) AS p95_ms, min(CASE WHEN place * 100 >= n * 99 THEN ms END) AS p99_ms,
    max(ms) AS max_ms
FROM ranked GROUP BY figure ORDER BY figure;

CREATE OR REPLACE VIEW totals AS
SELECT (SELECT count(DISTINCT machine) FROM files WHERE problem IS NULL) AS machines,
    (SELECT count(*) FROM files WHERE problem IS NULL) AS files,
    count(*) AS steps, count(DISTINCT (machine, origin, decision)) AS decisions,
    (SELECT sum(hours) FROM (
        SELECT (max(moment) - min(moment)) / 3.6e12 AS hours FROM decisions GROUP BY machine, origin, stretch) AS stretches) AS hours
FROM decisions WHERE place = 0;

-- What is in no figure, with how many lines or steps of it there are. Empty where all was read.
CREATE OR REPLACE VIEW unreadable AS
SELECT machine, file, problem, lines FROM files WHERE problem IS NOT NULL
UNION ALL SELECT machine, file, 'has lines that are torn or not of a trace', torn FROM files WHERE problem IS NULL AND torn > 0
UNION ALL SELECT machine, file, 'lacks steps', missing FROM files WHERE problem IS NULL AND missing > 0;
