(echo '// nothing is expected'; cat load.mlir) | pl-opt --verify-diagnostics
