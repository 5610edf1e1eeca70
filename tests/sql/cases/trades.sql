-- as users of Velostream and EventFlux write it
create stream trades (symbol string, price double, volume int, ts timestamp, watermark for ts as ts - 5 seconds)
  with (topic='trades', 'start'='latest', 'max_rows_per_batch'='1000');
create stream big as select t.symbol, t.price * t.volume as worth from trades t where t.price > 100 emit changes;
create view per_minute as
  select symbol, sum(volume) as volume, max(price) as high from trades window('tumbling', 1 min) group by symbol emit changes;
create stream busy (symbol string, volume bigint) with (topic='busy', 'key'='symbol');
insert into busy select symbol, volume from per_minute where volume > 10000;
