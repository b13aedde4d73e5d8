#include <sqlite3.h>

// Makes a misspelled column in double quotes an error instead of a text. Swift cannot call
// sqlite3_db_config itself, whose arguments vary.
static inline int refuse_double_quoted_text(sqlite3 *database) {
  int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  return result != SQLITE_OK
      ? result : sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
}
