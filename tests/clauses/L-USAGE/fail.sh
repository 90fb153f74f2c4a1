pl-opt load.mlir -p pl-relocat
