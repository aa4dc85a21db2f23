-- An e-mail address has a second key, of more of what stands before its @. The keys stand behind U+0003 from now on, so that the program finds
-- the texts that it has to do again at its start.
drop index search_texts_to_renew;
create index search_texts_to_renew on search_texts (tenant_id, resource, position) where strpos(text, U&'\0003') = 0;
