(echo '// expected-error @+1 {{no such error}}'; cat load.mlir) | pl-opt --verify-diagnostics
