pl-opt load.mlir -p pl-relocate
