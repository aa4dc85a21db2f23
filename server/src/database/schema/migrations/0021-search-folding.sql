-- Search takes ä, ae and a for the same, and ø, ł and others for what people write without them. The program normalises texts, so it also
-- does those again that are stored, in batches at its start: this index holds them until then, and what a program of before writes later.
-- A text that was done again has U+0001 before the words that changed.
create index search_texts_to_respell on search_texts (tenant_id, resource, position)
  where text ~ '[aou]e|aa|[æœøłđðɖþħŧŋĸƀɓɗǥɨƚɔɛʉƶ‘’ʼ‐–]' and strpos(text, E'\u0001') = 0;
