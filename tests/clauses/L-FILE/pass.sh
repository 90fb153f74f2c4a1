pl-opt load.mlir
