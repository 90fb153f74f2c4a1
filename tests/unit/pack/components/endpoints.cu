// Counters, streams, topology, domains and users of handles that are wrong. `//~` lists the clauses of its line.
#define PL_PACKAGE ends
#include <pipelink/contract.cuh>

struct ends_args {
  unsigned rank;
  const void *peers[2];
};

PL_STAGE("1.0.0")
PL_PARAMS(ends_args, rank, peers)
PL_TOPOLOGY(pl::topology().cluster(4, 4, 2).occupancy(3, 2))  //~ L-ANNOTATION L-ANNOTATION
PL_TOPOLOGY(pl::topology().cluster(2))  //~ L-ANNOTATION
PL_STREAM(ops, pl::stream("wrok").phases("a", "b", "a").exclusive("a", "c"))  //~ L-ANNOTATION L-ANNOTATION L-ANNOTATION
PL_COUNTER(pushed, pl::raises().on("nobody").words(0).scope("grid"))  //~ L-ANNOTATION L-ANNOTATION L-ANNOTATION L-ANNOTATION
PL_COUNTER(taken, pl::waits().on("work").words(1).scope("system"))  //~ L-RESTART
PL_COUNTER(ready, pl::waits().on("other").words(1).arrivals(pl::once(2)))  //~ L-ANNOTATION
PL_RING(ab, pl::producer().on("work").depth(2).full(pl::once()).empty(pl::once()).producers(2))  //~ L-ANNOTATION
PL_WARP(first, "other")  //~ L-ANNOTATION
PL_DOMAIN(world, pl::domain().ranks(2).rank_field("rnak").ranks_field("rank"))  //~ L-ANNOTATION

extern "C" __device__ void ends_role(const ends_args *args, const pl_context *context) {
  pl_counters(context)[PL_HANDLE(ready_base)] = PL_HANDLE(first);
}
PL_ROLE(work, ends_role, pl::role().warps(1))
extern "C" __device__ void ends_other() {}
PL_CALLABLE(other, ends_other)
