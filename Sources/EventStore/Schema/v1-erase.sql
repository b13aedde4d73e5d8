-- Persons whose ids were erased: `user` holds the pseudonym, and a user with this key
-- stays erased.
create table erased (
  key integer primary key references user (key),
  pseudonym text not null unique -- `erased-` and 16 random digits
) strict;
