// Shapes that the parts of an attention kernel are compiled for: facts of `core`, whose values others require.
#pragma once

static constexpr int kTileQueries = 128;  // rows of a tile, 64 for each of two warpgroups
static constexpr int kTileKeys = 128;     // keys of a block
static constexpr int kHeadSize = 128;
static constexpr unsigned kQueryBytes = kTileQueries * kHeadSize * 2;
static constexpr unsigned kBlockBytes = kTileKeys * kHeadSize * 2;
// A tile in shared memory is two slabs of 64 columns, 128 bytes a row, each under the 128-byte swizzle.
static constexpr unsigned kQuerySlab = kQueryBytes / 2;
static constexpr unsigned kBlockSlab = kBlockBytes / 2;
