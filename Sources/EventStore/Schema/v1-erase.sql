-- Persons who were erased, so that what is told of them later is put to the pseudonym. None of
-- it gives the id back; who holds the ledger can try whether an id is one of them.
create table erased (
  pseudonym text primary key, -- random; stands in `user` in the id's place
  mark integer not null, -- 12 bits of the id's fingerprint, so that few ids are tried
  salt text not null, -- random, 32 hexadecimal digits
  token text not null -- HMAC-SHA256 of the id under the salt
) strict, without rowid;
