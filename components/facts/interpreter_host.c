/* Host provider of `interpreter`: the instruction stream of every block, from the facts of the operators; the grid; the
 * tensor maps of what is copied in pages. */
#include <pipelink/provider.h>

#include "host.h"
#include "interpreter.h"

/* How many instructions each operation takes, and how many of them share their operand a. */
struct operation {
  int count;
  int inner;
};

static int32_t encode_pages(const pl_services *services, pl_request *request, const pl_buffer *matrix, void *map) {
  const uint64_t extents[2] = {(uint64_t)matrix->shape[1], (uint64_t)matrix->shape[0]};
  const uint64_t strides[1] = {(uint64_t)matrix->shape[1] * 2};
  const uint32_t box[2] = {kPage, kPage};
  const uint32_t steps[2] = {1, 1};
  const int32_t status = services->encode_tiled(map, PL_BF16, 2, matrix->address, extents, strides, box, steps, 0,
                                                PL_SWIZZLE_128, PL_L2_128, 0);
  return status == 0 ? 0 : refuse(request, matrix->name, "the driver refused to encode its tensor map");
}

/* Deals the instructions of each operation to the blocks in turn. All blocks run at once, and every block runs its
 * operations in one order, so that a wait is for what has been started. */
static void deal(struct interpreter_args *args, const struct operation *operations, int blocks) {
  int at = 0;
  for (int block = 0; block < blocks; ++block) {
    args->first[block] = (unsigned short)at;
    for (unsigned code = kCommunicate; code <= kActivate; ++code) {
      const int inner = operations[code].inner;
      for (int i = block; i < operations[code].count; i += blocks)
        args->words[at++] = code << 2 * kFieldBits | (unsigned)(i / inner) << kFieldBits | (unsigned)(i % inner);
    }
  }
  args->first[blocks] = (unsigned short)at;
}

int32_t interpreter_provide(const pl_services *services, pl_request *request) {
  struct interpreter_args *args = request->region;
  const pl_buffer *staged, *w;
  if (check_request(services, request, sizeof *args)) return 1;
  if (find_matrix(request, "staged", &staged) || find_matrix(request, "w", &w)) return 1;
  if (w->shape[1] != staged->shape[1]) return refuse(request, "w", "its columns must be those of staged (K)");
  if (w->shape[0] % kPage != 0) return refuse(request, "w", "its rows must be a multiple of 64");

  const int tiles_n = ceil_div(w->shape[0], args->tile_n);
  const struct operation operations[] = {
      [kCommunicate] = {ceil_div(staged->shape[0], args->chunk_rows) * args->pieces, args->pieces},
      [kMultiply] = {ceil_div(staged->shape[0], args->tile_m) * tiles_n, tiles_n},
      [kActivate] = {ceil_div(staged->shape[0], args->band_rows), 1},
  };
  int total = 0;
  for (int code = kCommunicate; code <= kActivate; ++code) {
    if (operations[code].count > kInstructions) return refuse(request, "program", "it has more than 512 instructions");
    total += operations[code].count;
  }
  if (total > kInstructions) return refuse(request, "program", "it has more than 512 instructions");
  const int tiles = operations[kMultiply].count;
  int blocks = request->multiprocessors < kBlocks ? (int)request->multiprocessors : kBlocks;
  if (tiles < blocks) blocks = tiles;

  if (encode_pages(services, request, staged, args->staged) || encode_pages(services, request, w, args->w)) return 1;
  args->k_steps = (int)(staged->shape[1] / kPage);
  deal(args, operations, blocks);
  request->grid[0] = (uint32_t)blocks;
  request->grid[1] = request->grid[2] = 1;
  return 0;
}
