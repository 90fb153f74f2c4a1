pl-opt none.mlir
