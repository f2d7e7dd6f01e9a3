-- What decisions.sql does, by ClickHouse, for traces that are too many for one file of DuckDB's:
--
--     (cat decisions.clickhouse.sql; sed '1,/^-- Views\./d' decisions.sql) | clickhouse local --path figures
--
-- in the folder that has traces/MACHINE/…. With a server it is `| clickhouse client --multiquery`, with `traces` among its
-- user_files; from a bucket, each file('traces/**', …) here becomes an s3('https://…/traces/**', …). The tables are those of
-- decisions.sql, where the comments are; its views follow.

SET join_use_nulls = 1, default_table_engine = 'MergeTree', create_table_empty_primary_key_by_default = 1;

CREATE OR REPLACE FUNCTION shown AS name -> replaceRegexpAll(name, '\\p{C}', '?');

CREATE OR REPLACE TABLE lines AS
SELECT *, j.step IS NOT NULL AND j.at IS NOT NULL AND j.event IS NOT NULL AND j.decision IS NOT NULL AND has_effects AS is_step
FROM (SELECT extract(_path, '(?:.*/)?(traces/.*)$') AS file, JSONType(line, 'effects') = 'Array' AS has_effects,
    JSONExtract(if(startsWith(line, '{'), line, ''), 'Tuple(
    trace Nullable(Int64), origin Nullable(Int64), steps Nullable(Int64), policy Nullable(String), policyHash Nullable(String),
    "end" Nullable(String), sessions Array(Tuple(Int64, String)), snapshot Tuple(state Tuple(
        clientSlots Tuple(ids Array(Int64), places Array(Int64)), sessionSlots Tuple(ids Array(Int64), places Array(Int64)),
        clients Tuple(rows Array(Tuple(id Int64, app Tuple(slot Tuple(index Int64))))),
        sessions Tuple(rows Array(Tuple(client Tuple(index Int64), camera Tuple(index Int64)))),
        appNames Array(Tuple(name Nullable(String), user Nullable(Int64))), cameraNames Array(Nullable(String)))),
    step Nullable(Int64), at Nullable(Int64), event Nullable(String), client Nullable(Int64), session Nullable(Int64),
    camera Nullable(String), app Nullable(String), user Nullable(Int64), name Nullable(String), decision Nullable(Int64),
    effects Array(Tuple(effect String, session Nullable(Int64), camera Nullable(String), notice Nullable(String),
        error Nullable(String), reason Nullable(String), cause Nullable(String), causes Array(String), rule Nullable(String),
        interrupter Nullable(String), duration Nullable(Int64))))') AS j
    FROM file('traces/**', LineAsString));

CREATE OR REPLACE TABLE files AS
WITH counts AS (
    SELECT file, toInt64(count(*)) AS lines, min(j.trace) AS least, max(j.trace) AS version, min(j.origin) AS origin,
        count(DISTINCT j.origin) AS brokers, count(j.step) - count(DISTINCT j.step) AS doubled,
        toInt64(countIf(j.trace IS NULL AND j.end IS NULL AND NOT is_step)) AS torn,
        max(coalesce(j.step, j.steps)) - minIf(j.steps, j.trace IS NOT NULL) - count(DISTINCT j.step) AS missing
    FROM lines GROUP BY file
)
SELECT file, extract(file, '^traces/([^/]+)/') AS machine, origin, coalesce(counts.lines, 0) AS lines, torn, missing, CASE
        WHEN counts.lines IS NULL THEN 'is empty'
        WHEN version IS NULL THEN 'is not a trace: it has no header'
        WHEN least <> 5 OR version <> 5 THEN 'has format version ' || toString(version)
        WHEN brokers <> 1 THEN 'is not the trace of one broker'
        WHEN doubled > 0 THEN 'has a step twice'
        WHEN machine = '' THEN 'lies in no folder of a machine'
    END AS problem
FROM (SELECT extract(_path, '(?:.*/)?(traces/.*)$') AS file FROM file('traces/**', One)) AS found LEFT JOIN counts USING (file);

CREATE OR REPLACE VIEW heads AS
SELECT machine, files.origin AS origin, j.steps AS steps, j.policy AS policy, j.policyHash AS policyHash, j.sessions AS sessions,
    j.snapshot.state AS s
FROM lines JOIN files USING (file) WHERE j.trace IS NOT NULL AND problem IS NULL;

CREATE OR REPLACE TABLE steps AS
WITH policies AS (
    SELECT machine, origin, assumeNotNull(steps) AS step, policy, policyHash FROM heads
    UNION DISTINCT
    SELECT machine, files.origin, assumeNotNull(j.step), j.policy, j.policyHash FROM lines JOIN files USING (file)
    WHERE problem IS NULL AND j.event = 'policyLoaded'
), once AS (
    SELECT machine, origin, step, min(file) AS file, step - row_number() OVER (PARTITION BY machine, origin ORDER BY step) AS stretch
    FROM (
        SELECT machine, files.origin AS origin, assumeNotNull(j.step) AS step, file
        FROM lines JOIN files USING (file) WHERE problem IS NULL AND is_step
    ) GROUP BY machine, origin, step
), placed AS (
    SELECT once.*, coalesce(nullif(extract(p.policy, '(?m)^name *= *"([^"]*)"'), ''), p.policy) AS policy,
        policyHash AS policy_hash
    FROM once ASOF LEFT JOIN policies AS p USING (machine, origin, step)
)
SELECT machine, origin, file, step, stretch, policy, policy_hash, j.at AS moment, j.decision AS decision, j.event AS event,
    j.client AS client, j.session AS session, j.camera AS camera, j.app AS app, j.user AS user, j.name AS name,
    j.effects AS effects,
    arrayExists(e -> e.effect = 'refused', effects) AS is_refused,
    event IN ('recorderCut', 'recorderGone')
        AND NOT arrayExists(e -> e.effect = 'open' AND e.camera = camera, effects) AS is_idle
FROM (SELECT file, assumeNotNull(j.step) AS step, j FROM lines WHERE is_step) AS l JOIN placed USING (file, step);

CREATE OR REPLACE TABLE clients AS
WITH there AS (
    SELECT machine, origin, s, slot.1 AS client, s.clients.rows[slot.2 + 1] AS r
    FROM heads ARRAY JOIN arrayZip(s.clientSlots.ids, s.clientSlots.places) AS slot
)
SELECT machine, origin, client, any_value(app) AS app, any_value(user) AS user FROM (
    SELECT machine, origin, client, app, user FROM steps WHERE event = 'connected'
    UNION ALL
    SELECT machine, origin, client, s.appNames[r.app.slot.index + 1].name, s.appNames[r.app.slot.index + 1].user FROM there
) GROUP BY ALL;

CREATE OR REPLACE TABLE sessions AS
WITH there AS (
    SELECT machine, origin, s, slot.1 AS session, s.sessions.rows[slot.2 + 1] AS r
    FROM heads ARRAY JOIN arrayZip(s.sessionSlots.ids, s.sessionSlots.places) AS slot
), known AS (
    SELECT machine, origin, session, any_value(client) AS client, any_value(name) AS name,
        coalesce(any_value(camera), argMin(opened, step)) AS camera, any_value(closed) AS closed
    FROM (
        SELECT machine, origin, session, client, name, camera, NULL AS opened, NULL AS step, NULL AS closed
        FROM steps WHERE event = 'created' AND NOT is_refused
        UNION ALL
        SELECT machine, origin, e.session, NULL, NULL, NULL, e.camera, step, NULL
        FROM steps ARRAY JOIN effects AS e WHERE e.effect = 'open'
        UNION ALL
        SELECT machine, origin, session, NULL, NULL, NULL, NULL, NULL, true FROM steps WHERE event = 'closed'
        UNION ALL
        SELECT machine, origin, n.1, NULL, n.2, NULL, NULL, NULL, NULL FROM heads ARRAY JOIN sessions AS n
        UNION ALL
        SELECT machine, origin, session, s.clients.rows[r.client.index + 1].id, NULL, s.cameraNames[r.camera.index + 1],
            NULL, NULL, NULL
        FROM there
    ) GROUP BY ALL
)
SELECT known.*, app, user FROM known LEFT JOIN clients USING (machine, origin, client);

CREATE OR REPLACE TABLE decisions AS
WITH parts AS (
    SELECT * EXCEPT (effects), 0 AS place, effects[length(effects) + 1] AS e, true AS of_event FROM steps
    UNION ALL
    SELECT * EXCEPT (effects), place, e, e.effect = 'refused'
    FROM steps ARRAY JOIN arrayEnumerate(effects) AS place, effects AS e WHERE e.effect IN ('notify', 'refused', 'cut')
    UNION ALL
    SELECT steps.* EXCEPT (effects) REPLACE (s.session AS session), length(effects) + 1, effects[length(effects) + 1], true
    FROM steps JOIN sessions s USING (machine, origin, client) WHERE event = 'disconnected' AND closed IS NULL
), owned AS (
    SELECT *, CASE WHEN e.effect = 'notify' THEN e.session
        WHEN of_event AND NOT (event = 'created' AND is_refused) THEN session END AS session_id
    FROM parts
)
SELECT p.machine AS machine, file, p.policy AS policy, policy_hash, p.origin AS origin, stretch, step, place, moment,
    (moment - p.origin) / 1e9 AS time, decision, event,
    CASE WHEN e.effect = 'notify' THEN e.notice WHEN e.effect <> '' THEN e.effect
        WHEN event IN ('closed', 'disconnected') AND session_id IS NOT NULL THEN 'closed' END AS outcome,
    session_id, shown(coalesce(s.name, toString(session_id))) AS session,
    shown(CASE WHEN of_event THEN coalesce(s.app, p.app, c.app) ELSE s.app END) AS app,
    CASE WHEN of_event THEN coalesce(s.user, p.user, c.user) ELSE s.user END AS user,
    CASE WHEN e.effect = 'cut' THEN e.camera WHEN outcome = 'DidStartRunning' AND event = 'recorderStreaming' THEN p.camera
        WHEN of_event THEN coalesce(s.camera, p.camera) ELSE s.camera END AS camera,
    coalesce(e.reason, e.cause) AS cause, nullif(arrayStringConcat(e.causes, '+'), '') AS causes, nullif(e.rule, '') AS rule,
    shown(nullif(e.interrupter, '')) AS interrupter, e.error AS error, e.duration AS duration,
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
