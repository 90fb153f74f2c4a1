pl-opt load.mlir -p pl-verify-contracts
