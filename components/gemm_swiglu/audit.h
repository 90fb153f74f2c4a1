// Parameters of the package `audit`, for its device code and its host provider.
#pragma once

struct audit_args {
  long long *records;  // [blocks][kAuditWords], or null: nothing is recorded
  int blocks;
};

// Words of a record: the multiprocessor, the clock at the first and after the last round, words found changed.
enum { kAuditWords = 4 };
