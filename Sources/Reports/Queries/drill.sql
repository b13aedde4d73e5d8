-- The result of the newest drill, by code.
select
  *,
  wrong as false,
  found as recall,
  found + missed as recall_base,
  found as precision,
  found + wrong as precision_base,
  as_of_ms as as_of
from drill
where run = (select max(run) from drill)
order by code
