-- @name triggers
CREATE TRIGGER beat AT EVERY 5 SECONDS;
CREATE TRIGGER nightly AT CRON '0 3 * * MON-FRI';
CREATE TRIGGER begun AT START;
CREATE STREAM careful WITH (connector = 'trigger', every = '1 minute', missed = 'last');

CREATE STREAM beats AS SELECT triggered_at, 'beat' AS what FROM beat;
CREATE STREAM minutes AS SELECT count(*) AS beats FROM beat WINDOW TUMBLING(1m);
CREATE STREAM moments AS
SELECT triggered_at FROM nightly UNION ALL SELECT triggered_at FROM begun UNION ALL SELECT triggered_at FROM careful;
