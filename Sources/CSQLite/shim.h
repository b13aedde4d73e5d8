#include <sqlite3.h>
#include "checked.h"

// Makes a misspelled column in double quotes an error instead of a text. Swift cannot call
// sqlite3_db_config, whose arguments vary.
static inline void subledger_refuse_quoted_texts(sqlite3 *db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, (void *)0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, (void *)0);
}

// Tells SQLite to copy what is bound; Swift cannot import the macro.
static inline sqlite3_destructor_type subledger_transient(void) { return SQLITE_TRANSIENT; }
