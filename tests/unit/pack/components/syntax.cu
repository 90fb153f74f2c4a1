// Does not compile: in the code, and in an annotation.
#define PL_PACKAGE syntax
#include <pipelink/contract.cuh>

PL_STAGE("1.0.0")
extern "C" __device__ void syntax_role() { undeclared(PL_HANDLE(none)); }  //~ L-COMPILE L-COMPILE
PL_ROLE(work, syntax_role, pl::role().wraps(1))              //~ L-COMPILE
