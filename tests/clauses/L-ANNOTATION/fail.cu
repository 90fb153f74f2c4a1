#define PL_PACKAGE x
#include <pipelink/contract.cuh>
PL_STAGE("1.0.0")
PL_CLAIM_BARRIER(ids, pl::claim().ids(16))
